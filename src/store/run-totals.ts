// Counts the totals of a run from its plan and its operations: for a run that is still running, or that was killed or
// failed before it counted them.
import { sql } from 'kysely';
import { ACTIONS } from '../core/catalog.ts';
import type { RunRecord } from '../core/journal.ts';
import type { Database, Tables } from './tables.ts';
import { packedPlanHead, parsePlanHead } from './run-report.ts';
import { inRanges } from './small-transactions.ts';

/** `requests` is a lower limit: requests for lists are only counted at the end of a run. */
export type RunTotals = Pick<RunRecord, 'created' | 'deleted' | 'held' | 'kept' | 'failed' | 'requests'>;

/** Counts the journaled operations of a run. */
export async function totalsOf(db: Database, runId: string): Promise<RunTotals> {
  const counted = { created: 0, deleted: 0, held: 0, failed: 0, requests: 0 };
  await inRanges(db, runId, async (range) => {
    const { rows } = await sql<Omit<RunTotals, 'kept'>>`
      select
        count(*) filter (where action = 'create' and status = 'done' and attempts > 0 and existed = 0) as created,
        count(*) filter (where action = 'delete' and status = 'done' and attempts > 0) as deleted,
        count(*) filter (where status = 'held') as held,
        count(*) filter (where status in ('failed', 'unknown')) as failed,
        coalesce(sum(attempts), 0) as requests
      from operations where run_id = ${runId} and ${range}`.execute(db);
    for (const key of ['created', 'deleted', 'held', 'failed', 'requests'] as const)
      counted[key] += rows[0]?.[key] ?? 0;
  });
  const run = await db.selectFrom('runs').select('plan_body').where('id', '=', runId).executeTakeFirst();
  const packed = await packedPlanHead(db, run?.plan_body ?? null);
  const { hold, keep } = packed === null ? NO_PLAN : summaryOf(packed);
  // The operations of a plan are written after the plan itself.
  return { ...counted, held: Math.max(counted.held, hold), kept: keep };
}

const NO_PLAN = { hold: 0, keep: 0 };

/** A damaged plan must not prevent the end of its run, or the next run of its account. */
function summaryOf(packed: Uint8Array): typeof NO_PLAN {
  try {
    return parsePlanHead(packed)?.summary ?? NO_PLAN;
  } catch {
    return NO_PLAN;
  }
}

/** What the account's last plan left to do, for its row; unchanged when the run made no plan. */
export async function remainingColumns(
  db: Database,
  runId: string,
): Promise<Partial<Pick<Tables['accounts'], 'remaining_creates' | 'remaining_deletes'>>> {
  const run = await db
    .selectFrom('runs')
    .select(['planned_creates', 'planned_deletes'])
    .where('id', '=', runId)
    .executeTakeFirst();
  if (run === undefined || run.planned_creates === null || run.planned_deletes === null) return {};
  const done = { create: 0, delete: 0 };
  await inRanges(db, runId, async (range) => {
    const { rows } = await sql<typeof done>`
      select count(*) filter (where action = 'create') as "create", count(*) filter (where action = 'delete') as "delete"
      from operations where run_id = ${runId} and status = 'done' and ${range}`.execute(db);
    for (const action of ACTIONS) done[action] += rows[0]?.[action] ?? 0;
  });
  return {
    remaining_creates: run.planned_creates - done.create,
    remaining_deletes: run.planned_deletes - done.delete,
  };
}

/** Stores what an interrupted run, the last one of its account, left to do. */
export async function rememberRemaining(connection: Database, runId: string): Promise<void> {
  const remaining = await remainingColumns(connection, runId);
  if (remaining.remaining_creates === undefined) return;
  await sql`
    update accounts set remaining_creates = ${remaining.remaining_creates}, remaining_deletes = ${remaining.remaining_deletes}
    where name = (select account from runs where id = ${runId}) and last_run_id = ${runId}`.execute(
    connection,
  );
}

/** Stores the totals of the operations as the totals of an ended run. */
export async function recountRun(connection: Database, runId: string): Promise<void> {
  const { requests, ...totals } = await totalsOf(connection, runId);
  await connection
    .updateTable('runs')
    .set((eb) => ({
      ...totals,
      requests: eb.case().when('requests', '<', requests).then(requests).else(eb.ref('requests')).end(),
    }))
    .where('id', '=', runId)
    .execute();
}
