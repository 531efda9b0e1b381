// Reading snapshots, and facts about many runs at once.
import type { Plan } from '../../../src/core/plan.ts';
import { expect, it } from 'vitest';
import type { SnapshotFilter } from '../../../src/core/ports/journal-reader.ts';
import type { SnapshotRecord } from '../../../src/core/command-schemas.ts';
import { entry, person, plan } from '../core/builders.ts';
import { type Fixture, fixture, T0 } from './fixture.ts';

const HOUR_MS = 3_600_000;
const WARNING = { code: 'not_shown_yet', message: 'a list is stale' };

/** Run `n` of an account, n hours after T0, with one snapshot of each of the phases. */
async function read(
  store: Fixture,
  n: number,
  {
    account = 'acme',
    phases = ['before'],
    ...more
  }: { account?: string; phases?: readonly ('before' | 'after')[]; plan?: Plan } = {},
): Promise<string> {
  const atMs = T0 + n * HOUR_MS;
  const id = await store.begin(n, { account, atMs });
  for (const [index, phase] of phases.entries()) {
    const lists = { skill: [entry(`Skill ${n}`, `s${n}`)], resources: [person('r1', [`s${n}`])] };
    await store.record(id, lists, { account, phase, takenAtMs: atMs + index * 1000, ...more });
  }
  return id;
}

function shown(snapshots: readonly SnapshotRecord[]): string[] {
  return snapshots.map(({ account, runId, phase }) => `${account} ${Number(runId.slice(-2))} ${phase}`);
}

it('lists snapshots of the newest run first, and those of one account, run, list or moment', async () => {
  const store = await fixture();
  await read(store, 1);
  const second = await read(store, 2, { phases: ['before', 'after'] });
  await read(store, 3, { account: 'other' });
  const find = async (filter: Partial<SnapshotFilter>): Promise<string[]> =>
    shown(await store.reader.snapshots({ limit: 10, ...filter }));
  expect(await find({})).toEqual(['other 3 before', 'acme 2 after', 'acme 2 before', 'acme 1 before']);
  expect(await find({ limit: 2 })).toEqual(['other 3 before', 'acme 2 after']);
  expect(await find({ account: 'acme', limit: 1 })).toEqual(['acme 2 after']);
  expect(await find({ runId: second })).toEqual(['acme 2 after', 'acme 2 before']);
  expect(await find({ untilMs: T0 + 2 * HOUR_MS })).toEqual(['acme 2 before', 'acme 1 before']);
  expect(await find({ account: 'acme', untilMs: T0 })).toEqual([]);
  // Each list has an id of its own, which finds its snapshot too.
  const rows = store.rows<{ id: number }>(
    "select id from snapshots where run_id = ? and phase = 'after'",
    second,
  );
  for (const { id } of rows) expect(await find({ id })).toEqual(['acme 2 after']);
  const [newest] = await store.reader.snapshots({ runId: second, limit: 1 });
  expect(newest?.id).toBe(Math.min(...rows.map(({ id }) => id)));
  expect(newest?.lists.map(({ kind, entries }) => [kind, entries])).toEqual([
    ['skill', 1],
    ['role', 0],
    ['resource', 1],
  ]);
});

it('leaves out lists that a guard rejected, and last lists that were stale', async () => {
  const store = await fixture();
  await store.end(await read(store, 1));
  await store.end(await read(store, 2), 'blocked');
  const third = await read(store, 3, { phases: ['before', 'after'] });
  await store.journal.endRun(third, {
    status: 'partial',
    finishedAtMs: T0,
    counts: null,
    traffic: { requests: 1, retries: 0 },
    planDigest: null,
    errorCode: null,
    error: null,
    warnings: [WARNING],
  });
  expect(shown(await store.reader.snapshots({ isGood: true, limit: 9 }))).toEqual([
    'acme 3 before',
    'acme 1 before',
  ]);
});

it('returns the lists of a snapshot, and null when one of them is no longer stored', async () => {
  const store = await fixture();
  await read(store, 1);
  const [snapshot] = await store.reader.snapshots({ limit: 1 });
  if (snapshot === undefined) throw new Error('no snapshot');
  const entries = await store.reader.snapshotEntries(snapshot);
  expect(entries?.skill.map(({ id, name }) => [id, name])).toEqual([['s1', 'Skill 1']]);
  expect((await store.reader.snapshotPeople(snapshot))?.map(({ skillsIds }) => skillsIds)).toEqual([['s1']]);
  for (const { kind, digest } of snapshot.lists.filter((list) => list.kind !== 'role')) {
    store.execute(
      "update snapshots set digest = (select digest from snapshots where kind = 'role') where kind = ?",
      kind,
    );
    store.execute('delete from snapshot_bodies where digest = ?', digest);
  }
  expect(await store.reader.snapshotEntries(snapshot)).toBeNull();
  expect(await store.reader.snapshotPeople(snapshot)).toBeNull();
});

it('finds the runs that deleted something', async () => {
  const store = await fixture();
  await store.begin(1);
  const id = await store.begin(2);
  store.execute('update runs set deleted = 1 where id = ?', id);
  expect((await store.reader.runs({ hasDeletes: true, limit: 5 })).map((run) => run.id)).toEqual([id]);
});

it('finds who had a deleted entry by the newest earlier list that shows somebody, of the same account', async () => {
  const store = await fixture();
  const lists = async (n: number, people: readonly [id: string, skills: string[]][], remote = '42') => {
    const atMs = T0 + n * HOUR_MS;
    const id = await store.begin(n, { atMs, remote });
    const resources = people.map(([person_, skills]) => person(person_, skills));
    const skill = ['s1', 's2', 's3', 's9'].map((each) => entry(each, each));
    await store.record(id, { skill, resources }, { phase: 'before', takenAtMs: atMs });
    return id;
  };
  await lists(1, [['foreign', ['s1']]], '7');
  await lists(2, [['oldest', ['s1', 's3']]]);
  await lists(3, [
    ['bob', ['s1', 's2']],
    ['ada', ['s1', 's2']],
  ]);
  await lists(4, [['ada', ['s2']]]);
  const id = await lists(5, [['ada', ['s2']]]);
  const after = [['late', ['s1']]] as const;
  await lists(
    6,
    after.map(([person_, skills]) => [person_, [...skills]]),
  );
  for (const [index, [remoteId, status]] of [
    ['s1', 'done'],
    ['s2', 'unknown'],
    ['s3', 'held'],
    ['s9', 'done'],
  ].entries()) {
    store.execute(
      `insert into operations (run_id, seq, kind, action, name, remote_id, status, attempts)
       values ('${id}', ${index + 1}, 'skill', 'delete', 'Skill ${index}', '${remoteId ?? ''}', '${status ?? ''}', 1)`,
    );
  }
  const until = new Date(T0 + 3 * HOUR_MS).toISOString();
  expect((await store.reader.runReport(id))?.earlierHolders).toEqual([
    { seq: 1, until, people: ['ada', 'bob'] },
    { seq: 2, until, people: ['bob'] },
  ]);
  expect(await store.reader.run(id)).not.toHaveProperty('earlierHolders');
});

it('returns the sizes of the last lists of each day, of one account, that a run planned by', async () => {
  const store = await fixture();
  await read(store, 0, { account: 'other' });
  // Two days, each with several runs: only the last one of a day counts, and one that planned nothing does not.
  for (const n of [1, 2, 20, 21]) await read(store, n, { plan: plan({}) });
  await read(store, 22);
  const counts = await store.reader.dailyCounts('acme', T0);
  expect(counts.map(({ takenAt, kind, entries }) => [takenAt, kind, entries])).toEqual(
    [2, 21].flatMap((n) =>
      (['skill', 'role', 'resource'] as const).map((kind) => [
        new Date(T0 + n * HOUR_MS).toISOString(),
        kind,
        kind === 'role' ? 0 : 1,
      ]),
    ),
  );
  expect(await store.reader.dailyCounts('acme', T0 + 20 * HOUR_MS)).toHaveLength(3);
});
