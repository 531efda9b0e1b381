// The JSON API: its responses to valid and to invalid requests.
import { describe, expect, it } from 'vitest';
import { makeOperation, MIXED } from '../../report/samples.ts';
import { BEARER, JSON_BODY, makeAccount, PENDING, POSTED, READER, RUN_ID, start } from './stage.ts';

describe('the reading API', () => {
  it('returns every account, alone and in a list, with only the documented fields', async () => {
    const secretive = { ...makeAccount('acme-eu'), token: 'hunter2' };
    const { get } = await start({}, { accounts: [secretive, makeAccount('b', { lastRun: null })] });
    const list = await get('/api/v1/accounts', BEARER);
    expect(list.headers.get('content-type')).toMatch(/^application\/json/);
    expect(list.text).not.toContain('hunter2');
    expect(list.json()).toMatchObject({ accounts: [{ name: 'acme-eu' }, { name: 'b', lastRun: null }] });
    expect((await get('/api/v1/accounts/acme-eu', BEARER)).json()).toEqual({
      name: 'acme-eu',
      state: 'converged',
      valid: true,
      issues: [],
      mode: 'apply',
      schedule: '*/15 * * * *',
      timezone: 'Etc/UTC',
      region: 'eu',
      remoteAccountId: '4815162342',
      paused: false,
      pause: null,
      activity: 'idle',
      nextRunAt: '2026-11-21T05:45:00.000Z',
      consecutiveFailures: 0,
      drift: null,
      pending: null,
      approved: null,
      lastRun: expect.objectContaining({ schemaVersion: 1, account: 'acme-eu', status: 'converged' }),
      lastSuccessAt: '2026-11-21T05:24:22.500Z',
    });
  });

  it('returns thousands of accounts in parts, as one list', async () => {
    const names = Array.from({ length: 1200 }, (_, index) => `account-${index}`);
    const { get } = await start({}, { accounts: names.map((name) => makeAccount(name)) });
    const { json, headers } = await get('/api/v1/accounts', BEARER);
    const listed = json() as { readonly accounts: readonly { readonly name: string }[] }; // by the schema
    expect(listed.accounts.map(({ name }) => name)).toEqual(names);
    expect(headers.get('content-type')).toBe('application/json');
  });

  it('returns pending plans, approvals and drift', async () => {
    const approved = { digest: PENDING.digest, by: 'http', expiresAt: '2026-11-22T00:00:00.000Z' };
    const { get } = await start(
      {},
      { accounts: [makeAccount('a', { pending: PENDING, approved, drift: { create: 1, delete: 2 } })] },
    );
    expect((await get('/api/v1/accounts/a', BEARER)).json()).toMatchObject({
      pending: PENDING,
      approved,
      drift: { create: 1, delete: 2 },
    });
  });

  it('returns a run as the command line prints it, by its id or a prefix', async () => {
    const { get } = await start();
    const complete = (await get(`/api/v1/runs/${RUN_ID}`, BEARER)).json();
    expect(complete).toMatchObject({ schemaVersion: 1, id: RUN_ID, status: 'partial', plan: MIXED });
    const { runId: _, ...operation } = makeOperation(1, 'Kubernetes', { remoteId: 'e1' });
    expect(complete).toHaveProperty('operations.0', operation);
    expect((await get('/api/v1/runs/0193a5c2', BEARER)).json()).toEqual(complete);
  });

  it('returns the state of the daemon', async () => {
    const { get, stage } = await start();
    const { configurationErrors: _errors, ...published } = stage.overview;
    expect((await get('/api/v1/status', BEARER)).json()).toEqual({ ...published, configurationValid: true });
    stage.overview = { ...stage.overview, configurationErrors: 1 };
    stage.accounts = [makeAccount('acme-eu', { serviceValid: false, issues: ['rolecall.yaml:1:1: wrong'] })];
    expect((await get('/api/v1/status', BEARER)).json()).toMatchObject({ configurationValid: false });
    expect((await get('/api/v1/accounts/acme-eu', BEARER)).json()).toMatchObject({
      state: 'service_invalid',
      valid: true,
      issues: ['rolecall.yaml:1:1: wrong'],
    });
  });
});

describe('the list of runs', () => {
  it('is filtered by the query, and has fifty runs without one', async () => {
    const nowMs = Date.UTC(2026, 10, 21);
    const { get, recorded } = await start({ nowMs: () => nowMs });
    expect((await get('/api/v1/runs', BEARER)).json()).toMatchObject({
      runs: [{ schemaVersion: 1, id: RUN_ID }],
    });
    await get('/api/v1/runs?account=acme-eu&status=held&since=24h&limit=1000', BEARER);
    await get('/api/v1/runs?since=7d&limit=1', BEARER);
    await get('/api/v1/runs?since=99999999d', BEARER);
    expect(recorded.filters).toEqual([
      { limit: 50 },
      { limit: 1000, account: 'acme-eu', status: 'held', sinceMs: nowMs - 86_400_000 },
      { limit: 1, sinceMs: nowMs - 7 * 86_400_000 },
      { limit: 50, sinceMs: 0 },
    ]);
  });

  it.each([
    ['limit=0', 'from 1 to 1000'],
    ['limit=1001', 'from 1 to 1000'],
    ['limit=1e2', 'from 1 to 1000'],
    ['limit=', 'from 1 to 1000'],
    ['limit=-1', 'from 1 to 1000'],
    ['status=done', 'running, planned, converged'],
    ['status=', 'running, planned, converged'],
    ['since=yesterday', '30m, 24h or 7d'],
    ['since=24', '30m, 24h or 7d'],
    ['since=-1h', '30m, 24h or 7d'],
    ['account=../x', 'letters, digits'],
    ['account=a%00', 'letters, digits'],
    ['account=', 'letters, digits'],
    ['statuss=held', 'the parameters are account, status, since and limit'],
    ['__proto__=x', 'the parameters are account'],
    ['limit=1&limit=2', 'more than once'],
  ])('is refused for an invalid query: %s', async (query, fix) => {
    const { get, recorded } = await start();
    const answer = await get(`/api/v1/runs?${query}`, BEARER);
    expect(answer.status).toBe(400);
    expect(answer.json()).toMatchObject({
      error: { code: 'bad_request', message: expect.stringContaining(fix) },
    });
    expect(recorded.calls).toBe(0);
  });
});

describe('the commands of an operator', () => {
  const path = (command: string, name = 'acme-eu') => `/api/v1/accounts/${name}/${command}`;

  it('run an account, unless the daemon is stopping', async () => {
    const { post, stage } = await start();
    const queued = await post(path('sync'), BEARER);
    expect([queued.status, queued.json()]).toEqual([202, { status: 'queued' }]);
    stage.sync = 'stopping';
    const stopping = await post(path('sync'), BEARER);
    expect([stopping.status, stopping.json()]).toMatchObject([503, { error: { code: 'stopping' } }]);
  });

  it('let the daemon fetch its configuration, where it fetches one', async () => {
    const { post, stage, recorded, noted } = await start();
    const fetch = async (headers: Readonly<Record<string, string>>) => {
      const { status, json } = await post('/api/v1/source/fetch', headers);
      return [status, json()];
    };
    expect(await fetch(BEARER)).toEqual([202, { status: 'queued' }]);
    expect(recorded.commands).toEqual(['fetch for http']);
    expect(noted).toMatchObject([{ event: 'operator_action', action: 'fetch', by: 'http' }]);
    stage.fetch = 'no_source';
    expect(await fetch(BEARER)).toMatchObject([
      409,
      { error: { code: 'no_source', message: expect.stringContaining('`source.git` is not set') } },
    ]);
    stage.fetch = 'stopping';
    expect(await fetch(BEARER)).toMatchObject([503, { error: { code: 'stopping' } }]);
    expect(await fetch(READER)).toMatchObject([403, { error: { code: 'read_only' } }]);
  });

  it('pause an account with a reason that is well-formed afterwards', async () => {
    const { post, get } = await start();
    await post(path('pause'), { ...BEARER, ...JSON_BODY }, String.raw`{"reason":"half \ud800"}`);
    expect((await get('/api/v1/accounts/acme-eu', BEARER)).json()).toMatchObject({
      pause: { reason: 'half \ufffdd800' },
    });
  });

  it('approve the intended plan, and no other', async () => {
    const { post, recorded } = await start();
    const approve = (body?: string, name?: string) =>
      post(path('approve', name), { ...BEARER, ...JSON_BODY }, body);
    const expected = { status: 'approved', digest: PENDING.digest, expiresAt: '2026-11-22T00:00:00.000Z' };
    const answer = await approve(JSON.stringify({ digest: PENDING.digest }));
    expect([answer.status, answer.json()]).toEqual([200, expected]);
    expect((await approve('{"digest":"ab12cd34"}')).status).toBe(200);
    const other = await approve('{"digest":"00000000"}');
    expect([other.status, other.json()]).toMatchObject([
      409,
      { error: { code: 'other_plan', pending: PENDING.digest } },
    ]);
    const nothing = await approve('{"digest":"ab12cd34"}', 'acme-us');
    expect([nothing.status, nothing.json()]).toMatchObject([409, { error: { code: 'nothing_pending' } }]);
    expect(recorded.commands.slice(0, 2)).toEqual([
      `approve acme-eu ${PENDING.digest}`,
      'approve acme-eu ab12cd34',
    ]);
  });

  it('approve many plans in one request, with a result for each', async () => {
    const accounts = ['acme-eu', 'b', 'c', 'd'].map((name) =>
      makeAccount(name, { pending: name === 'c' ? null : PENDING }),
    );
    const { post, recorded, noted } = await start({}, { accounts });
    const given = [
      ['nobody', 'ab12cd34'],
      ['b', '00000000'],
      ['c', 'ab12cd34'],
      ['acme-eu', PENDING.digest],
    ].map(([account, digest]) => ({ account, digest }));
    const answer = await post('/api/v1/approvals', { ...BEARER, ...JSON_BODY }, JSON.stringify(given));
    const message = expect.any(String);
    expect([answer.status, answer.json()]).toEqual([
      200,
      [
        { account: 'nobody', status: 'not_found', message },
        { account: 'b', status: 'other_plan', message, pending: PENDING.digest },
        { account: 'c', status: 'nothing_pending', message },
        {
          account: 'acme-eu',
          status: 'approved',
          digest: PENDING.digest,
          expiresAt: '2026-11-22T00:00:00.000Z',
        },
      ],
    ]);
    expect(recorded.commands).toHaveLength(3);
    expect(noted.filter((line) => JSON.stringify(line).includes('operator_action'))).toHaveLength(4);
  });

  it.each([
    '',
    '{}',
    '[{}]',
    '[{"account":"acme-eu"}]',
    '[{"account":"a","digest":"ab12cd34","x":1}]',
    '["a"]',
  ])('approve none of the plans of an invalid list: %j', async (body) => {
    const { post, recorded } = await start();
    const good = '{"account":"acme-eu","digest":"ab12cd34"}';
    for (const each of [body, body.replace('[', `[${good},`)]) {
      const answer = await post('/api/v1/approvals', { ...BEARER, ...JSON_BODY }, each);
      expect([answer.status, answer.json()]).toMatchObject([400, { error: { code: 'bad_request' } }]);
    }
    expect(recorded.commands).toEqual([]);
  });

  it.each([
    ['that names an account twice', ['acme-us', 'acme-us']],
    ['of more accounts than there are', ['acme-us', 'acme-eu', 'x']],
  ])('approve none of the plans of a list %s', async (_, accounts) => {
    const { post, recorded } = await start();
    const body = JSON.stringify(accounts.map((account) => ({ account, digest: 'ab12cd34' })));
    const answer = await post('/api/v1/approvals', { ...BEARER, ...JSON_BODY }, body);
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining('at most once')]);
    expect(recorded.commands).toEqual([]);
  });

  it('approve thousands of plans, and other requests are served meanwhile', async () => {
    const names = Array.from({ length: 5000 }, (_, index) => `account-${index}`);
    const { post, recorded } = await start({}, { accounts: names.map((name) => makeAccount(name)) });
    const body = JSON.stringify(names.map((account) => ({ account, digest: 'ab12cd34' })));
    const answer = post('/api/v1/approvals', { ...BEARER, ...JSON_BODY }, body);
    while (recorded.commands.length === 0) await new Promise((resolve) => setImmediate(resolve));
    expect(recorded.commands.length).toBeLessThan(5000);
    expect((await answer).status).toBe(200);
  });

  it('are answered with 404 for an unknown account', async () => {
    const { post } = await start();
    for (const command of ['sync', 'approve', 'pause', 'resume']) {
      const body = command === 'approve' ? '{"digest":"ab12cd34"}' : '';
      const answer = await post(path(command, 'nobody'), BEARER, body);
      expect([command, answer.status, answer.json()]).toMatchObject([
        command,
        404,
        { error: { code: 'not_found' } },
      ]);
    }
  });

  it.each([
    '{',
    'null',
    '[]',
    '"x"',
    '1',
    '',
    ' ',
    '{}',
    '{"digest":null}',
    '{"digst":"ab12cd34"}',
    '{"digest":""}',
    '{"digest":7}',
    '{"digest":"ab12"}',
    '{"digest":"sha256:AB12CD34"}',
    '{"digest":"ab12cd34 "}',
    '{"__proto__":{}}',
    '\xff',
  ])('are refused with an invalid body: %j', async (body) => {
    const { post, recorded } = await start();
    const answer = await post(path('approve'), BEARER, Buffer.from(body, 'latin1'));
    expect([answer.status, answer.json()]).toMatchObject([400, { error: { code: 'bad_request' } }]);
    expect((await post(path('sync'), BEARER, '{"force":true}')).status).toBe(400);
    expect(recorded.commands).toEqual([]);
  });
});

describe('proposed changes', () => {
  const send = (on: Awaited<ReturnType<typeof start>>, body: unknown) =>
    on.post('/api/v1/plans', { ...BEARER, ...JSON_BODY }, JSON.stringify(body));

  it('are planned with the history of the daemon', async () => {
    const failed = {
      schemaVersion: 1,
      account: 'b',
      status: 'failed',
      error: { code: 'unauthorized', message: 'no' },
    } as const;
    const on = await start({}, { plans: [MIXED, failed] });
    const desired = { skill: ['Go', { name: 'Rust', formerly: ['Oxide'] }], allowedDeletes: [] };
    const answer = await send(on, [
      { ...POSTED, desired },
      { ...POSTED, account: 'b', commit: null },
    ]);
    expect([answer.status, answer.json()]).toEqual([200, [MIXED, failed]]);
    const skill = [
      { name: 'Go', formerly: [] },
      { name: 'Rust', formerly: ['Oxide'] },
    ];
    expect(on.recorded.posted).toEqual([
      { ...POSTED, desired: { skill, allowedDeletes: [] } },
      { ...POSTED, account: 'b', commit: null },
    ]);
  });

  const { policy } = POSTED;
  const named = (skill: unknown) => [{ ...POSTED, desired: { skill, allowedDeletes: [] } }];
  it.each<[unknown, string]>([
    [POSTED, 'expected array'],
    [[{ ...POSTED, baseUrl: 'https://thief.example.com' }], 'baseUrl'],
    [[{ ...POSTED, token: { env: 'OTHER' } }], 'token'],
    [[POSTED, POSTED], 'at most once'],
    [named([7]), '[0].desired.skill[0]'],
    [named(['x'.repeat(1001)]), '[0].desired.skill[0]'],
    [named(['A\u0301', '\u00c1']), 'twice'],
    [[{ ...POSTED, policy: { ...policy, maxDeletes: -1 } }], '[0].policy.maxDeletes'],
    [[{ ...POSTED, policy: { ...policy, freeze: [{ cron: 'never', forMs: 1 }] } }], '[0].policy.freeze'],
    [[{ ...POSTED, commit: { sha: 'a'.repeat(40), committedAt: 'then' } }], '[0].commit.committedAt'],
    [Array.from({ length: 501 }, (_, n) => ({ ...POSTED, account: `a${n}` })), '<=500'],
  ])('are refused with the first problem: %j', async (body, fix) => {
    const on = await start();
    const answer = await send(on, body);
    expect([answer.status, answer.json()]).toMatchObject([
      400,
      { error: { code: 'bad_request', message: expect.stringContaining(fix) } },
    ]);
    expect(on.recorded.posted).toEqual([]);
  });

  it('wait while others are planned, and are refused when four wait already', async () => {
    const on = await start();
    let finish = (): void => undefined;
    const finished = new Promise((resolve) => (finish = () => resolve([MIXED])));
    Object.defineProperty(on.stage, 'plans', { get: () => finished });
    const statuses: number[] = [];
    const posts = Array.from({ length: 6 }, async () => {
      const { status } = await send(on, [POSTED]);
      statuses.push(status);
    });
    await expect.poll(() => statuses).toEqual([503]);
    await expect.poll(() => on.recorded.posted.length).toBe(1);
    finish();
    await Promise.all(posts);
    expect(statuses).toEqual([503, 200, 200, 200, 200, 200]);
  });
});
