// What retention deletes and keeps, and how runs are found.
import { describe, expect, it } from 'vitest';
import { plan } from '../core/builders.ts';
import type { Fixture } from './fixture.ts';
import { DAY_MS, fixture, listed, operation, result, runId, T0 } from './fixture.ts';

const NOW = T0 + 1000 * DAY_MS;
const RETENTION = 90 * DAY_MS;

/** A run of the given number of days ago, with a snapshot and a plan of its own. */
async function runOf(
  store: Fixture,
  n: number,
  daysAgo: number,
  more: { account?: string; good?: boolean } = {},
): Promise<string> {
  const { account = 'acme', good = true } = more;
  const atMs = NOW - daysAgo * DAY_MS;
  const id = await store.begin(n, { atMs, account, remote: account });
  await store.record(
    id,
    { skill: [listed(`s${String(n)}`, `S${String(n)}`)] },
    { account, remoteAccountId: account, takenAtMs: atMs, good, plan: plan({ skills: [`S${String(n)}`] }) },
  );
  await store.end(id, 'converged', atMs);
  return id;
}

const ids = (store: Fixture, sql: string) => store.rows<{ id: string }>(sql).map(({ id }) => id);
const runs = (store: Fixture) => ids(store, 'select id from runs order by id');
const withSnapshots = (store: Fixture) =>
  ids(store, 'select distinct run_id as id from snapshots order by run_id');

describe('pruning', () => {
  it('deletes what is older than the settings allow, with all dependent rows', async () => {
    const store = await fixture();
    const old = await runOf(store, 1, 91);
    const young = await runOf(store, 2, 89);
    expect(await store.prune(RETENTION, NOW)).toMatchObject({ runs: 1, snapshots: 3 });
    expect(runs(store)).toEqual([young]);
    expect(await store.reader.run(old)).toBeNull();
    const bodies = store.rows<{ snapshots: number; plans: number }>(
      'select (select count(*) from snapshot_bodies) as snapshots, (select count(*) from plan_bodies) as plans',
    );
    // The young run's skills, and the empty list that its roles and people share.
    expect(bodies).toEqual([{ snapshots: 2, plans: 1 }]);
  });

  it('never deletes the last good snapshot of an account, however old', async () => {
    const store = await fixture();
    const good = await runOf(store, 1, 900);
    await runOf(store, 2, 500, { good: false });
    const latest = await runOf(store, 3, 400, { good: false });
    await store.prune(RETENTION, NOW);
    expect([runs(store), withSnapshots(store)]).toEqual([[good, latest], [good]]);
  });

  it('never deletes the last good snapshot of an account that is renamed meanwhile', async () => {
    const store = await fixture();
    // More than one query returns.
    for (let n = 1; n <= 201; n += 1) {
      await store.end(
        await store.begin(n, { account: 'later', remote: 'later', atMs: T0 + n }),
        'failed',
        T0,
      );
    }
    const good = await runOf(store, 300, 500);
    store.afterDelete(
      'runs',
      "exists (select 1 from accounts where name = 'acme')",
      `update runs set account = 'later' where account = 'acme';
       update snapshots set account = 'later' where account = 'acme';
       update accounts set last_good_run = '${good}' where name = 'later';
       delete from accounts where name = 'acme'`,
    );
    await store.prune(RETENTION, NOW);
    expect(store.rows('select name from accounts')).toEqual([{ name: 'later' }]);
    expect([runs(store), withSnapshots(store)]).toEqual([[runId(201), good], [good]]);
  });

  it('keeps the latest run of an account, however old', async () => {
    const store = await fixture();
    await runOf(store, 1, 300);
    const latest = await runOf(store, 2, 200, { good: false });
    const good = runId(1);
    await store.prune(RETENTION, NOW);
    expect(runs(store)).toEqual([good, latest]);
  });

  it('keeps a run while one of its creates is unsettled', async () => {
    const store = await fixture();
    const lease = await store.take(runId(1));
    const id = await store.begin(1, { atMs: T0 });
    await store.journal.addOperations(id, [operation()]);
    await store.journal.commitOperations(id, lease, [], [result(1, { status: 'unknown' })]);
    await store.end(id, 'partial');
    await store.prune(RETENTION, NOW);
    expect(runs(store)).toEqual([id]);
  });

  it('keeps a run that is still running', async () => {
    const store = await fixture();
    const id = await store.begin(1, { atMs: T0 });
    await store.prune(RETENTION, NOW);
    expect(runs(store)).toEqual([id]);
  });

  it('keeps two days for the rules that need them, however short retention is', async () => {
    const store = await fixture();
    const [old, young] = [await runOf(store, 1, 3), await runOf(store, 2, 1)];
    await runOf(store, 3, 0);
    await store.prune(0, NOW);
    expect(runs(store)).toContain(young);
    expect(runs(store)).not.toContain(old);
  });
});

describe('runs that found and changed nothing', () => {
  /** One every six hours. */
  async function quietRuns(store: Fixture, days: number): Promise<void> {
    for (let n = 0; n < days * 4; n += 1) {
      const atMs = T0 + n * 6 * 3_600_000;
      const id = await store.begin(n + 1, { atMs });
      await store.record(id, { skill: [listed('a', `A${n}`)] }, { takenAtMs: atMs, plan: plan({}) });
      await store.end(id, 'converged', atMs + 1000);
    }
  }
  const starts = (store: Fixture) =>
    store
      .rows<{ at: string }>('select started_at as at from runs order by id')
      .map(({ at }) => at.slice(8, 13));

  it('stay for a week; of older ones, the first of each day stays, with its snapshots', async () => {
    const store = await fixture();
    await quietRuns(store, 9);
    const nowMs = T0 + 9 * DAY_MS;
    expect(await store.prune(RETENTION, nowMs)).toMatchObject({ runs: 5 });
    expect(starts(store).slice(0, 5)).toEqual(['10T12', '11T00', '12T00', '12T12', '12T18']);
    expect(store.rows('select count(*) as n from snapshots')).toEqual([{ n: 3 * 31 }]);
    expect(await store.prune(RETENTION, nowMs)).toMatchObject({ runs: 0 });
  });

  it('stay when a row of the account refers to them', async () => {
    const store = await fixture();
    await quietRuns(store, 1);
    store.execute('update accounts set last_good_run = ?, pending_run = ?', runId(2), runId(3));
    await store.prune(RETENTION, T0 + 30 * DAY_MS);
    // The day of the first two ends at midnight.
    expect(runs(store)).toEqual([1, 2, 3, 4].map(runId));
    store.execute('update accounts set last_good_run = null, pending_run = null');
    await store.prune(RETENTION, T0 + 30 * DAY_MS);
    expect(runs(store)).toEqual([1, 3, 4].map(runId));
  });

  it.each([
    ['wrote', 'update runs set created = 1'],
    ['held something', "update runs set status = 'held', held = 1"],
    ['planned something', "update runs set status = 'planned', planned_creates = 1"],
    ['failed', "update runs set status = 'failed'"],
    [
      'tried something',
      "insert into operations (run_id, seq, kind, action, name, status) select id, 1, 'skill', 'create', 'a', 'skipped' from runs",
    ],
  ])('are not those that %s', async (_, change) => {
    const store = await fixture();
    await quietRuns(store, 1);
    store.execute(change);
    await store.prune(RETENTION, T0 + 30 * DAY_MS);
    expect(runs(store)).toHaveLength(4);
  });
});

describe('runs', () => {
  it('are listed newest first, by account, status and time, up to a limit', async () => {
    const store = await fixture();
    const [one, two] = [await runOf(store, 1, 9), await runOf(store, 2, 8)];
    const other = await runOf(store, 3, 7, { account: 'other' });
    const open = await store.begin(4, { atMs: NOW });
    const listedAs = async (filter: Parameters<typeof store.reader.runs>[0]) =>
      (await store.reader.runs(filter)).map(({ id }) => id);
    expect(await listedAs({ limit: 99 })).toEqual([open, other, two, one]);
    expect(await listedAs({ limit: 1 })).toEqual([open]);
    expect(await listedAs({ limit: 99, account: 'acme' })).toEqual([open, two, one]);
    expect(await listedAs({ limit: 99, status: 'running' })).toEqual([open]);
    expect(await listedAs({ limit: 99, sinceMs: NOW - 8 * DAY_MS })).toEqual([open, other, two]);
  });

  it('are found by their id and by an unambiguous prefix', async () => {
    const store = await fixture();
    const find = async (id: string) => (await store.reader.run(id))?.run.id ?? null;
    const one = await store.begin(0x1a);
    const two = await store.begin(0x1b);
    expect(await find(one)).toBe(one);
    expect(await find(two.slice(0, -1))).toBeNull();
    store.execute('update runs set id = ? where id = ?', '02aa0000-0000-7000-8000-000000000000', two);
    expect(await find('02aa')).toBe('02aa0000-0000-7000-8000-000000000000');
    expect(await find(runId(0x1a).slice(0, 8))).toBe(one);
    expect(await find('02a')).toBeNull();
    expect(await find('%')).toBeNull();
    expect(await find("' or 1=1 --")).toBeNull();
  });

  it('contain their plan, with the time of the run', async () => {
    const store = await fixture();
    const made = plan({ skills: ['New'] });
    const [one, two] = [await store.begin(1), await store.begin(2)];
    for (const id of [one, two]) await store.record(id, {}, { plan: { ...made, createdAt: `at ${id}` } });
    const detail = await store.reader.run(one);
    expect(detail?.plan).toEqual({ ...made, createdAt: detail?.run.startedAt });
    expect(detail?.run.planDigest).toBe(made.digest);
    expect(store.rows('select count(*) as n from plan_bodies')).toEqual([{ n: 1 }]);
  });

  it('count as failures in a row, except interrupted ones', async () => {
    const store = await fixture();
    const failures = async (n: number, status: Parameters<Fixture['end']>[1]) => {
      await store.end(await store.begin(n), status);
      return store.rows<{ n: number }>('select consecutive_failures as n from accounts')[0]?.n;
    };
    expect(await failures(1, 'failed')).toBe(1);
    expect(await failures(2, 'interrupted')).toBe(1);
    expect(await failures(3, 'partial')).toBe(2);
    expect(await failures(4, 'blocked')).toBe(0);
    expect(await failures(6, 'failed')).toBe(1);
    expect(await failures(5, 'held')).toBe(0);
  });
});
