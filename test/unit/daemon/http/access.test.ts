// Who gets access: the bearer token, the sign-in form and its session, and how wrong tokens are slowed down.
import { describe, expect, it } from 'vitest';
import { BEARER, FORM, HTML, POSTED, READ_TOKEN, READER, signIn, start, TOKEN } from './stage.ts';

const READS = [
  '/',
  '/runs',
  '/activity',
  '/accounts/acme-eu',
  '/runs/0193a5c2',
  '/api/v1/accounts',
  '/api/v1/accounts/acme-eu',
];
const MORE_READS = ['/api/v1/runs', '/api/v1/runs/0193a5c2', '/api/v1/status'];
const UNKNOWN = ['/nope', '/api/v1/nope', '/api', '/assets/pages-0000.css', '/favicon.ico', '/sign-in/x'];
const WRITES = [
  '/api/v1/accounts/acme-eu/sync',
  '/api/v1/source/fetch',
  '/api/v1/approvals',
  '/api/v1/plans',
  '/accounts/acme-eu/pause',
  '/sign-out',
];

function formOf(token: string, next = '/'): string {
  return new URLSearchParams({ token, next }).toString();
}

describe('a token', () => {
  it('is required by every path except the three that reveal nothing about accounts', async () => {
    const { get, post, recorded } = await start();
    for (const path of ['/healthz', '/readyz', '/metrics']) expect((await get(path)).status).toBe(200);
    for (const path of [...READS, ...MORE_READS, ...UNKNOWN]) {
      expect([path, (await get(path)).status]).toEqual([path, 401]);
      expect([path, (await get(path, HTML)).status]).toEqual([path, 401]);
    }
    for (const path of WRITES) expect([path, (await post(path)).status]).toEqual([path, 401]);
    expect(recorded).toMatchObject({ calls: 0, commands: [], posted: [] });
  });

  it('gives access as a bearer token, whatever the case of the scheme', async () => {
    const { get, send } = await start();
    for (const path of [...READS, ...MORE_READS]) {
      expect([path, (await get(path, BEARER)).status]).toEqual([path, 200]);
      expect([path, (await send('HEAD', path, BEARER)).text]).toEqual([path, '']);
    }
    expect((await get('/api/v1/status', { authorization: `bearer   ${TOKEN}` })).status).toBe(200);
  });

  it('gives no access when it is wrong, incomplete or too long, or with another scheme', async () => {
    const { get } = await start();
    const wrong = [TOKEN.slice(0, -1), `${TOKEN}x`, TOKEN.toUpperCase(), '', ' '].map(
      (each) => `Bearer ${each}`,
    );
    for (const authorization of [...wrong, TOKEN, `Basic ${btoa(`x:${TOKEN}`)}`, 'Bearer']) {
      const answer = await get('/api/v1/status', { authorization });
      expect([authorization, answer.status]).toEqual([authorization, 401]);
      expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer\b/);
      expect(answer.json()).toMatchObject({ error: { code: 'unauthorized' } });
      expect(answer.text).not.toContain(TOKEN);
    }
  });

  it('gives no access as a cookie or in the address', async () => {
    const { get } = await start();
    expect((await get('/', { cookie: `rolecall_session=${TOKEN}` })).status).toBe(401);
    expect((await get(`/?token=${encodeURIComponent(TOKEN)}`)).status).toBe(401);
  });
});

describe('a name that a proxy reports', () => {
  const identity = { header: 'X-Forwarded-User', operators: ['ada', '*@ops.example'] };
  const behindProxy = { trustedProxies: ['127.0.0.1'], identity };
  const PAUSE = '/api/v1/accounts/acme-eu/pause';
  const user = (name: string) => ({ 'x-forwarded-user': name });

  it.each([
    ['ada', 'ada'],
    ['eve@ops.example', 'eve@ops.example'],
    ['J\u00c3\u00bcrgen@ops.example', 'Jürgen@ops.example'],
  ])('%s acts where a glob of operators matches it, and every trace names it', async (sent, name) => {
    const { post, get, stage, noted } = await start(behindProxy);
    expect((await post(PAUSE, user(sent))).status).toBe(200);
    expect(stage.accounts[0]?.pause?.by).toBe(name);
    expect(noted).toMatchObject([{ event: 'operator_action', action: 'pause', by: name }]);
    expect((await get('/accounts/acme-eu', { ...HTML, ...user(sent) })).text).toContain(
      'Resume scheduled runs',
    );
  });

  it('may only read where no glob matches it, whatever token or session comes with it', async () => {
    const running = await start(behindProxy);
    const { get, post, recorded } = running;
    const cookie = await signIn(running);
    for (const more of [{}, BEARER, cookie]) {
      const eve = { ...more, ...user('eve') };
      for (const path of [...READS, ...MORE_READS]) expect((await get(path, eve)).status).toBe(200);
      expect((await post(PAUSE, eve)).json()).toMatchObject({ error: { code: 'read_only' } });
    }
    expect(recorded.commands).toEqual([]);
  });

  it('is not believed from another address, twice, with a comma, empty or too long, nor without the setting', async () => {
    const refused = async (options: object, headers: Readonly<Record<string, string | string[]>>) => {
      const { send, recorded } = await start(options);
      const answer = await send('POST', PAUSE, headers as Record<string, string>);
      return [answer.status, recorded.commands];
    };
    const far = { ...behindProxy, trustedProxies: ['10.0.0.0/8'] };
    expect(await refused(far, { ...user('ada'), 'x-forwarded-for': '10.0.0.7' })).toEqual([401, []]);
    expect(await refused({ trustedProxies: ['127.0.0.1'] }, user('ada'))).toEqual([401, []]);
    for (const name of [['ada', 'ada'], ['eve, ada'], [''], [' '], [`${'x'.repeat(256)}@ops.example`]])
      expect([name, await refused(behindProxy, { 'x-forwarded-user': name })]).toEqual([name, [401, []]]);
  });

  it('falls back to a token, and to the sign-in form, also where no token is configured', async () => {
    const { get, post } = await start(behindProxy);
    expect((await post(PAUSE, BEARER)).status).toBe(200);
    expect((await get('/', HTML)).text).toContain('Sign in');
    const without = await start({ ...behindProxy, tokens: [] });
    expect((await without.get('/')).status).toBe(401);
    expect((await without.post(PAUSE, { ...user('ada'), host: 'rolecall.example' })).status).toBe(200);
  });

  it('does nothing in the API for a body that a form of an unknown page could send', async () => {
    const { post, recorded } = await start(behindProxy);
    for (const type of ['text/plain', 'application/jsonp', '']) {
      for (const path of WRITES.filter((each) => each.startsWith('/api/'))) {
        const answer = await post(path, { ...user('ada'), 'content-type': type }, '{}');
        expect([type, path, answer.status]).toEqual([type, path, 415]);
      }
    }
    expect(recorded).toMatchObject({ commands: [], posted: [] });
  });

  it('does nothing for a page of another site, nor for a form of an unknown one', async () => {
    const { post, url, recorded } = await start(behindProxy);
    const form = { ...FORM, ...user('ada') };
    expect((await post(PAUSE, { ...user('ada'), origin: 'https://evil.example' })).status).toBe(403);
    expect((await post(PAUSE, { ...user('ada'), 'sec-fetch-site': 'same-site' })).status).toBe(403);
    expect((await post('/accounts/acme-eu/pause', form)).status).toBe(403);
    expect(recorded.commands).toEqual([]);
    expect((await post('/accounts/acme-eu/pause', { ...form, origin: url })).status).toBe(303);
  });
});

describe('the sign-in form', () => {
  it('is shown instead of the page that a browser requests, and leads back to it', async () => {
    const running = await start();
    const signInPage = await running.get('/accounts/acme-eu', HTML);
    expect(signInPage.status).toBe(401);
    expect(signInPage.headers.get('content-type')).toMatch(/^text\/html/);
    expect(signInPage.headers.get('www-authenticate')).toMatch(/^Bearer\b/);
    expect(signInPage.text).toContain('<form class="card narrow" method="post" action="/sign-in">');
    expect(signInPage.text).toMatch(
      /The one of <code>http\.token<\/code>, or .* not the token of an account/,
    );
    expect(signInPage.text).toContain('name="next" value="/accounts/acme-eu"');
    const { url, post, get } = running;
    const answer = await post('/sign-in', { origin: url, ...FORM }, formOf(TOKEN, '/accounts/acme-eu'));
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/accounts/acme-eu']);
    const cookie = answer.headers.get('set-cookie')?.split(';')[0] ?? '';
    expect((await get('/accounts/acme-eu', { ...HTML, cookie })).status).toBe(200);
    expect((await get('/api/v1/accounts', { cookie })).status).toBe(200);
  });

  it('sets a cookie that scripts cannot read, and with https a secure one', async () => {
    const { post, url, get } = await start();
    const plain = await post('/sign-in', { origin: url, ...FORM }, formOf(TOKEN));
    const flags = (plain.headers.get('set-cookie') ?? '').split('; ').toSorted();
    expect(flags).toEqual([
      'HttpOnly',
      'Max-Age=43200',
      'Path=/',
      'SameSite=Lax',
      expect.stringMatching(/^rolecall_session=http%3A[\w-]{43}%3A\d+\.[\w%]+$/),
    ]);
    const secure = await post(
      '/sign-in',
      { origin: url.replace('http:', 'https:'), 'x-forwarded-proto': 'https', ...FORM },
      formOf(TOKEN),
    );
    const [pair = '', ...others] = (secure.headers.get('set-cookie') ?? '').split('; ');
    expect(pair).toMatch(/^__Host-rolecall_session=http%3A/);
    expect(others).toEqual(expect.arrayContaining(['Secure', 'HttpOnly', 'SameSite=Lax', 'Path=/']));
    const inside = await get('/', { cookie: pair, 'x-forwarded-proto': 'https' });
    expect(inside.status).toBe(200);
    // The name of the cookie marks it as set over https, so it is not valid over http.
    expect((await get('/', { cookie: pair })).status).toBe(401);
  });

  it('reports a wrong token without setting a cookie or repeating the input', async () => {
    const { post, url } = await start();
    const answer = await post('/sign-in', { origin: url, ...FORM }, formOf('hunter2"><b>', '/runs/0193a5c2'));
    expect(answer.status).toBe(401);
    expect(answer.headers.has('set-cookie')).toBe(false);
    expect(answer.text).toContain('The token is wrong.');
    expect(answer.text).toContain('name="next" value="/runs/0193a5c2"');
    expect(answer.text).not.toContain('hunter2');
    for (const body of ['', 'token', 'token=', '%zz=%zz']) {
      expect((await post('/sign-in', { origin: url, ...FORM }, body)).status).toBe(401);
    }
  });

  it('redirects only to this server', async () => {
    const { post, get, url } = await start();
    const elsewhere = [
      '//evil.example',
      '/\\evil.example',
      'https://evil.example/',
      '/.//evil.example',
      'javascript:alert(1)',
      '/%2f%2fevil.example',
      '/a\r\nset-cookie: x=y',
      'accounts',
      '',
      `/${'a'.repeat(3000)}`,
    ];
    for (const next of elsewhere) {
      const answer = await post('/sign-in', { origin: url, ...FORM }, formOf(TOKEN, next));
      expect([next, answer.headers.get('location')]).toEqual([next, '/']);
    }
    const offered = await get(`/sign-in?next=${encodeURIComponent('//evil.example')}`, HTML);
    expect([offered.status, offered.text]).toEqual([200, expect.stringContaining('name="next" value="/"')]);
    const shown = await get('/sign-in?next=/runs/0193a5c2%3Fa=b', HTML);
    expect(shown.text).toContain('value="/runs/0193a5c2?a=b"');
  });
});

describe('a session', () => {
  it('ends with the button, and no other session ends, nor does one by a link', async () => {
    const running = await start();
    const { get, post, url } = running;
    const [one, other] = [await signIn(running), await signIn(running)];
    const out = await post('/sign-out', { ...one, origin: url });
    expect([out.status, out.headers.get('location')]).toEqual([303, '/sign-in']);
    expect(out.headers.get('set-cookie')).toMatch(/^rolecall_session=; Max-Age=0; Path=\/; HttpOnly/);
    expect((await get('/sign-out', other)).status).toBe(404);
    expect((await get('/', other)).status).toBe(200);
  });

  it('has an id that a client cannot choose', async () => {
    const running = await start();
    const cookie = `rolecall_session=${'A'.repeat(43)}`;
    expect((await running.get('/', { cookie })).status).toBe(401);
    const given = await signIn(running, { cookie });
    expect(given.cookie).not.toBe(cookie);
    expect((await running.get('/', { cookie })).status).toBe(401);
  });
});

describe('wrong tokens', () => {
  it('make their address wait after ten in a minute, by a clock that cannot be set', async () => {
    let nowMs = 1_000_000;
    const { post, url } = await start({ steadyMs: () => nowMs, nowMs: () => Date.UTC(2001, 0) });
    const tryToken = (token: string) => post('/sign-in', { origin: url, ...FORM }, formOf(token));
    for (let index = 0; index < 10; index += 1) {
      expect((await tryToken('wrong')).status).toBe(401);
      nowMs += 1000;
    }
    const refused = await tryToken('wrong');
    expect(refused.status).toBe(429);
    expect(refused.headers.get('retry-after')).toBe('50');
    expect(refused.headers.has('set-cookie')).toBe(false);
    nowMs += 49_999;
    expect((await tryToken('wrong')).status).toBe(429);
    nowMs += 1;
    expect((await tryToken('wrong')).status).toBe(401);
  });

  it('never block a correct token, neither as a bearer nor in the form', async () => {
    const running = await start();
    const { get, recorded } = running;
    const wrong = { authorization: 'Bearer wrong' };
    for (let index = 0; index < 10; index += 1) expect((await get('/api/v1/status', wrong)).status).toBe(401);
    const refused = await get('/api/v1/status', wrong);
    expect([refused.status, refused.json()]).toMatchObject([429, { error: { code: 'too_many_attempts' } }]);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(50);
    expect((await get('/', { ...wrong, ...HTML })).status).toBe(429);
    expect((await signIn(running)).cookie).toContain('=');
    expect((await get('/api/v1/status', BEARER)).status).toBe(200);
    expect(recorded.wrongTokens).toBe(12);
  });

  it('are logged with their address and never with their value, until the address must wait', async () => {
    const { get, post, url, noted } = await start();
    const wrong = { authorization: 'Bearer nearly-the-right-token' };
    for (let index = 0; index < 9; index += 1) await get('/api/v1/status', wrong);
    await post('/sign-in', { origin: url, ...FORM }, formOf('nearly-the-right-token'));
    for (let index = 0; index < 20; index += 1) await get('/api/v1/status', wrong);
    expect(noted).toEqual(Array.from({ length: 10 }, () => ({ event: 'wrong_token', address: '127.0.0.1' })));
  });

  it('count for the client that a trusted proxy reports, so that other clients need not wait', async () => {
    const { get } = await start({ trustedProxies: ['127.0.0.0/8', '10.0.0.0/8'] });
    const from = (client: string) =>
      get('/api/v1/status', {
        authorization: 'Bearer wrong',
        'x-forwarded-for': `6.6.6.6, ${client}, 10.1.2.3`,
      });
    for (let index = 0; index < 10; index += 1) await from('192.0.2.1');
    expect((await from('192.0.2.1')).status).toBe(429);
    expect((await from('192.0.2.2')).status).toBe(401);
  });

  it('count for the connection when its X-Forwarded-For is not trusted', async () => {
    const { get } = await start();
    const from = (client: string) =>
      get('/api/v1/status', { authorization: 'Bearer wrong', 'x-forwarded-for': client });
    for (let index = 0; index < 10; index += 1) await from(`192.0.2.${index}`);
    expect((await from('192.0.2.200')).status).toBe(429);
  });

  it('are not counted for requests without a token', async () => {
    const running = await start();
    for (let index = 0; index < 30; index += 1) await running.get('/api/v1/status');
    expect((await signIn(running)).cookie).toContain('=');
  });

  it('are also limited when they are sent at the same time', async () => {
    const { post, url } = await start();
    const tries = Array.from({ length: 40 }, () =>
      post('/sign-in', { origin: url, ...FORM }, formOf('wrong')),
    );
    const statuses = (await Promise.all(tries)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 401)).toHaveLength(10);
    expect(statuses.filter((status) => status === 429)).toHaveLength(30);
  });
});

describe('a token with the role read', () => {
  const ACTIONS = ['sync', 'approve', 'pause', 'resume'];

  it('can read everything and request plans', async () => {
    const { get, send, post, recorded } = await start();
    for (const path of [...READS, ...MORE_READS]) {
      expect([path, (await get(path, READER)).status]).toEqual([path, 200]);
      expect([path, (await send('HEAD', path, READER)).text]).toEqual([path, '']);
    }
    const body = JSON.stringify([POSTED]);
    expect((await post('/api/v1/plans', READER, body)).status).toBe(200);
    expect(recorded.posted).toHaveLength(1);
  });

  it('cannot change anything, by any method and on any path', async () => {
    const { send, recorded } = await start();
    for (const action of ACTIONS) {
      for (const path of [
        `/api/v1/accounts/acme-eu/${action}`,
        `/accounts/acme-eu/${action}`,
        '/api/v1/approvals',
      ]) {
        const answer = await send('POST', path, READER, '{}');
        expect([path, answer.status]).toEqual([path, 403]);
        expect(answer.text).toContain('role operate');
      }
    }
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND']) {
      for (const path of [
        '/',
        '/nope',
        '/api/v1/accounts/acme-eu',
        '/api/v1/plans/',
        '/accounts/acme-eu/pause',
      ]) {
        expect([method, path, (await send(method, path, READER)).status]).toEqual([method, path, 403]);
      }
    }
    expect(recorded).toMatchObject({ calls: 0, commands: [] });
  });

  it('opens a session without buttons that cannot perform actions', async () => {
    const running = await start();
    const session = await signIn(running, {}, READ_TOKEN);
    const page = await running.get('/accounts/acme-eu', { ...session, ...HTML });
    expect(page.text).toContain('the role read');
    expect(page.text).not.toMatch(/action="\/accounts|Approve this plan/);
    for (const action of ACTIONS) {
      const answer = await running.post(
        `/accounts/acme-eu/${action}`,
        { ...session, ...FORM, ...HTML, origin: running.url },
        'digest=12345678',
      );
      expect([action, answer.status]).toEqual([action, 403]);
    }
    expect(running.recorded.commands).toEqual([]);
    expect((await running.post('/sign-out', { ...session, origin: running.url })).status).toBe(303);
  });
});
