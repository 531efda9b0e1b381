// Prunes old runs, snapshots and entries; never the last good snapshot of an account, nor what a rule still needs.
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
  return await immediately(db, async (connection) => {
    const kept = sql`
      select id from (
        select id, row_number() over (partition by account order by started_at desc) as place from runs
      ) where place <= ${retention.keepAtLeast}
      union select last_good_run from accounts where last_good_run is not null`;
    const snapshots = await sql`
      delete from snapshots where taken_at < ${snapshotsBefore} and run_id not in (${kept})`.execute(
      connection,
    );
    const runs = await sql`
      delete from runs where started_at < ${runsBefore} and status != 'running' and id not in (${kept})
        and id not in (select run_id from snapshots)
        and id not in (select run_id from operations
          where status in ('sent', 'unknown') and settled_by is null)`.execute(connection);
    await sql`
      delete from snapshot_bodies where digest not in (select digest from snapshots)`.execute(connection);
    await sql`
      delete from plan_bodies
      where digest not in (select plan_body from runs where plan_body is not null)`.execute(connection);
    await pruneNotices(connection, runsBefore);
    const gone = {
      runs: Number(runs.numAffectedRows ?? 0),
      snapshots: Number(snapshots.numAffectedRows ?? 0),
    };
    return { ...gone, folded, entries };
  });
}

/** Notices that arrived or were given up, and what was told of accounts that have not run since. */
async function pruneNotices(connection: Database, before: string): Promise<void> {
  await sql`delete from notices where delivered_at < ${before} or failed_at < ${before}`.execute(connection);
  await sql`delete from notice_states where as_of < ${before}`.execute(connection);
}
