// The pages as a browser receives them: what they show, what their buttons do, and that hostile text stays text.
import { Script } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { hold, makeOperation, makePlan, makeRun } from '../../report/samples.ts';
import { FORM, HTML, makeAccount, makeDetail, PENDING, RUN_ID, signIn, start } from './stage.ts';
import type { Running } from './stage.ts';

const HOSTILE = '<script>alert(1)</script>"\'&\u202e\u0000\u200b`';

/** A browser that has signed in. */
async function browse(running: Running) {
  const headers = { ...HTML, ...(await signIn(running)) };
  return {
    get: async (path: string) => (await running.get(path, headers)).text,
    press: async (path: string, form: Readonly<Record<string, string>> = {}) =>
      await running.post(
        path,
        { ...headers, ...FORM, origin: running.url },
        new URLSearchParams(form).toString(),
      ),
  };
}

it('every page begins with a pause of all accounts, except that for the sign-in', async () => {
  const pause = { sinceMs: 0, by: 'sam', reason: HOSTILE, untilMs: 3_600_000, onlyDeletes: false };
  const running = await start({}, { pause });
  const { get } = await browse(running);
  const shown =
    '<p class="notice bad">All accounts are paused since 1970-01-01 00:00:00 UTC until 1970-01-01 01:00:00 UTC by sam: “&lt;script&gt;';
  for (const path of ['/', '/runs', '/activity', '/accounts/acme-eu', `/runs/${RUN_ID}`, '/nope'])
    expect(await get(path)).toContain(shown);
  expect((await running.get('/sign-in', HTML)).text).not.toContain('All accounts are paused');
  expect((await running.get('/runs', HTML)).text).not.toContain('All accounts are paused');
  running.stage.pause = null;
  expect(await get('/runs')).not.toContain('All accounts are paused');
});

describe('the page of an account', () => {
  it('shows its state, the pending plan and the last runs', async () => {
    const { get } = await browse(await start());
    const page = await get('/accounts/acme-eu');
    for (const text of ['*/15 * * * *', 'Etc/UTC', '4815162342', 'accounts/acme-eu.yaml', PENDING.digest]) {
      expect(page).toContain(text);
    }
    // The sentence to decide by, where it comes from, and the changes come before what is not part of the approval.
    expect(page).toMatch(
      /3 creates and 2 deletes wait for you\. 3 people lose <code class="">Visual Basic<.*From <code[^>]*>3f2a91c0d1e2<\/code> “Add Rust” by Dana, .*Visual Basic.*3 people lose it.*Approve these 5 changes.*Held: 4 changes wait for you</,
    );
    expect(page).toContain(`<a href="/runs/${RUN_ID}">`);
    expect(page).not.toContain('name="digest" value=""');
    expect(page).toContain('http · operate');
  });

  it('shows why its last run failed, unless the errors of the file are shown already', async () => {
    const lastRun = makeRun({
      status: 'failed',
      errorCode: 'unavailable',
      error: `first ${HOSTILE}\nsecond`,
    });
    const accounts = [
      makeAccount('a', { lastRun }),
      makeAccount('b', { lastRun, issues: ['x.yaml:1:1: no'] }),
    ];
    const { get } = await browse(await start({}, { accounts }));
    const page = await get('/accounts/a');
    expect(page).toContain('The last run failed (unavailable).');
    expect(page).toContain('first &lt;script&gt;');
    expect(page).toMatch(/<div[^>]*>second<\/div>/);
    expect(page).toMatch(
      /Next, on the machine of the daemon[^<]*<\/p><pre[^>]*>rolecall validate --online acme-eu<\/pre>/,
    );
    expect(await get('/accounts/b')).not.toContain('The last run ');
  });

  it('has a button that approves only the plan that is shown', async () => {
    const running = await start();
    const { get, press } = await browse(running);
    expect(await get('/accounts/acme-eu')).toContain(
      `<form method="post" action="/accounts/acme-eu/approve"><input type="hidden" name="digest" value="${PENDING.digest}"/>`,
    );
    const answer = await press('/accounts/acme-eu/approve', { digest: PENDING.digest });
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/accounts/acme-eu']);
    expect((await press('/accounts/acme-eu/approve')).status).toBe(400);
    expect((await press('/accounts/acme-eu/approve', { digest: '' })).status).toBe(400);
    expect(running.recorded.commands).toHaveLength(1);
    // The journal has another plan than the pending one, and a plan that is not shown must not be approved.
    running.stage.runs = [makeDetail({ plan: makePlan({ digest: `sha256:${'9'.repeat(64)}` }) })];
    const unseen = await get('/accounts/acme-eu');
    expect(unseen).toContain('The plan is no longer stored.');
    expect(unseen).not.toContain('/approve"');
  });

  it('has buttons that run, pause with a reason, and resume it', async () => {
    const running = await start();
    const { get, press } = await browse(running);
    const pressed = await press('/accounts/acme-us/sync');
    expect([pressed.status, pressed.headers.get('location')]).toEqual([303, '/accounts/acme-us']);
    expect(await get('/accounts/acme-us')).toMatch(
      /action="\/accounts\/acme-us\/pause".*<input type="text" name="reason" maxlength="300"/,
    );
    await press('/accounts/acme-us/pause', { reason: 'migration' });
    expect(running.stage.accounts[1]?.pause).toMatchObject({ by: 'http', reason: 'migration' });
    expect(await get('/accounts/acme-us')).toContain('action="/accounts/acme-us/resume"');
    await press('/accounts/acme-us/resume');
    expect((await press('/accounts/nobody/sync')).status).toBe(404);
    expect(running.recorded.commands).toEqual(['sync acme-us', 'pause acme-us', 'resume acme-us']);
  });

  it.each([
    ['acme-us/sync', { sync: 'stopping' }, 503, 'The daemon is stopping'],
    ['acme-us/approve', {}, 409, 'No plan waits for approval.'],
    ['acme-eu/approve', {}, 409, 'Another plan waits now, so nothing was approved.'],
  ] as const)('leads back from the reason why nothing was done: %s', async (path, parts, status, reason) => {
    const { press } = await browse(await start({}, parts));
    const answer = await press(`/accounts/${path}`, { digest: `sha256:${'0'.repeat(64)}` });
    expect([answer.status, answer.text]).toEqual([status, expect.stringContaining(reason)]);
    expect(answer.text).toContain(`<a href="/accounts/${path.split('/')[0]}">Back to the account</a>`);
  });

  it('leads back to the page of the form, without doing anything, when the session has ended', async () => {
    const running = await start();
    const { post, url, recorded } = running;
    const refused = await post('/accounts/acme-eu/pause', { ...HTML, ...FORM, origin: url }, 'reason=x');
    expect(refused.status).toBe(401);
    for (const text of ['nothing was done', 'name="next" value="/accounts/acme-eu"']) {
      expect(refused.text).toContain(text);
    }
    expect(recorded.commands).toEqual([]);
    // Neither a form of nothing nor a page that was only requested is reported as not done.
    expect((await running.get('/accounts/acme-eu', HTML)).text).not.toContain('nothing was done');
    expect((await post('/sign-out', { ...HTML, origin: url })).text).not.toContain('nothing was done');
  });
});

describe('the page of a run', () => {
  it('shows what was done, what failed, what is held and why, and the warnings', async () => {
    const { get } = await browse(await start());
    const page = await get(`/runs/${RUN_ID}`);
    for (const text of ['Created (1)', 'Failed (1)', 'Held: 4 changes', 'Left alone (5)', 'Warnings (2)']) {
      expect(page).toContain(text);
    }
    expect(page).toContain('日本語');
    expect(page).toContain('47 people have it.');
    expect(page).toContain('allow it under allowedDeletes');
    expect(page).toContain('typescript\\u0020');
    expect(page).toContain('47 people have it: res-0001, res-0002, res-0003 … and 44 more');
    expect(page).toMatch(
      /<time datetime="2026-11-21T05:24:10.123Z" title="2026-11-21 05:24:10 UTC">[^<]+ ago</,
    );
    expect(page).toContain('<a href="/accounts/acme-eu">acme-eu</a>');
  });

  it('shows the error of the run line by line', async () => {
    const run = makeRun({
      id: RUN_ID,
      status: 'failed',
      errorCode: 'config_invalid',
      error: `a.yaml:1:1: one\na.yaml:2:1: ${HOSTILE}`,
    });
    const { get } = await browse(
      await start({}, { runs: [{ run, operations: [], warnings: [], plan: null }] }),
    );
    const page = await get(`/runs/${RUN_ID}`);
    expect(page).toContain('<code class="quiet">config_invalid</code>');
    expect(page).toContain('<div>a.yaml:1:1: one</div><div>a.yaml:2:1: &lt;script&gt;');
  });

  it('shows hostile names, ids, reasons and messages as text', async () => {
    const operation = makeOperation(1, HOSTILE, { remoteId: HOSTILE, reason: HOSTILE, status: 'failed' });
    const plan = makePlan({
      held: [hold(HOSTILE, { reason: HOSTILE, release: HOSTILE, usedBy: [HOSTILE], remoteId: HOSTILE })],
      leftAlone: [{ kind: 'skill', name: HOSTILE, remoteId: HOSTILE, rule: 'unmanaged' }],
    });
    const warnings = [{ code: HOSTILE, message: HOSTILE, name: HOSTILE, remoteId: HOSTILE }];
    const run = makeRun({
      id: RUN_ID,
      status: 'partial',
      error: HOSTILE,
      errorCode: 'x',
      remoteAccountId: HOSTILE,
    });
    const detail = { run, operations: [operation], warnings, plan };
    const { get } = await browse(await start({}, { runs: [detail] }));
    for (const page of [await get(`/runs/${RUN_ID}`), await get('/accounts/acme-eu')]) {
      expect(page).not.toMatch(/<script(?! src="\/assets)|\u202e|\u200b/);
      expect(page.includes('\0')).toBe(false);
    }
    expect((await get(`/runs/${RUN_ID}`)).match(/&lt;script&gt;/g)?.length).toBeGreaterThan(10);
  });
});

it.each(['/', '/runs', `/runs/${RUN_ID}`, '/accounts/acme-eu'])(
  'the page %s links to the commit where its host is known',
  async (path) => {
    const commitsAt = 'https://github.com/acme/catalog/commit/';
    const { get } = await browse(await start({ commitsAt }));
    expect(await get(path)).toMatch(
      /<a href="https:\/\/github.com\/acme\/catalog\/commit\/([0-9a-f]{7,64})"><code[^>]*>\w+<\/code><\/a>/,
    );
    expect(await (await browse(await start())).get(path)).not.toContain('/commit/');
  },
);

describe('every page', () => {
  it('names the installation, and who is signed in', async () => {
    const running = await start({ title: 'production <eu>' });
    const { get } = await browse(running);
    for (const page of [await get('/'), await get('/nope'), (await running.get('/sign-in', HTML)).text]) {
      expect(page).toContain('<span class="installation">production &lt;eu&gt;</span>');
      expect(page).toMatch(/<title>[^<]+ · production &lt;eu&gt; · rolecall<\/title>/);
    }
    expect(await get('/runs')).toMatch(/http · operate<\/span><form method="post" action="\/sign-out">/);
  });

  it('refers to a stylesheet, a script and an icon, which need no token and which browsers keep by their digests', async () => {
    const running = await start();
    const page = (await running.get('/', HTML)).text;
    const types = {
      css: 'text/css; charset=utf-8',
      js: 'text/javascript; charset=utf-8',
      svg: 'image/svg+xml',
    };
    for (const [suffix, type] of Object.entries(types)) {
      const [path = ''] = new RegExp(`/assets/[a-z]+-[0-9a-f]{16}\\.${suffix}`).exec(page) ?? [];
      const answer = await running.get(path);
      expect([path, answer.status, answer.headers.get('content-type')]).toEqual([path, 200, type]);
      expect(answer.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
      // Nothing comes from another server.
      expect(answer.text).not.toMatch(/url\(|@import|https?:\/\/(?!www\.w3\.org\/2000\/svg)/);
      if (suffix === 'js') expect(() => new Script(answer.text)).not.toThrow();
    }
  });

  it('needs nothing that the content security policy forbids', async () => {
    const { get } = await browse(await start());
    for (const path of [
      '/',
      '/runs',
      '/activity',
      '/accounts/acme-eu',
      `/runs/${RUN_ID}`,
      '/nope',
      '/sign-in',
    ]) {
      const page = await get(path);
      expect(page).toMatch(/^<!doctype html><html lang="en">/);
      expect(page).not.toMatch(/ style=|<style|<script(?! src="\/assets\/app-[0-9a-f]{16}\.js" defer="">)/);
      expect(page).not.toMatch(/<img|<iframe| on[a-z]+="|javascript:/);
      for (const [, target = ''] of page.matchAll(/(?:href|action|src)="([^"]*)"/g)) {
        expect(target).toMatch(/^(\/(?!\/)|#main$)/);
      }
      expect(page.match(/<h1[ >]/g)).toHaveLength(1);
      expect(page).toMatch(/<title>[^<]+ · rolecall<\/title>/);
      expect(page).toMatch(/<a class="skip" href="#main">.*<main id="main"/);
    }
  });
});
