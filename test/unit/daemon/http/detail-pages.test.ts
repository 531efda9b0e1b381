// The pages of one account and one run: what differs now, progress, and who did what.
import { describe, expect, it } from 'vitest';
import { create, hold, makeOperation, makePlan, makeRun, remove } from '../../report/samples.ts';
import { BEARER, HTML, makeAccount, makeDetail, PENDING, READER, RUN_ID, start } from './stage.ts';
import type { Stage } from './stage.ts';

const HOSTILE = '<script>alert(1)</script>"\'&\u202e\u0000\u200b`';
const OTHER_ID = '0193a5c2-7b1e-7c3d-8e4f-000000000001';

async function pageOf(path: string, parts: Partial<Stage>): Promise<string> {
  return (await (await start({}, parts)).get(path, { ...BEARER, ...HTML })).text;
}

/** A run that ended with the changes that `plan` names. */
function ended(plan: ReturnType<typeof makePlan>, status: 'planned' | 'held' | 'converged' = 'planned') {
  const run = makeRun({ id: RUN_ID, account: 'a', status, planDigest: plan.digest });
  return { run, operations: [], warnings: [], plan };
}

describe('the page of an account', () => {
  it('has the button that approves below the plan, with what it deletes and whom that affects', async () => {
    const operations = [
      create('New'),
      remove('Old', ['p1', 'p2']),
      remove('Older', ['p2']),
      remove('Unused', []),
    ];
    const plan = makePlan({ operations, summary: { create: 1, delete: 3, hold: 0, keep: 0, leave: 0 } });
    const account = makeAccount('a', { pending: { ...PENDING, digest: plan.digest } });
    const page = await pageOf('/accounts/a', { accounts: [account], runs: [ended(plan)] });
    expect(page).toMatch(/1 create and 3 deletes wait for you\. 2 people lose <code[^>]*>Old<\/code>, <code/);
    expect(page).toContain('Approve these 4 changes</button>');
    expect(page.indexOf('Approve these')).toBeGreaterThan(page.indexOf('>Older<'));
  });

  it('has the button that says that nobody can tell whom its deletes affect', async () => {
    const warnings = [
      { code: 'unknown_holders', message: 'the service lists no people', kind: 'skill' },
    ] as const;
    const plan = makePlan({ operations: [remove('Old', [])], warnings });
    const account = makeAccount('a', { pending: { ...PENDING, digest: plan.digest } });
    const page = await pageOf('/accounts/a', { accounts: [account], runs: [ended(plan)] });
    expect(page).toContain('1 delete waits for you. Nobody can tell who has it.');
    expect(page).toContain('Approve this change</button>');
  });

  it('shows what an approval applies before what stays held', async () => {
    const operations = [create('New'), remove('Old', ['p1'])];
    const plan = makePlan({ operations, held: [hold('Perl')], leftAlone: [] });
    const account = makeAccount('a', { pending: { ...PENDING, digest: plan.digest } });
    const page = await pageOf('/accounts/a', { accounts: [account], runs: [ended(plan)] });
    const places = ['To delete', 'To create', 'Approve these 2 changes', 'Held: 1 change waits', 'Perl'].map(
      (text) => page.indexOf(text),
    );
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    expect(places[0]).toBeGreaterThan(0);
  });

  it('shows the command that approves where nothing can be changed over HTTP', async () => {
    const plan = makePlan({ operations: [create('New')], held: [] });
    const accounts = [makeAccount('a', { pending: { ...PENDING, digest: plan.digest } })];
    const stage = { accounts, runs: [ended(plan)] };
    const command = `rolecall approve a ${plan.digest}</pre>`;
    const { get } = await start({ tokens: [] }, stage);
    const page = (await get('/accounts/a', HTML)).text;
    expect(page).toContain(command);
    expect(page).toContain('<strong>Buttons are off. </strong>');
    // A reader may be somebody who must not approve.
    expect((await (await start({}, stage)).get('/accounts/a', { ...READER, ...HTML })).text).not.toContain(
      'rolecall approve',
    );
  });

  it('shows the errors of a file whose name is not a name of an account', async () => {
    const name = 'acme eu & <sons> 100%';
    const issues = [`accounts/${name}.yaml:1:1: not a valid account name`];
    const account = makeAccount(name, { valid: false, issues, lastRun: makeRun({ account: name }) });
    const odd = makeAccount('line\nbreak', { valid: false, issues });
    const { get, url, post, recorded } = await start({}, { accounts: [account, odd] });
    const headers = { ...BEARER, ...HTML };
    const list = (await get('/', headers)).text;
    const [, path = ''] = /href="(\/accounts\/[^"]+)"/.exec(list) ?? [];
    expect(path).toBe(`/accounts/${encodeURIComponent(name)}`);
    expect(list).toContain('line\\u000abreak</a>');
    const page = await get(path, headers);
    expect([page.status, page.text]).toEqual([200, expect.stringContaining('not a valid account name')]);
    for (const [, target = ''] of page.text.matchAll(/href="(\/(?:accounts|runs)[^"]*)"/g)) {
      const answer = await get(target.replaceAll('&amp;', '&'), headers);
      expect([target, answer.status]).toEqual([target, 200]);
      expect(answer.text).not.toContain('is ignored');
    }
    // Signing in leads there, too.
    expect((await get(path, HTML)).text).toContain(`name="next" value="${path}"`);
    const pressed = await post(`${path}/sync`, { ...headers, origin: url });
    expect([pressed.status, pressed.headers.get('location')]).toEqual([303, path]);
    expect(recorded.commands).toEqual([`sync ${name}`]);
  });

  it('has no button that approves while a run makes another plan, and is not loaded again under a person', async () => {
    const plan = makePlan({ operations: [create('New')] });
    const waiting = { pending: { ...PENDING, digest: plan.digest }, activity: 'queued' } as const;
    const on = async (account: Parameters<typeof makeAccount>[1]): Promise<string> =>
      pageOf('/accounts/a', { accounts: [makeAccount('a', account)], runs: [ended(plan)] });
    const page = await on(waiting);
    expect(page).not.toContain('>Approve th');
    expect(await on({ pending: waiting.pending })).toContain('>Approve th');
    // Nor while its file is invalid.
    expect(await on({ pending: waiting.pending, issues: ['a.yaml:1:1: wrong'] })).not.toContain(
      '>Approve th',
    );
    expect(page).toContain('makes a new plan, which can be approved then');
    expect(page).not.toContain('http-equiv="refresh"');
  });

  it('never collapses the deletes of a plan', async () => {
    const names = Array.from({ length: 60 }, (_, index) => `Skill ${index}`);
    const operations = [...names.map((name) => create(name)), ...names.map((name) => remove(`Old ${name}`))];
    const plan = makePlan({ operations });
    const accounts = [makeAccount('a', { lastRun: ended(plan).run })];
    const page = await pageOf('/accounts/a', { accounts, runs: [ended(plan)] });
    expect(page).toContain('<details id="to-create">');
    expect(page).toMatch(/<details id="to-delete[-a-z]*" open=""><summary><h3>To delete[^<]* \(60\)/);
  });

  it('shows what a dry run found, held changes included, and where nothing differs', async () => {
    const plan = makePlan({
      operations: [create('New')],
      held: [hold('Perl', { release: 'wait until 2026-11-22 10:00:00 UTC' })],
    });
    const detail = ended(plan);
    const accounts = [makeAccount('a', { mode: 'plan', lastRun: detail.run })];
    const page = await pageOf('/accounts/a', { accounts, runs: [detail] });
    for (const text of [
      '1 create to apply. Nobody loses anything.',
      'Planned <a',
      'New',
      'Held: 1 change waits for you, or for a date<',
      'Perl',
    ]) {
      expect(page).toContain(text);
    }
    const same = ended(makePlan({ operations: [], held: [] }), 'converged');
    const quiet = await pageOf('/accounts/a', {
      accounts: [makeAccount('a', { lastRun: same.run })],
      runs: [same],
    });
    expect(quiet).toContain('The account matches its file.');
    expect(quiet).not.toContain('to apply');
  });

  it('shows the differences of the last run that planned after later runs failed', async () => {
    const detail = ended(makePlan({ operations: [create('New')], held: [] }));
    const failed = makeRun({ id: OTHER_ID, account: 'a', status: 'failed', planDigest: null, error: 'down' });
    const runs = [{ run: failed, operations: [], warnings: [], plan: null }, detail];
    const page = await pageOf('/accounts/a', { accounts: [makeAccount('a', { lastRun: failed })], runs });
    expect(page).toContain('To create (1)');
    expect(page).toContain('Later runs ended before they could compare the account with its file.');
    const issues = ['accounts/a.yaml:3:1: unknown key "skils"; did you mean "skills"?'];
    const invalid = makeAccount('a', { lastRun: failed, valid: false, issues });
    const broken = await pageOf('/accounts/a', { accounts: [invalid], runs });
    expect(broken).toMatch(/until its file is fixed.*did you mean.*<h2>It is not known what differs/);
    expect(broken).not.toMatch(/to apply|To create|\/sync"/);
  });

  it('shows since when, by whom and why it is paused, and that an approved plan waits for that', async () => {
    const pause = { since: '2026-11-21T08:00:00.000Z', by: HOSTILE, reason: HOSTILE };
    const approved = { digest: PENDING.digest, by: 'alice', expiresAt: '2026-11-22T08:00:00.000Z' };
    const account = makeAccount('a', { pause, pending: PENDING, approved, nextRunAt: null });
    const page = await pageOf('/accounts/a', { accounts: [account] });
    expect(page).toMatch(/Scheduled runs were paused <time[^>]* title="2026-11-21 08:00:00 UTC">/);
    expect(page.match(/&lt;script&gt;alert/g)?.length).toBeGreaterThan(1);
    expect(page).toContain('3 creates and 2 deletes are approved; resume the account to apply them.');
    expect(page).toContain('by alice, expires');
    expect(page).not.toMatch(/next run <time|\u202e|\u200b/);
  });

  it('shows the progress of a run in place of the differences that it changes', async () => {
    const run = makeRun({ id: RUN_ID, account: 'a', status: 'running', finishedAt: null });
    const operations = [1, 2, 3].map((seq) =>
      makeOperation(seq, `S${seq}`, seq < 3 ? {} : { status: 'sent' }),
    );
    const accounts = [makeAccount('a', { lastRun: run, activity: 'running' })];
    const page = await pageOf('/accounts/a', { accounts, runs: [makeDetail({ run, operations })] });
    expect(page).toContain('2 of 3 operations done</span>, 1 waiting for an answer');
    expect(page).toContain(`data-progress="/runs/${RUN_ID}/progress"`);
    // The page has a field, so it is not loaded again by itself.
    expect(page).not.toContain('http-equiv="refresh"');
    expect(page).not.toMatch(/to apply|\/sync"/);
    const queued = await pageOf('/accounts/a', { accounts: [makeAccount('a', { activity: 'queued' })] });
    expect(queued).toContain('A run is queued.');
  });

  it('does not show the counts of an approved plan while a run applies it', async () => {
    const plan = makePlan({ operations: [create('New')], held: [] });
    const run = makeRun({ id: RUN_ID, account: 'a', status: 'running', finishedAt: null });
    const pending = { ...PENDING, digest: plan.digest };
    const approved = { digest: plan.digest, by: 'ada', expiresAt: '2026-11-22T05:00:00.000Z' };
    const account = makeAccount('a', { lastRun: run, activity: 'running', pending, approved });
    const runs = [makeDetail({ run, operations: [], plan }), ended(plan)];
    const page = await pageOf('/accounts/a', { accounts: [account], runs });
    expect(page).toContain('A run is in progress.');
    expect(page).not.toContain('the next run applies it');
    expect(page).not.toContain('1 create');
    // A run that plans again does not replace a plan that waits.
    const waiting = await pageOf('/accounts/a', { accounts: [{ ...account, approved: null }], runs });
    expect(waiting).toContain('1 create waits for you.');
  });

  it('counts as queued after an approval, so that its page follows the run', async () => {
    const approved = { digest: PENDING.digest, by: 'ada', expiresAt: '2026-11-22T05:00:00.000Z' };
    const account = makeAccount('a', { mode: 'approve', pending: PENDING, approved });
    expect(await pageOf('/accounts/a', { accounts: [account] })).toContain('data-live="soon"');
    const pause = { since: '2026-11-21T05:00:00.000Z', by: 'sam', reason: null };
    const paused = await pageOf('/accounts/a', { accounts: [{ ...account, pause }] });
    expect(paused).toContain('data-live="true"');
  });

  it('has no button for a plan that is not the pending one', async () => {
    const other = makePlan({ operations: [create('Other')] });
    const run = makeRun({ id: RUN_ID, account: 'a', status: 'planned', planDigest: other.digest });
    const account = makeAccount('a', { mode: 'approve', pending: { ...PENDING, digest: 'sha256:another' } });
    const runs = [{ run, operations: [], warnings: [], plan: { ...other, digest: 'sha256:replaced' } }];
    const page = await pageOf('/accounts/a', { accounts: [account], runs });
    expect(page).toContain('The plan is no longer stored.');
    expect(page).not.toContain('>Approve th');
  });

  it('reports what became of an approval, or why it lapsed, while its run is the last one', async () => {
    const plan = makePlan({ operations: [create('New'), remove('Old', ['p1'])] });
    const run = makeRun({ id: RUN_ID, account: 'a', planDigest: plan.digest, created: 1, deleted: 1 });
    const operations = [
      makeOperation(1, 'New'),
      makeOperation(2, 'Old', { action: 'delete', remoteId: 'id-3' }),
    ];
    const detail = makeDetail({ run, operations, plan, warnings: [] });
    const at = '2026-11-21T05:20:00.000Z';
    const approve = { seq: 1, account: 'a', at, action: 'approve', by: 'dana', via: 'http' } as const;
    const accounts = [makeAccount('a', { lastRun: run })];
    const actions = [{ ...approve, detail: plan.digest, by: 'http' }];
    const page = await pageOf('/accounts/a', { accounts, runs: [detail], actions });
    expect(page).toMatch(
      /notice good.*1 created, 1 deleted\. Converged: nothing left to do\..*1 person lost/,
    );
    expect(page).toMatch(/Approved with the token http <time.*token <strong>http<\/strong> approved a plan/);
    const held = { ...detail, run: { ...run, status: 'held', held: 2 } } as const;
    const rest = await pageOf('/accounts/a', { accounts, runs: [held], actions });
    expect(rest).toMatch(/notice good.*1 created, 1 deleted\. 2 changes are held; nothing else remains\./);
    const message = 'the approval of the plan has lapsed: the plan has changed since it was approved';
    const lapsed = { ...detail, warnings: [{ code: 'approval_lapsed', message }] };
    const other = [{ ...approve, detail: 'sha256:other' }];
    const changed = await pageOf('/accounts/a', { accounts, runs: [lapsed], actions: other });
    expect(changed).toMatch(/notice warn.*Approved by dana <time[^;]*; the approval of the plan has lapsed/);
    const later = await pageOf('/accounts/a', { accounts, runs: [detail], actions: other });
    expect(later).not.toContain('Approved by dana');
  });

  it('shows equal runs in a row as one, the sizes of its lists, and their course over the days', async () => {
    const runs = [5, 4, 3, 2, 1].map((hour) =>
      makeDetail({
        run: makeRun({
          id: `${RUN_ID.slice(0, -1)}${hour}`,
          startedAt: `2026-11-21T0${hour}:00:00.000Z`,
          held: hour === 1 ? 2 : 0,
        }),
      }),
    );
    const counts = [12, 14, 13].flatMap((skills, index) =>
      (['skill', 'role', 'resource'] as const).map((kind) => ({
        takenAt: `2026-11-${19 + index}T05:00:00.000Z`,
        kind,
        entries: kind === 'skill' ? skills : 3,
      })),
    );
    const page = await pageOf('/accounts/acme-us', { runs, counts });
    expect(page).toMatch(/and 3 equal runs, the first <time datetime="2026-11-21T02:00/);
    expect(page.match(/<th scope="row">/g)).toHaveLength(2);
    expect(page).toContain('13 skills, 3 roles, 3 people');
    expect(page).toMatch(
      /15 to 17.*<svg class="chart" role="img"[^>]*aria-label="15 entries at first, 16 now"/,
    );
  });

  it('shows what most people have first of what is held, and the others folded', async () => {
    const held = Array.from({ length: 9 }, (_, index) =>
      hold(`Held ${index}`, { rules: ['in_use', 'too_many'], usedBy: index === 0 ? ['ada', 'bob'] : [] }),
    );
    const detail = ended(makePlan({ operations: [], held }), 'held');
    const accounts = [makeAccount('a', { lastRun: detail.run })];
    const page = await pageOf('/accounts/a', { accounts, runs: [detail] });
    expect(page).toContain('Nothing to apply.');
    expect(page).toContain('Held: 9 changes wait for you<');
    // Said once for all of them.
    expect(page).toContain('All of them: too many deletes.');
    expect(page).toMatch(
      /Held 0<\/code><span>2 people have it: ada, bob<\/span>.*Held 4<.*<summary>4 more: nobody has them<\/summary>.*Held 5</,
    );
  });

  it('keeps its history, and how to restore what was deleted, when its file is gone', async () => {
    const run = makeRun({ id: RUN_ID, account: 'gone', deleted: 2 });
    const { get } = await start({}, { accounts: [], runs: [makeDetail({ run })] });
    const page = await get('/accounts/gone', { ...BEARER, ...HTML });
    expect(page.status).toBe(200);
    expect(page.text).toMatch(/<h1>gone <span class="badge">removed<.*2 entries were deleted <time/);
    expect(page.text).toMatch(
      new RegExp(`<pre[^>]*>rolecall restore ${RUN_ID}</pre>.*href="/runs/${RUN_ID}"`),
    );
    expect(page.text).not.toContain('/sync"');
    expect((await get('/accounts/never', { ...BEARER, ...HTML })).status).toBe(404);
    expect((await get('/api/v1/accounts/gone', BEARER)).status).toBe(404);
  });

  it('shows who did what, the latest twenty actions', async () => {
    const action = (detail: string | null, parts: object = {}) =>
      ({
        seq: 1,
        account: 'acme-eu',
        at: '2026-11-21T05:24:10.123Z',
        action: 'pause',
        by: 'ci',
        via: 'http',
        detail,
        ...parts,
      }) as const;
    const more = Array.from({ length: 30 }, (_, index) => action(`reason ${index}`));
    const actions = [action(PENDING.digest, { action: 'approve', by: HOSTILE, via: 'cli' }), ...more];
    const page = await pageOf('/accounts/acme-eu', { actions });
    expect(page).toContain('approved a plan');
    expect(page).toContain('&lt;script&gt;alert(1)');
    expect(page).toContain('reason 18');
    expect(page).not.toContain('reason 19');
  });
});

describe('the page Activity', () => {
  it('lists what operators did with all accounts, fifty on each page, and each only once', async () => {
    const actions = Array.from({ length: 120 }, (_, index) => ({
      seq: 120 - index,
      account: index === 0 ? '*' : 'acme-eu',
      at: '2026-11-21T05:24:10.123Z',
      action: index === 0 ? ('fetch' as const) : ('pause' as const),
      by: 'ada',
      via: 'http' as const,
      detail: `reason-${120 - index}.`,
    }));
    let path: string | undefined = '/activity';
    const seen: string[] = [];
    while (path !== undefined) {
      const page = await pageOf(path, { actions });
      expect(page).toContain('<a href="/activity" aria-current="page">Activity</a>');
      seen.push(...(page.match(/reason-\d+\./g) ?? []));
      path = /href="([^"]+)" rel="next"/.exec(page)?.[1];
    }
    expect(seen).toEqual(actions.map(({ detail }) => detail));
    expect(await pageOf('/activity', { actions })).toContain('all accounts');
    expect(await pageOf('/activity?before=1', { actions })).toContain('There are no older actions.');
    expect(await pageOf('/activity?before=x', {})).toContain('No operator has done anything yet.');
  });
});

describe('the page of a run', () => {
  it('collapses a long section, and shows a very long one in parts', async () => {
    const names = Array.from({ length: 1100 }, (_, index) => `Skill ${index}`);
    const operations = names.map((name, index) => makeOperation(index + 1, name));
    const { get } = await start({}, { runs: [makeDetail({ operations, warnings: [], plan: null })] });
    const at = async (query: string) => (await get(`/runs/${RUN_ID}${query}`, { ...BEARER, ...HTML })).text;
    const shown = (page: string): string[] => page.match(/Skill \d+/g) ?? [];
    const first = await at('');
    expect(first).toContain('<details id="created"><summary><h3>Created (1100)</h3>');
    expect(first).toContain('1 to 500 of 1100');
    expect(shown(first)).toEqual(names.slice(0, 500));
    const last = await at('?group=created&page=3');
    expect(last).toContain('<details id="created" open=""><summary><h3>Created (1100)</h3>');
    expect(last).toMatch(/page=2#created"[^>]*>Previous/);
    expect(last).not.toContain('>Next<');
    expect(shown(last)).toEqual(names.slice(1000));
    expect(shown(await at('?group=created&page=99'))).toEqual(names.slice(1000));
    expect(shown(await at('?group=%3Cb%3E&page=1e9'))).toEqual(names.slice(0, 500));
  });

  it('shows one part of many held changes, and what part it is', async () => {
    const held = Array.from({ length: 450 }, (_, index) => hold(`Held ${index}`));
    const plan = makePlan({ held });
    const run = makeRun({ id: RUN_ID, status: 'held' });
    const { get } = await start({}, { runs: [makeDetail({ run, operations: [], warnings: [], plan })] });
    const page = (await get(`/runs/${RUN_ID}?held=2`, { ...BEARER, ...HTML })).text;
    expect(page).toContain('Held changes 201 to 400 of 450');
    expect(page).toContain(`/runs/${RUN_ID}?held=1`);
    expect(page).toContain(`/runs/${RUN_ID}?held=3`);
    expect(page).toContain('Held: 450 changes wait for you');
    expect(page).toMatch(/Run: .* 450 held/);
    expect((await get(`/runs/${RUN_ID}?held=9`, { ...BEARER, ...HTML })).text).toContain(
      'Held changes 401 to 450 of 450',
    );
  });

  it('has its progress alone at an address of its own, until it has ended', async () => {
    const at = `/runs/${RUN_ID}/progress`;
    const detail = makeDetail();
    const { get, stage } = await start(
      {},
      {
        runs: [{ ...detail, run: makeRun({ id: RUN_ID, status: 'running' }) }],
      },
    );
    expect((await get(at)).status).toBe(401);
    const { status, text } = await get(at, READER);
    expect([status, text]).toEqual([
      200,
      expect.stringMatching(/^<p><span class="strong">1 of 2 operations done/),
    ]);
    stage.runs = [detail];
    expect(await get(at, READER)).toMatchObject({ status: 204, text: '' });
    expect((await get('/runs/01900000-0000-7000-8000-000000000000/progress', READER)).status).toBe(404);
  });

  it('shows progress in place of totals while it works', async () => {
    const operations = Array.from({ length: 8 }, (_, index) =>
      makeOperation(index + 1, `Skill ${index}`, index < 3 ? {} : { status: 'pending' }),
    );
    const run = makeRun({ id: RUN_ID, status: 'running', finishedAt: null, created: 3 });
    const detail = { run, operations, warnings: [], plan: null };
    const page = await pageOf(`/runs/${RUN_ID}`, { runs: [detail] });
    expect(page).toContain('3 of 8 operations done</span>');
    expect(page).toContain(`data-progress="/runs/${RUN_ID}/progress"`);
    expect(page).not.toMatch(/0 deleted|0 failed|0 held/);
    const progress = { status: 'running', total: 8, done: 6, failed: 1, sent: 0, unknown: 1 } as const;
    const fast = { ...progress, firstSentAt: '2026-11-21T05:00:00.000Z' };
    const nowMs = () => Date.parse('2026-11-21T05:00:14.000Z');
    const { get } = await start({ nowMs }, { runs: [detail], progress: fast });
    const later = (await get(`/runs/${RUN_ID}`, { ...BEARER, ...HTML })).text;
    expect(later).toContain('1 failed</span>, 1 unknown · 0.5 per second · about 2 s left');
    expect(later).toContain('<progress max="8" value="7"');
  });
});
