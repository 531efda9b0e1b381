// The journal of runs, from their beginning to their end.
import { type Insertable, type RawBuilder, sql, type Updateable } from 'kysely';
import { cutSubject } from '../core/journal.ts';
import type { Journal, NewRun, RunEnd } from '../core/ports/journal.ts';
import type { Plan } from '../core/plan.ts';
import { compressJson, planBody } from './compressed-json.ts';
import type { Observations } from './observations.ts';
import { NOTHING_APPROVED, NOTHING_PENDING } from './account-state.ts';
import type { Database, RunsTable } from './tables.ts';
import { durably, immediately } from './engine.ts';
import { HOST } from './process-identity.ts';
import { endBrokenRuns, endOperations, interruptRun, INTERRUPTED_RUNS } from './broken-runs.ts';
import { lockLost, ownRun } from './fence.ts';
import { recountRun, remainingOf } from './run-rows.ts';
import { toIso } from './row-values.ts';

export function runsJournal(db: Database, { prepare }: Pick<Observations, 'prepare'>) {
  return {
    async beginRun(run) {
      // Whoever took the lock has ended them.
      if (run.mode === 'plan') await endBrokenRuns(db, run.account, undefined, run.startedAtMs);
      await immediately(db, run.account, async (connection) => {
        await insertRun(connection, run, { status: 'running' });
      });
    },

    async recordFailedRun(run, { code, message }) {
      await endBrokenRuns(db, run.account, undefined, run.startedAtMs);
      await immediately(db, run.account, async (connection) => {
        const finished_at = toIso(run.startedAtMs);
        await insertRun(connection, run, { status: 'failed', finished_at, error_code: code, error: message });
        await connection
          .updateTable('accounts')
          .set((eb) => ({ consecutive_failures: eb('consecutive_failures', '+', 1) }))
          .where('name', '=', run.account)
          .execute();
      });
    },

    async recordObservation(observation, plan = null) {
      const write = await prepare(observation);
      await immediately(db, observation.account, async (connection) => {
        const isWritten =
          (await write(connection)) &&
          (plan === null || (await updateRun(connection, observation.runId, {}, plan)));
        if (!isWritten) throw lockLost();
      });
    },

    async endRun(runId: string, end: RunEnd) {
      const { counts, recorded } = end;
      const write = recorded === undefined ? null : await prepare(recorded.observation);
      const isQuiet = counts !== null && counts.created + counts.deleted + counts.failed === 0;
      const commit = isQuiet ? immediately : durably;
      const isEnded = await commit(db, recorded?.observation.account ?? runId, async (connection) => {
        if (write !== null && !(await write(connection))) return false;
        const columns = {
          status: end.status,
          finished_at: toIso(end.finishedAtMs),
          ...counts,
          ...end.traffic,
          // A run that failed after planning keeps its plan.
          ...(end.planDigest === null ? {} : { plan_digest: end.planDigest }),
          error_code: end.errorCode,
          error: end.error,
          warnings: end.warnings.length === 0 ? null : JSON.stringify(end.warnings),
        };
        if (!(await updateRun(connection, runId, columns, recorded?.plan ?? null))) return false;
        if (!['converged', 'planned'].includes(end.status))
          await endOperations(connection, 'run', runId, toIso(end.finishedAtMs));
        if (counts === null) await recountRun(connection, runId);
        await connection
          .updateTable('accounts')
          .set((eb) => ({
            ...remainingOf(runId),
            ...(end.pending === undefined ? {} : pendingColumns(runId, end)),
            ...(SUCCESSES.includes(end.status) ? { last_success_at: toIso(end.finishedAtMs) } : {}),
            // A blocked run waits for an operator, so it is no failure. An interrupted run shows nothing.
            consecutive_failures: FAILURES.includes(end.status)
              ? eb('consecutive_failures', '+', 1)
              : end.status === 'interrupted'
                ? eb.ref('consecutive_failures')
                : eb.val(0),
          }))
          .where('name', '=', sql<string>`(select account from runs where id = ${runId})`)
          .execute();
        return true;
      });
      // The new holder of its lock does the same, but perhaps later than this process reports the run.
      if (!isEnded)
        await immediately(db, INTERRUPTED_RUNS, (connection) =>
          interruptRun(connection, runId, end.finishedAtMs),
        );
      return isEnded;
    },
  } satisfies Partial<Journal>;
}

/** Updates a run that may write, and its plan. A run that another process has ended keeps its result: then false. */
async function updateRun(
  connection: Database,
  runId: string,
  columns: Updateable<RunsTable>,
  plan: Plan | null,
): Promise<boolean> {
  const body = plan === null ? null : planBody(plan);
  const stored = body === null ? {} : { plan_body: storedBody(body.digest) };
  const row = await connection
    .updateTable('runs')
    .set({ ...stored, ...(plan === null ? {} : planColumns(plan)), ...columns })
    .where('id', 'in', sql<string>`(${ownRun(connection, runId)})`)
    .returning('plan_body')
    .executeTakeFirst();
  if (body !== null && row?.plan_body === null) {
    const { digest, json } = body;
    await connection
      .insertInto('plan_bodies')
      .values({ digest, body: compressJson(json) })
      .execute();
    await connection.updateTable('runs').set({ plan_body: digest }).where('id', '=', runId).execute();
  }
  return row !== undefined;
}

/** null where the store does not have the body yet. */
function storedBody(digest: string): RawBuilder<string | null> {
  return sql`(select digest from plan_bodies where digest = ${digest})`;
}

function planColumns({ digest, summary }: Plan): Updateable<RunsTable> {
  const { create: planned_creates, delete: planned_deletes, hold: held, keep: kept } = summary;
  return { plan_digest: digest, planned_creates, planned_deletes, held, kept };
}

/** Inserts a run as the latest one of its account. Throws `lock_lost` when it is to write and another run has the lease. */
async function insertRun(
  connection: Database,
  run: NewRun,
  ending: Pick<Insertable<RunsTable>, 'status' | 'finished_at' | 'error_code' | 'error'>,
): Promise<void> {
  const { id, account, trigger, actor = null, mode, startedAtMs, configDigest, configCommit } = run;
  const needsLease = ending.status === 'running' && !(mode === 'plan' && trigger === 'cli');
  const { numAffectedRows } = await sql`
    insert into accounts (name, last_run_id) values (${account}, ${id})
    on conflict (name) do update set last_run_id = excluded.last_run_id
    where ${needsLease ? sql`coalesce(accounts.lease_run, ${id}) = ${id}` : sql`true`}`.execute(connection);
  if (numAffectedRows === 0n) throw lockLost();
  await connection
    .insertInto('runs')
    .values({
      id,
      account,
      trigger,
      actor,
      mode,
      started_at: toIso(startedAtMs),
      config_digest: configDigest,
      config_commit: configCommit?.sha ?? null,
      config_dirty: configCommit === null ? null : Number(configCommit.dirty),
      config_authored_at: configCommit?.authoredAt ?? null,
      config_author: configCommit?.author ?? null,
      config_subject: configCommit === null ? null : cutSubject(configCommit.subject),
      holder_host: HOST,
      holder_pid: process.pid,
      ...ending,
    })
    .execute();
}

const FAILURES: readonly RunEnd['status'][] = ['failed', 'partial'];
const SUCCESSES: readonly RunEnd['status'][] = ['converged', 'held', 'planned'];

/** The plan that waits for approval now, the latest run that made it, and since when it waits. When none waits, an approval lapses. */
function pendingColumns(runId: string, { pending = null, finishedAtMs }: RunEnd) {
  if (pending === null) return { ...NOTHING_PENDING, ...NOTHING_APPROVED };
  const since: RawBuilder<string | null> =
    sql`case when pending_digest = ${pending} then pending_since else ${toIso(finishedAtMs)} end`;
  return { pending_digest: pending, pending_run: runId, pending_since: since };
}
