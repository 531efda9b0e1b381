// The totals of a run according to its plan and its operations: of one that is still running, and of one that came to
// no count of its own because it was killed or failed half-way.
import { sql } from 'kysely';
import type { RunRecord } from '../core/journal.ts';
import type { Plan } from '../core/plan.ts';
import { unpack } from './bodies.ts';
import type { Database } from './database.ts';

/** `requests` is at least this many: reading the lists is counted at the end of a run only. */
export type RunTotals = Pick<RunRecord, 'created' | 'deleted' | 'held' | 'kept' | 'failed' | 'requests'>;

/** Counts what the journal holds of a run by now. */
export async function totalsOf(db: Database, runId: string): Promise<RunTotals> {
  const { rows } = await sql<Omit<RunTotals, 'kept'>>`
    select
      count(*) filter (where action = 'create' and status = 'done' and attempts > 0 and existed = 0) as created,
      count(*) filter (where action = 'delete' and status = 'done' and attempts > 0) as deleted,
      count(*) filter (where status = 'held') as held,
      count(*) filter (where status in ('failed', 'unknown')) as failed,
      coalesce(sum(attempts), 0) as requests
    from operations where run_id = ${runId}`.execute(db);
  const counted = rows[0] ?? { created: 0, deleted: 0, held: 0, failed: 0, requests: 0 };
  const summary = await planSummary(db, runId);
  // The operations of a plan are written after the plan itself.
  return { ...counted, held: Math.max(counted.held, summary.hold), kept: summary.keep };
}

const NOTHING = { hold: 0, keep: 0 };

async function planSummary(db: Database, runId: string): Promise<Pick<Plan['summary'], 'hold' | 'keep'>> {
  const stored = await db
    .selectFrom('runs')
    .innerJoin('plan_bodies', 'plan_bodies.digest', 'runs.plan_body')
    .select('plan_bodies.body')
    .where('runs.id', '=', runId)
    .executeTakeFirst();
  if (stored === undefined) return NOTHING;
  try {
    // Written by recordPlan from a Plan, so the shape is known.
    return (unpack(stored.body) as Plan).summary;
  } catch {
    // A damaged body must not keep a run from being ended, nor its account from the next one.
    return NOTHING;
  }
}

/** Makes the totals of an ended run those of its operations. */
export async function recountRun(connection: Database, runId: string): Promise<void> {
  const { requests, ...totals } = await totalsOf(connection, runId);
  await connection
    .updateTable('runs')
    .set((eb) => ({ ...totals, requests: eb.fn<number>('max', ['requests', eb.val(requests)]) }))
    .where('id', '=', runId)
    .execute();
}
