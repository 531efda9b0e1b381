// Counts the operations of runs by their status, for lists of runs.
import { sql } from 'kysely';
import type { OperationStatus } from '../core/journal.ts';
import type { RunTally } from '../core/journal-reader.ts';
import { jsonList } from './json-rows.ts';
import type { Database } from './tables.ts';

interface PlannedRow {
  readonly id: string;
  readonly creates: number | null;
  readonly deletes: number | null;
}

interface StatusRow {
  readonly id: string;
  readonly status: OperationStatus;
  readonly amount: number;
}

/** The tallies of the runs that exist, by their ids. */
export async function readTallies(
  db: Database,
  ids: readonly string[],
): Promise<ReadonlyMap<string, RunTally>> {
  const wanted = jsonList(ids);
  const planned = await sql<PlannedRow>`
    select id, planned_creates as creates, planned_deletes as deletes from runs where id in ${wanted}`.execute(
    db,
  );
  const counted = await sql<StatusRow>`
    select run_id as id, status, count(*) as amount from operations where run_id in ${wanted}
    group by run_id, status`.execute(db);
  const statuses = new Map<string, [OperationStatus, number][]>();
  for (const { id, status, amount } of counted.rows)
    statuses.set(id, [...(statuses.get(id) ?? []), [status, amount]]);
  return new Map(
    planned.rows.map(({ id, creates, deletes }) => [
      id,
      {
        statuses: Object.fromEntries(statuses.get(id) ?? []),
        planned: creates === null || deletes === null ? null : { create: creates, delete: deletes },
      },
    ]),
  );
}
