// Reads the latest runs of an account as numbers over time, for charts.
import { sql } from 'kysely';
import type { TrendPoint } from '../core/journal-reader.ts';
import type { Database } from './tables.ts';

/** The numbers of the latest runs, oldest first. The lists after a run's operations replace those before them. */
export async function readTrend(
  db: Database,
  account: string,
  limit: number,
): Promise<readonly TrendPoint[]> {
  const entries = (kind: 'skill' | 'role') => sql<number | null>`
    (select entries from snapshots where run_id = runs.id and kind = ${kind} order by snapshots.id desc limit 1)`;
  const { rows } = await sql<TrendPoint>`
    select id as "runId", started_at as "startedAt", finished_at as "finishedAt", status,
      ${entries('skill')} as skills, ${entries('role')} as roles,
      planned_creates as "toCreate", planned_deletes as "toDelete", people_affected as affected,
      case when status <> 'running' and plan_digest is not null then held end as held
    from runs where account = ${account}
    order by started_at desc, id desc limit ${limit}`.execute(db);
  return rows.toReversed();
}
