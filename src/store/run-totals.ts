// Counts the operations of runs: for a run that is still running, or that was killed or failed before it counted them, for
// those who watch a run, and for lists of runs.
import { type RawBuilder, sql } from 'kysely';
import type { OperationStatus, RunRecord } from '../core/journal.ts';
import type { RunProgress, RunTally } from '../core/ports/journal-reader.ts';
import { jsonList } from './row-values.ts';
import type { Database } from './tables.ts';

/** `requests` is a lower limit: requests for lists are only counted at the end of a run. */
export type RunTotals = Pick<RunRecord, 'created' | 'deleted' | 'held' | 'failed' | 'requests'>;

/** Counts the journaled operations of a run. */
export async function totalsOf(db: Database, runId: string): Promise<RunTotals> {
  const { rows } = await sql<RunTotals>`
    select
      ${amountOf(sql`action = 'create' and status = 'done' and attempts > 0 and existed = 0`)} as created,
      ${amountOf(sql`action = 'delete' and status = 'done' and attempts > 0`)} as deleted,
      ${amountOf(sql`status = 'held'`)} as held,
      ${amountOf(sql`status in ('failed', 'unknown')`)} as failed,
      coalesce(sum(attempts), 0) as requests
    from operations where run_id = ${runId}`.execute(db);
  return rows[0] ?? { created: 0, deleted: 0, held: 0, failed: 0, requests: 0 };
}

function amountOf(condition: RawBuilder<unknown>): RawBuilder<number> {
  return sql<number>`count(*) filter (where ${condition})`;
}

/** Stores the totals of the operations as the totals of an ended run. */
export async function recountRun(connection: Database, runId: string): Promise<void> {
  const { requests, held, ...totals } = await totalsOf(connection, runId);
  await connection
    .updateTable('runs')
    .set({
      ...totals,
      // The plan has more where its operations were not written.
      held: largest('held', held),
      requests: largest('requests', requests),
    })
    .where('id', '=', runId)
    .execute();
}

function largest(column: 'held' | 'requests', value: number): RawBuilder<number> {
  return sql<number>`case when ${sql.ref(column)} < ${value} then ${value} else ${sql.ref(column)} end`;
}

/** What the account's last plan left to do, for its row; unchanged when the run made no plan. */
export function remainingOf(runId: string) {
  const remaining = (action: 'create' | 'delete'): RawBuilder<number | null> => {
    const [planned, column] = [sql.ref(`planned_${action}s`), sql.ref(`remaining_${action}s`)];
    return sql`coalesce((
      select ${planned} - (select count(*) from operations where run_id = runs.id and operations.status = 'done'
        and action = ${action})
      from runs where id = ${runId}), ${column})`;
  };
  return { remaining_creates: remaining('create'), remaining_deletes: remaining('delete') };
}

/** Stores what an interrupted run, the last one of its account, left to do. */
export async function rememberRemaining(connection: Database, runId: string): Promise<void> {
  await connection.updateTable('accounts').set(remainingOf(runId)).where('last_run_id', '=', runId).execute();
}

/** How far a run is, without held operations. null when there is no such run. */
export async function readProgress(db: Database, runId: string): Promise<RunProgress | null> {
  const { rows } = await sql<RunProgress>`
    select runs.status, count(operations.seq) as total,
      ${amountOf(sql`operations.status = 'done'`)} as done,
      ${amountOf(sql`operations.status = 'failed'`)} as failed,
      ${amountOf(sql`operations.status = 'sent'`)} as sent,
      ${amountOf(sql`operations.status = 'unknown'`)} as unknown,
      min(operations.started_at) as "firstSentAt"
    from runs left join operations on operations.run_id = runs.id and operations.status <> 'held'
    where runs.id = ${runId} group by runs.id, runs.status`.execute(db);
  return rows[0] ?? null;
}

/** The tallies of the runs that exist, by their ids. */
export async function readTallies(
  db: Database,
  ids: readonly string[],
): Promise<ReadonlyMap<string, RunTally>> {
  const planned = await db
    .selectFrom('runs')
    .select(['id', 'planned_creates', 'planned_deletes'])
    .where('id', 'in', jsonList(ids))
    .execute();
  const counted = await db
    .selectFrom('operations')
    .select(['run_id', 'status', ({ fn }) => fn.countAll<number>().as('amount')])
    .where('run_id', 'in', jsonList(ids))
    .groupBy(['run_id', 'status'])
    .execute();
  const statuses = new Map<string, [OperationStatus, number][]>();
  for (const { run_id: id, status, amount } of counted)
    statuses.set(id, [...(statuses.get(id) ?? []), [status, amount]]);
  return new Map(
    planned.map(({ id, planned_creates: creates, planned_deletes: deletes }) => [
      id,
      {
        statuses: Object.fromEntries(statuses.get(id) ?? []),
        planned: creates === null || deletes === null ? null : { create: creates, delete: deletes },
      },
    ]),
  );
}
