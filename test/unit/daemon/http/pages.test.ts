// The pages as a browser receives them: what they show, what their buttons do, and that hostile text stays text.
import { describe, expect, it } from 'vitest';
import { create, hold, makeOperation, makePlan, makeRun } from '../../report/samples.ts';
import { FORM, HTML, makeAccount, makeDetail, PENDING, RUN_ID, signIn, start } from './stage.ts';
import type { Running } from './stage.ts';

const HOSTILE = '<script>alert(1)</script>"\'&\u202e\u0000\u200b`';

/** A browser that has signed in. */
async function browse(running: Running) {
  const session = await signIn(running);
  return {
    get: async (path: string) => (await running.get(path, { ...session, ...HTML })).text,
    press: (path: string, form: Readonly<Record<string, string>> = {}) =>
      running.post(
        path,
        { ...session, ...HTML, ...FORM, origin: running.url },
        new URLSearchParams(form).toString(),
      ),
  };
}

function rowOf(page: string, name: string): string {
  return page.split('<tr>').find((row) => row.includes(`>${name}</a>`)) ?? '';
}

describe('the page of all accounts', () => {
  it('shows the state of each account, those that need attention first', async () => {
    const accounts = [
      makeAccount('calm', { drift: { create: 0, delete: 0 } }),
      makeAccount('drifting', {
        drift: { create: 3, delete: 2 },
        pause: { since: null, by: null, reason: null },
      }),
      makeAccount('invalid', { valid: false, issues: ['x.yaml:1:1: no'], lastRun: null, nextRunAt: null }),
      makeAccount('waiting', { pending: PENDING, activity: 'queued' }),
      makeAccount('failing', {
        lastRun: makeRun({ status: 'failed', failed: 4, held: 7 }),
        consecutiveFailures: 3,
        backoffUntil: '2026-11-21T06:00:00.000Z',
      }),
    ];
    const { get } = await browse(await start({}, { accounts }));
    const page = await get('/');
    expect(page).toContain('<h1>5 accounts</h1>');
    expect(page).toContain(
      '1 with an invalid file · 1 failed · 1 waiting for approval · 1 paused · 1 not run yet · 5 changes to apply · 7 changes held.',
    );
    const [first = '', others = ''] = page.split('All others (2)');
    for (const name of ['invalid', 'waiting', 'failing']) expect(first).toContain(`>${name}</a>`);
    for (const name of ['calm', 'drifting']) expect(others).toContain(`>${name}</a>`);
    expect(rowOf(page, 'drifting')).toMatch(/\+3.*−2.*paused/);
    expect(rowOf(page, 'failing')).toMatch(
      /failed.*data-head="Held">.*7.*data-head="Failed">.*4.*backing off/,
    );
    expect(rowOf(page, 'waiting')).toMatch(/waits for approval.*queued/);
    expect(rowOf(page, 'invalid')).toMatch(/never.*invalid file/);
    expect(page).toContain('<time datetime="2026-11-21T05:45:00.000Z">2026-11-21 05:45</time>');
    expect(page).not.toContain('<script');
  });

  it('shows the errors of the daemon itself', async () => {
    const { stage } = await start();
    const overview = { ...stage.overview, issues: [`rolecall.yaml:1:1: ${HOSTILE}`], undelivered: 2 };
    const { get } = await browse(await start({}, { overview }));
    const page = await get('/');
    expect(page).toContain('The last valid configuration is used');
    expect(page).toContain('rolecall.yaml:1:1: &lt;script&gt;');
    expect(page).toContain('2 notifications could not be delivered');
    expect(page).toContain('Name the skills of the data team');
    expect(page).toContain('<code>3f2a91c0d1e2</code>');
  });

  it('is fast and complete with a thousand accounts, and reports when there is none', async () => {
    const accounts = Array.from({ length: 1000 }, (_, index) => makeAccount(`account-${index}`));
    const running = await start({}, { accounts });
    const { get } = await browse(running);
    await get('/');
    const startedAt = performance.now();
    const page = await get('/');
    expect(performance.now() - startedAt).toBeLessThan(2000);
    expect(page.match(/<tr>/g)).toHaveLength(1001);
    expect(page).toContain('All accounts match their files.');
    running.stage.accounts = [];
    expect(await get('/')).toContain('No account is configured.');
  });
});

describe('the page of an account whose last run is large', () => {
  const noChanges = (page: string): void => {
    expect(page).toContain('A plan waits for approval');
    expect(page).toContain(PENDING.digest);
    expect(page).toContain(`The changes of <a href="/runs/${RUN_ID}">the run</a> are not shown.`);
    for (const action of ['sync', 'pause']) expect(page).toContain(`action="/accounts/acme-eu/${action}"`);
    // A plan that is not shown must not be approved.
    expect(page).not.toContain('/approve"');
    expect(page).not.toContain('no longer stored');
    expect(page).toContain('<h2>Last runs</h2>');
  };

  it('shows the reason in place of the changes when the run cannot be read', async () => {
    const view = async () => ({ type: 'failed', runId: RUN_ID, reason: 'reading took too long' }) as const;
    const { get } = await browse(await start({}, { view }));
    const page = await get('/accounts/acme-eu');
    noChanges(page);
    expect(page).toContain('reading took too long');
  });

  it('shows everything but the changes while other large runs are read', async () => {
    const { get } = await browse(await start({}, { view: async () => ({ type: 'busy' }) }));
    const page = await get('/accounts/acme-eu');
    noChanges(page);
    expect(page).toContain('try again in 10 s');
  });

  it('is no longer rendered after its client disconnects', async () => {
    let left = false;
    let isBegun = false;
    const running = await start(
      {},
      {
        view(_, signal) {
          isBegun = true;
          return new Promise((resolve) =>
            signal.addEventListener('abort', () => {
              left = true;
              resolve({ type: 'busy' });
            }),
          );
        },
      },
    );
    const leaving = new AbortController();
    const headers = { ...(await signIn(running)), ...HTML };
    const answer = fetch(`${running.url}/accounts/acme-eu`, { headers, signal: leaving.signal });
    await expect.poll(() => isBegun).toBe(true);
    leaving.abort();
    await expect(answer).rejects.toThrow();
    await expect.poll(() => left).toBe(true);
  });
});

describe('the page of a large run that cannot be read', () => {
  it('shows the reason, and the command that shows the run', async () => {
    const view = async () => ({ type: 'failed', runId: RUN_ID, reason: 'reading took too long' }) as const;
    const { get } = await browse(await start({}, { view }));
    const page = await get(`/runs/${RUN_ID}`);
    expect(page).toContain('The run cannot be shown as a page: reading took too long.');
    expect(page).toContain(`rolecall show ${RUN_ID}`);
  });
});

describe('the page of an account', () => {
  it('shows its state, the pending plan and the last runs', async () => {
    const { get } = await browse(await start());
    const page = await get('/accounts/acme-eu');
    for (const text of ['*/15 * * * *', 'Etc/UTC', '4815162342', 'waits for approval', PENDING.digest]) {
      expect(page).toContain(text);
    }
    expect(page).toContain('Plan: 3 to create, 2 to delete, 4 held, 412 unchanged, 5 left alone.');
    expect(page).toMatch(/Visual Basic.*3 people lose it/);
    expect(page).toContain(`<a href="/runs/${RUN_ID}">`);
    expect(page).not.toContain('name="digest" value=""');
  });

  it('shows the errors of its file', async () => {
    const account = makeAccount('a', { valid: false, issues: [`a.yaml:2:3: ${HOSTILE}`], mode: null });
    const { get } = await browse(await start({}, { accounts: [account], runs: [] }));
    const page = await get('/accounts/a');
    expect(page).toContain('a.yaml:2:3: &lt;script&gt;alert(1)&lt;/script&gt;');
    expect(page).toContain('\\u202e\\u0000\\u200b');
    expect(page).toContain('The account has not run yet.');
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
    expect(page).toContain('The last run ended failed (unavailable).');
    expect(page).toContain('first &lt;script&gt;');
    expect(page).toContain('<code>second</code>');
    expect(await get('/accounts/b')).not.toContain('The last run ended');
  });

  it('has a button that approves only the plan that is shown', async () => {
    const running = await start();
    const { get, press } = await browse(running);
    expect(await get('/accounts/acme-eu')).toContain(
      `<form method="post" action="/accounts/acme-eu/approve"><input type="hidden" name="digest" value="${PENDING.digest}"/>`,
    );
    const answer = await press('/accounts/acme-eu/approve', { digest: PENDING.digest });
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/accounts/acme-eu?said=approved']);
    expect(await get('/accounts/acme-eu?said=approved')).toContain('The plan is approved');
    const other = await press('/accounts/acme-eu/approve', { digest: `sha256:${'0'.repeat(64)}` });
    expect(other.headers.get('location')).toBe('/accounts/acme-eu?said=other_plan');
    expect((await press('/accounts/acme-eu/approve')).status).toBe(400);
    expect((await press('/accounts/acme-eu/approve', { digest: '' })).status).toBe(400);
    expect(running.recorded.commands).toHaveLength(2);
    // The journal has another plan than the pending one, and a plan that is not shown must not be approved.
    running.stage.runs = [makeDetail({ plan: makePlan({ digest: `sha256:${'9'.repeat(64)}` }) })];
    const unseen = await get('/accounts/acme-eu');
    expect(unseen).toContain('The plan is no longer stored.');
    expect(unseen).not.toContain('/approve"');
  });

  it('has buttons that run, pause and resume it, and shows the result of each', async () => {
    const running = await start();
    const { get, press } = await browse(running);
    expect((await press('/accounts/acme-us/sync')).headers.get('location')).toBe(
      '/accounts/acme-us?said=queued',
    );
    expect(await get('/accounts/acme-us')).toContain('action="/accounts/acme-us/pause"');
    expect((await press('/accounts/acme-us/pause')).headers.get('location')).toBe(
      '/accounts/acme-us?said=paused',
    );
    const paused = await get('/accounts/acme-us?said=paused');
    expect(paused).toContain('action="/accounts/acme-us/resume"');
    expect(paused).toMatch(/role="status">The account is paused/);
    await press('/accounts/acme-us/resume');
    expect((await press('/accounts/nobody/sync')).status).toBe(404);
    expect(running.recorded.commands).toEqual(['sync acme-us', 'pause acme-us', 'resume acme-us']);
    expect(await get('/accounts/acme-us?said=%3Cb%3E')).not.toContain('role="status"');
    expect(await get('/accounts/acme-us?said=toString')).not.toContain('role="status"');
  });

  it('asks for the token again when the session ended before the button was pressed', async () => {
    const running = await start();
    const answer = await running.post('/accounts/acme-eu/sync', { ...HTML, ...FORM, origin: running.url });
    expect([answer.status, answer.text]).toEqual([401, expect.stringContaining('name="token"')]);
    expect(running.recorded.commands).toEqual([]);
  });
});

describe('the page of a run', () => {
  it('shows what was done, what failed, what is held and why, and the warnings', async () => {
    const { get } = await browse(await start());
    const page = await get(`/runs/${RUN_ID}`);
    for (const text of ['Created (1)', 'Failed (1)', 'Held (3)', 'Held renames (1)', 'Left alone (5)', 'Warnings (2)']) {
      expect(page).toContain(text);
    }
    expect(page).toContain('日本語');
    expect(page).toContain('47 people have it.');
    expect(page).toContain('approve it under approvedDeletes');
    expect(page).toContain('typescript\\u0020');
    expect(page).toContain('res-0020</code> … and 27 more');
    expect(page).toContain('<time datetime="2026-11-21T05:24:10.123Z">2026-11-21 05:24:10 UTC</time>');
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
    expect(page).toContain('<code>config_invalid</code>');
    expect(page).toContain('<div>a.yaml:1:1: one</div><div>a.yaml:2:1: &lt;script&gt;');
  });

  it('cuts a long section after complete rows, with the count of the rest', async () => {
    const operations = Array.from({ length: 1700 }, (_, index) => makeOperation(index + 1, `Skill ${index}`));
    const held = Array.from({ length: 501 }, (_, index) => hold(`Held ${index}`));
    const plan = makePlan({ operations: operations.map(({ name }) => create(name)), held });
    const { get } = await browse(await start({}, { runs: [makeDetail({ operations, plan, warnings: [] })] }));
    const page = await get(`/runs/${RUN_ID}`);
    expect(page.match(/<tr><td/g)).toHaveLength(1000);
    expect(page).toContain(
      `… and 1200 more; <a href="/api/v1/runs/${RUN_ID}">the JSON report</a> lists all of them.`,
    );
    expect(page).toContain('… and 1 more;');
    expect(page).toContain('Created (1700)');
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
      expect(page).not.toMatch(/<script|\u202e|\u200b/);
      expect(page.includes('\0')).toBe(false);
    }
    expect((await get(`/runs/${RUN_ID}`)).match(/&lt;script&gt;/g)?.length).toBeGreaterThan(10);
  });
});

describe('every page', () => {
  it('has one stylesheet, which browsers keep by its digest, and no script', async () => {
    const running = await start();
    const page = (await running.get('/', HTML)).text;
    const [, path = ''] = /<link rel="stylesheet" href="([^"]+)"\/>/.exec(page) ?? [];
    const sheet = await running.get(path);
    expect(sheet.status).toBe(200);
    expect(sheet.headers.get('content-type')).toBe('text/css; charset=utf-8');
    expect(sheet.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect(sheet.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(sheet.text).toContain('prefers-color-scheme: dark');
    expect(sheet.text).not.toMatch(/url\(|@import/);
  });

  it('needs nothing that the content security policy forbids', async () => {
    const { get } = await browse(await start());
    for (const path of ['/', '/accounts/acme-eu', `/runs/${RUN_ID}`, '/nope', '/sign-in']) {
      const page = await get(path);
      expect(page).toMatch(/^<!doctype html><html lang="en">/);
      expect(page).not.toMatch(/ style=|<style|<script|<img|<iframe| on[a-z]+="|javascript:/);
      for (const [, target = ''] of page.matchAll(/(?:href|action|src)="([^"]*)"/g)) {
        expect(target).toMatch(/^\/(?!\/)/);
      }
      expect(page.match(/<h1>/g)).toHaveLength(1);
      expect(page).toMatch(/<title>[^<]+ · rolecall<\/title>/);
    }
  });
});
