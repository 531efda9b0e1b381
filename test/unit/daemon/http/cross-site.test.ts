// Pages of other sites, and other names for this machine, cannot do anything. Behind a proxy with another address, ours can.
import { createServer, request as httpRequest } from 'node:http';
import { describe, expect, it } from 'vitest';
import { listen } from '../../../support/loopback.ts';
import { makeRun } from '../../report/samples.ts';
import { BEARER, FORM, HTML, makeAccount, makeDetail, RUN_ID, signIn, start, TOKEN } from './stage.ts';

const SYNC = '/api/v1/accounts/acme-eu/sync';
const RUN_NOW = '/accounts/acme-eu/sync';
const ELSEWHERE: Readonly<Record<string, string>>[] = [
  { origin: 'https://evil.example' },
  { origin: 'null' },
  { origin: '' },
  { 'sec-fetch-site': 'cross-site' },
  { 'sec-fetch-site': 'same-site' },
  { 'sec-fetch-site': 'something-new' },
  { origin: 'https://evil.example', 'sec-fetch-site': 'same-origin' },
];

describe('a post by a page of another site', () => {
  it('is refused with any credentials', async () => {
    const running = await start();
    const session = await signIn(running);
    const { port } = new URL(running.url);
    const others = [
      ...ELSEWHERE,
      { origin: `http://127.0.0.1:${Number(port) + 1}` },
      { origin: `http://127.0.0.1.evil.example:${port}` },
      { origin: `http://localhost:${port}` },
    ];
    for (const headers of others) {
      for (const [path, who] of [
        [SYNC, session],
        [SYNC, BEARER],
        [RUN_NOW, session],
        ['/sign-out', session],
        ['/api/v1/plans', BEARER],
      ] as const) {
        const { status } = await running.post(path, { ...who, ...headers });
        expect([path, headers, status]).toEqual([path, headers, 403]);
      }
    }
    expect(running.recorded.calls).toBe(0);
    expect((await running.get('/', session)).status).toBe(200);
  });

  it('does not sign anybody in', async () => {
    const { post } = await start();
    for (const headers of ELSEWHERE) {
      const answer = await post('/sign-in', { ...headers, ...FORM }, `token=${encodeURIComponent(TOKEN)}`);
      expect([headers, answer.status]).toEqual([headers, 403]);
      expect(answer.headers.has('set-cookie')).toBe(false);
    }
  });
});

describe('a sign-in behind a proxy, with http.publicUrl', () => {
  const publicUrl = 'https://tools.example.com/rolecall';
  const origin = 'https://tools.example.com';

  it.each<[string, Record<string, string>]>([
    ['the Host of the daemon', {}],
    ['a Host with the default port', { host: 'tools.example.com:443' }],
    ['an X-Forwarded-Host of two proxies', { 'x-forwarded-host': 'tools.example.com, tools.example.com' }],
  ])('is accepted from that address with %s', async (_name, headers) => {
    const running = await start({ publicUrl });
    const session = await signIn(running, { origin, 'sec-fetch-site': 'same-origin', ...headers });
    expect((await running.post(RUN_NOW, { ...session, ...headers, origin })).status).toBe(303);
  });

  it('is refused from any other, whatever Host the proxy reports, and the refusal names both', async () => {
    const { post, url } = await start({ publicUrl });
    for (const other of [
      url,
      'http://tools.example.com',
      'https://tools.example.com:8443',
      'https://evil.example',
    ]) {
      const host = other.replace(/^.*:\/\//, '');
      for (const names of [{ host }, { 'x-forwarded-host': host }]) {
        const headers = { ...FORM, ...HTML, ...names, origin: other };
        const { status, text } = await post('/sign-in', headers, `token=${encodeURIComponent(TOKEN)}`);
        expect([other, status]).toEqual([other, 403]);
        expect(text).toContain(`its Origin is ${other}, `);
        expect(text).toContain(`http.publicUrl is ${publicUrl}. `);
      }
    }
  });
});

describe('every address of the pages', () => {
  const BASE = '/tools/rolecall';
  const ADDRESS = /(<form[^>]*method="post"[^>]*)? (?:href|src|action|data-progress)="([^"#][^"]*)"/g;

  /** Requests what a browser can reach from the address by GET; returns that, and the forms that post. */
  async function walk(from: string, headers: Readonly<Record<string, string>>) {
    const [seen, forms] = [new Set([from]), new Set<string>()];
    for (const address of seen) {
      const reply = await fetch(address, { headers, redirect: 'manual' });
      const isRight = reply.status === 200 || (reply.status === 401 && !('cookie' in headers));
      expect([address, reply.status, isRight]).toEqual([address, reply.status, true]);
      const isPage = reply.headers.get('content-type')?.startsWith('text/html') === true;
      for (const [, form, target = ''] of isPage ? (await reply.text()).matchAll(ADDRESS) : [])
        (form === undefined ? seen : forms).add(new URL(target.replaceAll('&amp;', '&'), address).href);
    }
    return { seen: [...seen], forms: [...forms] };
  }

  it('leads through a proxy that removes the path of http.publicUrl', async () => {
    const proxy = createServer((incoming, outgoing) => {
      const { url = '', method, headers } = incoming;
      if (!`${url}/`.startsWith(`${BASE}/`)) return void outgoing.writeHead(404).end();
      const { host, port } = new URL(running.url);
      const path = url.slice(BASE.length) || '/';
      const sent = { ...headers, host, 'x-forwarded-proto': 'https' };
      const request = httpRequest({ port, path, method, headers: sent }, (reply) => {
        outgoing.writeHead(reply.statusCode ?? 502, reply.headers);
        reply.pipe(outgoing);
      });
      incoming.pipe(request);
    });
    const origin = await listen(proxy);
    const at = (path: string) => `${origin}${BASE}${path}`;
    const working = makeRun({ id: RUN_ID, status: 'running', finishedAt: null });
    const accounts = [makeAccount('acme-eu'), makeAccount('acme-us', { lastRun: working })];
    const running = await start({ publicUrl: at('') }, { accounts, runs: [makeDetail({ run: working })] });
    const post = (address: string, headers: Readonly<Record<string, string>>, body = '') =>
      fetch(address, { method: 'POST', headers: { ...FORM, ...headers, origin }, body, redirect: 'manual' });
    const page = '/accounts/acme-us';

    expect((await walk(at(page), HTML)).forms).toEqual([at('/sign-in')]);
    const signedIn = await post(at('/sign-in'), HTML, `token=${encodeURIComponent(TOKEN)}&next=${page}`);
    expect([signedIn.status, signedIn.headers.get('location')]).toEqual([303, `${BASE}${page}`]);
    const [cookie = '', ...flags] = signedIn.headers.getSetCookie()[0]?.split('; ') ?? [];
    // Other programs below the same host do not receive it, nor another daemon there.
    expect([cookie, flags]).toEqual([
      expect.stringMatching(/^__Secure-/),
      expect.arrayContaining([`Path=${BASE}`]),
    ]);
    const session = { ...HTML, cookie };
    const { seen, forms } = await walk(at(''), session);
    const run = `/runs/${RUN_ID}`;
    const paths = ['/', '/runs', '/activity', page, run, `${run}/progress`, `/api/v1${run}`];
    expect(seen).toEqual(expect.arrayContaining(paths.map(at)));
    expect(forms).toEqual(expect.arrayContaining([at('/sign-out'), at(`${page}/pause`)]));
    for (const form of forms) {
      const { status, headers } = await post(form, session);
      expect([form, status, headers.get('location')]).toEqual([form, 303, expect.stringContaining(BASE)]);
    }
  });
});

describe('an allowed post', () => {
  it('needs the origin headers of the browser when it has a session', async () => {
    const running = await start();
    const { post, url } = running;
    const session = await signIn(running);
    expect((await post(SYNC, session)).status).toBe(403);
    expect((await post(SYNC, { ...session, 'sec-fetch-site': 'none' })).status).toBe(403);
    expect((await post(SYNC, { ...session, origin: url })).status).toBe(202);
    expect((await post(SYNC, { ...session, 'sec-fetch-site': 'same-origin' })).status).toBe(202);
    const both = { ...session, origin: 'null', 'sec-fetch-site': 'same-origin' };
    expect((await post(RUN_NOW, both)).status).toBe(303);
  });

  it('is recognised behind a proxy with https or with another host name', async () => {
    const running = await start();
    const { post } = running;
    const secure = { 'x-forwarded-proto': 'https', host: 'rolecall.example' };
    const session = await signIn(running, { ...secure, origin: 'https://rolecall.example' });
    const from = (headers: Readonly<Record<string, string>>) => post(SYNC, { ...session, ...headers });
    expect((await from({ ...secure, origin: 'https://rolecall.example' })).status).toBe(202);
    expect((await from({ ...secure, origin: 'http://rolecall.example' })).status).toBe(403);
    const named = {
      'x-forwarded-proto': 'https',
      'x-forwarded-host': 'rolecall.example',
      origin: 'https://rolecall.example',
    };
    expect((await from(named)).status).toBe(202);
  });
});

it('a GET request changes nothing', async () => {
  const running = await start();
  const { get, send, recorded } = running;
  const session = await signIn(running);
  for (const command of ['sync', 'approve', 'pause', 'resume']) {
    for (const path of [`/api/v1/accounts/acme-eu/${command}`, `/accounts/acme-eu/${command}`]) {
      const answer = await get(path, session);
      expect([path, answer.status]).toEqual([path, 404]);
      expect((await send('HEAD', path, session)).status).toBe(404);
    }
  }
  expect(recorded.commands).toEqual([]);
});

describe('a server without a token', () => {
  it('can be read and not written', async () => {
    const { get, post, recorded, url } = await start({ tokens: [] });
    for (const path of ['/', '/accounts/acme-eu', '/runs/0193a5c2', '/api/v1/accounts', '/api/v1/runs']) {
      expect([path, (await get(path, HTML)).status]).toEqual([path, 200]);
    }
    for (const path of [SYNC, RUN_NOW, '/api/v1/plans', '/nope', '/sign-in', '/accounts/acme-eu/approve']) {
      const answer = await post(path, { origin: url, ...BEARER }, '{}');
      expect([path, answer.status]).toEqual([path, 403]);
      expect(answer.json()).toMatchObject({
        error: {
          code: 'writing_off',
          message: expect.stringContaining('neither http.token nor http.tokens is set'),
        },
      });
    }
    expect(recorded).toMatchObject({ commands: [], posted: [] });
    expect((await get('/accounts/acme-eu', HTML)).text).not.toContain('<form');
    expect((await get('/sign-in', HTML)).status).toBe(404);
  });

  it('answers only a loopback Host, on every path', async () => {
    const { get, raw, recorded } = await start({ tokens: [] });
    const paths = ['/', '/healthz', '/readyz', '/metrics', '/api/v1/accounts', '/nope'];
    for (const host of [
      'evil.example',
      '127.0.0.1.evil.example',
      'localhost.evil',
      '10.0.0.1',
      '[::2]',
      '0',
    ]) {
      for (const path of paths) {
        const { status } = await get(path, { host });
        expect([host, path, status]).toEqual([host, path, 421]);
      }
    }
    expect(await raw('GET /api/v1/accounts HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1\.1 421 /);
    expect(await raw('GET / HTTP/1.1\r\nHost: a b\r\nConnection: close\r\n\r\n')).toMatch(
      /^HTTP\/1\.1 4(00|21) /,
    );
    expect(recorded.calls).toBe(0);
    for (const host of ['localhost', 'LocalHost:8080', '127.0.0.1', '127.1.2.3:9', '[::1]', '[::1]:8080']) {
      expect([host, (await get('/', { host })).status]).toEqual([host, 200]);
    }
  });
});
