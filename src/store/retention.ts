// Prunes old runs, snapshots and entries; never the last good snapshot of an account, nor what a rule still needs.
import type { RawBuilder } from 'kysely';
import { sql } from 'kysely';
import { DAY_MS } from '../core/history.ts';
import type { ServiceSettings } from '../core/settings.ts';
import type { Database } from './database.ts';
import { immediately } from './database.ts';
import { pruneEntries } from './entry-retention.ts';
import { foldRuns } from './folding.ts';
import { toIso } from './times.ts';

/** Rules look back 24 hours; shorter retention would blind them. */
const SHORTEST_MS = 2 * DAY_MS;

/** How many rows went, by what they were. */
export interface Pruned {
  readonly runs: number;
  readonly snapshots: number;
  readonly folded: number;
  readonly entries: number;
}

/** One account at a time, with room for others in between: thousands of accounts take a while. */
async function foldAll(db: Database, keepAtLeast: number, nowMs: number): Promise<number> {
  const accounts = await db.selectFrom('accounts').select('name').execute();
  let folded = 0;
  for (const { name } of accounts) {
    folded += await foldRuns(db, name, { keepAtLeast, nowMs });
    await new Promise((resolve) => setImmediate(resolve));
  }
  return folded;
}

/** Folds quiet runs, and removes what is older than the settings keep (contract, sections 2 and 6). */
export async function prune(
  db: Database,
  retention: ServiceSettings['retention'],
  nowMs: number,
): Promise<Pruned> {
  const runsBefore = toIso(nowMs - Math.max(retention.runsMs, SHORTEST_MS));
  const snapshotsBefore = toIso(nowMs - Math.max(retention.snapshotsMs, SHORTEST_MS));
  const folded = await foldAll(db, retention.keepAtLeast, nowMs);
  const entries = await pruneEntries(db, nowMs - Math.max(retention.runsMs, SHORTEST_MS));
  const kept = sql`
    select id from (
      select id, row_number() over (partition by account order by started_at desc) as place from runs
    ) where place <= ${retention.keepAtLeast}
    union select last_good_run from accounts where last_good_run is not null`;
  const snapshots = await inBatches(
    db,
    sql`delete from snapshots where id in (
      select id from snapshots where taken_at < ${snapshotsBefore} and run_id not in (${kept}) limit ${BATCH})`,
  );
  const runs = await inBatches(
    db,
    sql`delete from runs where id in (
      select id from runs where started_at < ${runsBefore} and status != 'running' and id not in (${kept})
        and id not in (select run_id from snapshots)
        and id not in (select run_id from operations where status in ('sent', 'unknown') and settled_by is null)
      limit ${BATCH})`,
  );
  await inBatches(
    db,
    sql`delete from snapshot_bodies where digest in (
      select digest from snapshot_bodies where digest not in (select digest from snapshots) limit ${BATCH})`,
  );
  await inBatches(
    db,
    sql`delete from plan_bodies where digest in (
      select digest from plan_bodies
      where digest not in (select plan_body from runs where plan_body is not null) limit ${BATCH})`,
  );
  await immediately(db, (connection) => pruneNotices(connection, runsBefore));
  return { runs, snapshots, folded, entries };
}

/** How many rows one transaction deletes: the daemon answers in between. */
const BATCH = 20_000;

/** Repeats a statement that deletes up to a batch, until there is nothing left. Resolves with how many rows went. */
async function inBatches(db: Database, statement: RawBuilder<unknown>): Promise<number> {
  for (let total = 0; ;) {
    const { numAffectedRows } = await immediately(db, (connection) => statement.execute(connection));
    total += Number(numAffectedRows ?? 0);
    await new Promise((resolve) => setImmediate(resolve));
    if (Number(numAffectedRows ?? 0) < BATCH) return total;
  }
}

/** Notices that arrived or were given up, and what was told of accounts that have not run since. */
async function pruneNotices(connection: Database, before: string): Promise<void> {
  await sql`delete from notices where delivered_at < ${before} or failed_at < ${before}`.execute(connection);
  await sql`delete from notice_states where as_of < ${before}`.execute(connection);
}
