// A long pruning, during which other work proceeds.
import { expect, it } from 'vitest';
import { DAY_MS, sqliteFixture, T0 } from './fixture.ts';

const RUNS = 3000;
const ENTRIES = 5000;
const RETENTION = { runsMs: 30 * DAY_MS, snapshotsMs: 30 * DAY_MS, keepAtLeast: 10 };

/** Quiet runs, one every half an hour, with snapshots and plans of their own, and entries that no list shows any more. */
function storeOfManyRuns() {
  const store = sqliteFixture();
  const numbers = `with recursive n(i) as (select 1 union all select i + 1 from n where i < ?)`;
  const id = `printf('01900000-0000-7000-8000-%012x', i)`;
  store.execute(
    `insert into accounts (name, remote_account_id, last_good_run) values ('acme', '42', printf('01900000-0000-7000-8000-%012x', ?))`,
    RUNS,
  );
  store.execute(`${numbers} insert into plan_bodies select 'p' || i, zeroblob(100) from n`, RUNS);
  store.execute(`${numbers} insert into snapshot_bodies select 's' || i, zeroblob(1000) from n`, RUNS);
  store.execute(
    `${numbers} insert into runs (id, account, trigger, mode, status, started_at, finished_at, plan_body)
      select ${id}, 'acme', 'schedule', 'apply', 'converged', at, at, 'p' || (i / 5 + 1)
      from (select i, strftime('%Y-%m-%dT%H:%M:%fZ', ? / 1000 + i * 1800, 'unixepoch') as at from n)`,
    RUNS,
    T0,
  );
  store.execute(
    `${numbers} insert into snapshots (run_id, account, phase, kind, taken_at, digest, entries)
      select runs.id, 'acme', 'before', 'skill', started_at, 's' || (i / 5 + 1), 1 from n join runs on runs.id = ${id}`,
    RUNS,
  );
  store.execute(
    `${numbers} insert into entries (account, remote_account_id, kind, remote_id, name, last_seen_run)
      select 'acme', '42', 'skill', i, i, '01900000-0000-7000-8000-000000000001' from n`,
    ENTRIES,
  );
  return store;
}

it('pruning lets other work run after every twenty rows that it deletes', async () => {
  const store = storeOfManyRuns();
  const nowMs = T0 + RUNS * 1_800_000;
  const rows = (): number =>
    store.rows<{ n: number }>(
      `select (select count(*) from runs) + (select count(*) from entries) + (select count(*) from snapshot_bodies)
        + (select count(*) from plan_bodies) as n`,
    )[0]?.n ?? 0;
  const before = rows();
  let turns = 0;
  let isOver = false;
  const count = (): void => {
    turns += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  const pruned = await store.prune(RETENTION, nowMs);
  isOver = true;
  const deleted = before - rows();
  expect(pruned.runs).toBeGreaterThan(100);
  expect(pruned.compacted).toBeGreaterThan(1000);
  expect(pruned.entries).toBe(ENTRIES);
  expect(deleted).toBeGreaterThan(10_000);
  expect(turns).toBeGreaterThan(deleted / 20);
});
