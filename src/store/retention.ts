// Deletes old runs, snapshots and entries, but never the last good snapshot of an account or rows that a rule needs.
import { type RawBuilder, sql } from 'kysely';
import { DAY_MS } from '../core/durations-and-sizes.ts';
import type { ServiceSettings } from '../core/settings.ts';
import { pruneBodies } from './body-retention.ts';
import type { Database } from './tables.ts';
import { immediately } from './transactions.ts';
import { pruneEntries } from './entry-retention.ts';
import { compactRuns } from './compaction.ts';
import { PAGE, deleteLargeOperations, deleteRows, inSteps, pages } from './small-transactions.ts';
import { toIso, toMs } from './times.ts';

/** Some rules read the operations of the last 24 hours, so a shorter retention would disable them. */
const SHORTEST_MS = 2 * DAY_MS;

/** The number of deleted rows. */
export interface Pruned {
  readonly runs: number;
  readonly snapshots: number;
  /** Runs that compaction merged into others. */
  readonly compacted: number;
  readonly entries: number;
}

/** The limits for the runs of one account. */
interface Limits {
  /** ISO times. */
  readonly runsBefore: string;
  readonly snapshotsBefore: string;
  readonly keepAtLeast: number;
}

/** Merges quiet runs and deletes what is older than the settings allow, in small transactions. */
export async function prune(
  db: Database,
  retention: ServiceSettings['retention'],
  nowMs: number,
): Promise<Pruned> {
  const { keepAtLeast } = retention;
  const runsBeforeMs = nowMs - Math.max(retention.runsMs, SHORTEST_MS);
  const runsBefore = toIso(runsBeforeMs);
  const snapshotsBefore = toIso(nowMs - Math.max(retention.snapshotsMs, SHORTEST_MS));
  const pruned = { runs: 0, snapshots: 0, compacted: 0, entries: 0 };
  const accounts = await db.selectFrom('accounts').select('name').execute();
  for (const { name } of accounts) {
    pruned.compacted += await compactRuns(db, name, { keepAtLeast, nowMs });
    pruned.entries += await pruneEntries(db, name, runsBeforeMs);
    const { runs, snapshots } = await pruneRuns(db, name, { runsBefore, snapshotsBefore, keepAtLeast });
    pruned.runs += runs;
    pruned.snapshots += snapshots;
  }
  await pruneBodies(db);
  await immediately(db, 'notices', (connection) => pruneNotices(connection, runsBefore));
  await sql`delete from operator_actions where at < ${runsBefore}`.execute(db);
  return pruned;
}

/** When the newest run ended; runs of the future, which a wrong clock left behind, do not count. null without any. */
export async function newestEndMs(db: Database, nowMs: number): Promise<number | null> {
  const now = toIso(nowMs);
  const run = await db
    .selectFrom('runs')
    .select('finished_at')
    .where('started_at', '<=', now)
    .where('finished_at', '<=', now)
    .orderBy('started_at', 'desc')
    .limit(1)
    .executeTakeFirst();
  return typeof run?.finished_at === 'string' ? toMs(run.finished_at) : null;
}

interface RunKey {
  readonly started_at: string;
  readonly id: string;
}

/** Deletes old snapshots and runs of one account. */
async function pruneRuns(
  db: Database,
  account: string,
  limits: Limits,
): Promise<Pick<Pruned, 'runs' | 'snapshots'>> {
  const pruned = { runs: 0, snapshots: 0 };
  const before = limits.runsBefore > limits.snapshotsBefore ? limits.runsBefore : limits.snapshotsBefore;
  const kept = await keptRuns(db, account, limits.keepAtLeast);
  const read = (last: RunKey) =>
    sql<RunKey>`
      select started_at, id from runs
      where account = ${account} and started_at < ${before} and (started_at, id) > (${last.started_at}, ${last.id})
      order by started_at, id limit ${PAGE}`.execute(db);
  for await (const rows of pages({ started_at: '', id: '' }, read)) {
    const old = rows.filter(({ id }) => !kept.has(id)).map(({ id }) => id);
    pruned.snapshots += await inSteps(old, (ids) => deleteSnapshots(db, ids, limits.snapshotsBefore));
    pruned.runs += await inSteps(old, (ids) => deleteRuns(db, ids, limits.runsBefore));
  }
  return pruned;
}

/** The newest runs of an account, and the one with its last good snapshot. */
async function keptRuns(db: Database, account: string, keepAtLeast: number): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ id: string }>`
    select id from (select id from runs where account = ${account} order by started_at desc limit ${keepAtLeast}) as newest
    union select last_good_run from accounts where name = ${account} and last_good_run is not null`.execute(
    db,
  );
  return new Set(rows.map(({ id }) => id));
}

async function deleteSnapshots(db: Database, runs: readonly string[], before: string): Promise<number> {
  const { rows } = await sql<{ id: number }>`
    select id from snapshots where run_id in (${sql.join(runs)}) and taken_at < ${before}
      and ${isNotLastGood('snapshots', 'run_id')}`.execute(db);
  if (rows.length === 0) return 0;
  return await deleteRows(db, sql`delete from snapshots where id in (${sql.join(rows.map(({ id }) => id))})`);
}

/** Checked again in the delete itself, because a renamed account may have adopted the run meanwhile. */
function isNotLastGood(table: 'runs' | 'snapshots', run: 'id' | 'run_id'): RawBuilder<unknown> {
  const [account, id] = [sql.ref(`${table}.account`), sql.ref(`${table}.${run}`)];
  return sql`not exists (select 1 from accounts where name = ${account} and last_good_run = ${id})`;
}

/** Deletes old runs, but not those that still have snapshots, that are running, or that have an unknown outcome. */
async function deleteRuns(db: Database, runs: readonly string[], before: string): Promise<number> {
  const prunable = sql`
    id in (${sql.join(runs)}) and started_at < ${before} and status != 'running'
      and ${isNotLastGood('runs', 'id')}
      and not exists (select 1 from snapshots where run_id = runs.id)
      and not exists (
        select 1 from operations
        where run_id = runs.id and operations.status in ('sent', 'unknown') and settled_by is null)`;
  const { rows } = await sql<{ id: string }>`select id from runs where ${prunable}`.execute(db);
  if (rows.length === 0) return 0;
  await deleteLargeOperations(
    db,
    rows.map(({ id }) => id),
  );
  return await deleteRows(db, sql`delete from runs where ${prunable}`);
}

/** Deletes old notices that were delivered or failed, and the states of accounts that have not run since. */
async function pruneNotices(connection: Database, before: string): Promise<void> {
  await sql`delete from notices where delivered_at < ${before} or failed_at < ${before}`.execute(connection);
  await sql`delete from notice_states where as_of < ${before}`.execute(connection);
}
