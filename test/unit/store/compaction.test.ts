// The compaction of quiet runs with equal results.
import { describe, expect, it } from 'vitest';
import type { CompactableRun } from '../../../src/store/compaction.ts';
import { planMerges } from '../../../src/store/compaction.ts';
import { plan } from '../core/builders.ts';
import type { Fixture } from './fixture.ts';
import { DAY_MS, fixture, listed, T0 } from './fixture.ts';

const HOUR_MS = 3_600_000;
const RETENTION = { runsMs: 90 * DAY_MS, snapshotsMs: 90 * DAY_MS, keepAtLeast: 3 };

/** A quiet run that found the skill `A` by default. */
async function quiet(store: Fixture, n: number, atMs: number, name = 'A'): Promise<string> {
  const id = await store.begin(n, { atMs });
  await store.record(id, { skill: [listed('a', name)] }, { takenAtMs: atMs });
  await store.journal.recordPlan(id, plan({ skills: [name] }));
  await store.end(id, 'converged', atMs + 1000);
  return id;
}

function run(parts: Partial<CompactableRun> & { id: string; startedAtMs: number }): CompactableRun {
  return { status: 'converged', mode: 'apply', isQuiet: true, finding: 'same', ...parts };
}

const NOTHING_KEPT = { keepAtLeast: 0, keep: new Set<string>() };

describe('compaction', () => {
  it('keeps one of equal quiet runs a day, with the count of the others', async () => {
    const store = await fixture();
    const nowMs = T0 + 10 * DAY_MS;
    const every = 2 * HOUR_MS;
    const count = (10 * DAY_MS) / every;
    for (let n = 0; n < count; n += 1) await quiet(store, n + 1, T0 + n * every);
    const pruned = await store.prune(RETENTION, nowMs);
    const rows = store.rows<{ started_at: string; folded: number; folded_until: string | null }>(
      'select started_at, folded, folded_until from runs order by started_at',
    );
    expect(rows.length).toBe(count - pruned.compacted);
    expect(rows.length).toBe(11 + 3);
    expect(rows.reduce((sum, { folded }) => sum + 1 + folded, 0)).toBe(count);
    expect(rows[0]).toEqual({
      started_at: '2026-03-10T12:00:00.000Z',
      folded: 5,
      folded_until: '2026-03-10T22:00:01.000Z',
    });
    expect(store.rows('select count(*) as n from snapshots')).toEqual([{ n: 3 * rows.length }]);
    expect(await store.prune(RETENTION, nowMs)).toMatchObject({ compacted: 0 });
  });

  it('adds the counts of earlier compactions', async () => {
    const store = await fixture();
    for (let n = 0; n < 30; n += 1) await quiet(store, n + 1, T0 + n * 600_000);
    await store.prune({ ...RETENTION, keepAtLeast: 1 }, T0 + 6 * HOUR_MS);
    await store.prune({ ...RETENTION, keepAtLeast: 1 }, T0 + 3 * DAY_MS);
    const rows = store.rows<{ folded: number }>('select folded from runs order by started_at');
    expect(rows).toEqual([{ folded: 28 }, { folded: 0 }]);
  });

  it('keeps a run whose lists, configuration, status or mode differ from the run before', () => {
    const runs = [
      run({ id: '1', startedAtMs: T0 }),
      run({ id: '2', startedAtMs: T0 + 1 }),
      run({ id: '3', startedAtMs: T0 + 2, finding: 'other' }),
      run({ id: '4', startedAtMs: T0 + 3, finding: 'other' }),
      run({ id: '5', startedAtMs: T0 + 4 }),
      run({ id: '6', startedAtMs: T0 + 5 }),
    ];
    expect(planMerges(runs, { ...NOTHING_KEPT, nowMs: T0 + 2 * HOUR_MS })).toEqual([
      { id: '2', into: '1' },
      { id: '4', into: '3' },
    ]);
  });

  it('never merges a run that changed something or failed, or two runs around such a run', () => {
    const runs = [
      run({ id: '1', startedAtMs: T0 }),
      run({ id: '2', startedAtMs: T0 + 1, isQuiet: false }),
      run({ id: '3', startedAtMs: T0 + 2 }),
      run({ id: '4', startedAtMs: T0 + 3 }),
      run({ id: '5', startedAtMs: T0 + 4 }),
    ];
    expect(planMerges(runs, { ...NOTHING_KEPT, nowMs: T0 + 2 * HOUR_MS })).toEqual([{ id: '4', into: '3' }]);
  });

  it('keeps the runs of the last hour, the newest runs and those to which rows refer', () => {
    const runs = Array.from({ length: 6 }, (_, index) =>
      run({ id: String(index), startedAtMs: T0 + index * 60_000 }),
    );
    const nowMs = T0 + 2 * HOUR_MS;
    expect(planMerges(runs, { ...NOTHING_KEPT, nowMs: T0 + HOUR_MS / 2 })).toEqual([]);
    expect(planMerges(runs, { nowMs, keepAtLeast: 4, keep: new Set() })).toEqual([{ id: '1', into: '0' }]);
    const kept = planMerges(runs, { nowMs, keepAtLeast: 1, keep: new Set(['2']) }).map(({ id }) => id);
    expect(kept).toEqual(['1', '3', '4']);
  });

  it('keeps every run whose lists differ, also when the plan does not', async () => {
    const store = await fixture();
    for (let n = 0; n < 6; n += 1) await quiet(store, n + 1, T0 + n * 60_000);
    const other = await store.begin(7, { atMs: T0 + 7 * 60_000 });
    await store.record(other, { skill: [listed('a', 'A'), listed('x', 'X')] });
    await store.journal.recordPlan(other, plan({ skills: ['A'] }));
    await store.end(other, 'converged', T0 + 7 * 60_000);
    for (let n = 7; n < 12; n += 1) await quiet(store, n + 1, T0 + (n + 1) * 60_000);
    await store.prune({ ...RETENTION, keepAtLeast: 1 }, T0 + 5 * HOUR_MS);
    expect(store.rows('select id from runs where id = ?', other)).toHaveLength(1);
  });

  /** Equal runs of two days: on the first day as many as one step merges, and on the second one that is large. */
  async function withLargeRun(store: Fixture) {
    for (let n = 1; n <= 21; n += 1) await quiet(store, n, T0 + n * 60_000);
    const into = await quiet(store, 30, T0 + DAY_MS);
    const large = await quiet(store, 31, T0 + DAY_MS + 60_000);
    store.execute(
      `with recursive n(i) as (select 1 union all select i + 1 from n where i < 3000)
        insert into operations (run_id, seq, kind, action, name, status)
        select '${large}', i, 'skill', 'delete', cast(i as text), 'held' from n`,
    );
    await quiet(store, 32, T0 + 2 * DAY_MS);
    const held = () => store.rows('select count(*) as n from operations where run_id = ?', large);
    return { into, large, held };
  }

  it('merges a large run', async () => {
    const store = await fixture();
    const { large, held } = await withLargeRun(store);
    await store.prune({ ...RETENTION, keepAtLeast: 1 }, T0 + 3 * DAY_MS);
    expect([store.rows('select 1 from runs where id = ?', large), held()]).toEqual([[], [{ n: 0 }]]);
  });

  it.each([
    ['whose target is gone meanwhile', (into: string) => `delete from runs where id = '${into}'`],
    [
      'that has become the last good one of its account meanwhile',
      (_: string, large: string) => `update accounts set last_good_run = '${large}'`,
    ],
  ])('does not change a large run %s', async (_, change) => {
    const store = await fixture();
    const { into, large, held } = await withLargeRun(store);
    store.afterDelete('runs', `old.id != '${into}'`, change(into, large));
    await store.prune({ ...RETENTION, keepAtLeast: 1 }, T0 + 3 * DAY_MS);
    expect(store.rows('select folded from runs where id = ?', large)).toEqual([{ folded: 0 }]);
    expect(held()).toEqual([{ n: 3000 }]);
    expect(store.rows('select folded from runs order by id limit 1')).toEqual([{ folded: 20 }]);
    expect(store.rows('select folded from runs where id = ?', into)).not.toContainEqual({ folded: 1 });
  });
});
