// Ends the runs of processes that have ended.
import { type Selectable, sql } from 'kysely';
import { DAY_MS } from '../core/durations-and-sizes.ts';
import { engineOf, immediately } from './engine.ts';
import { recountRun, rememberRemaining } from './run-rows.ts';
import type { Database, RunsTable } from './tables.ts';
import { toIso } from './row-values.ts';

/** No dry run takes longer. An older one belongs to a process of another machine that has ended. */
const LONGEST_DRY_RUN_MS = DAY_MS;

/**
 * The runs of an account that are journaled as running although their processes have ended. With the account's lease, these
 * are all runs that write, and the one that held it before. A dry run of a command takes none; it is broken when its process
 * is dead. `heldBefore` is left out without the lease.
 */
export async function brokenRuns(
  db: Database,
  account: string,
  heldBefore: string | null | undefined,
  nowMs: number,
): Promise<string[]> {
  const engine = engineOf(db);
  const { rows: running } = await sql<Selectable<RunsTable>>`
    select * from runs where account = ${account} and status = 'running'`.execute(db);
  return running
    .filter(
      (run) =>
        (heldBefore !== undefined && (run.mode !== 'plan' || run.id === heldBefore)) ||
        engine.isDead({ host: run.holder_host, pid: run.holder_pid }) ||
        (run.mode === 'plan' && run.started_at < toIso(nowMs - LONGEST_DRY_RUN_MS)),
    )
    .map(({ id }) => id);
}

/** Ends them, each in a transaction. */
export async function endBrokenRuns(
  db: Database,
  account: string,
  heldBefore: string | null | undefined,
  nowMs: number,
): Promise<void> {
  for (const id of await brokenRuns(db, account, heldBefore, nowMs))
    await immediately(db, INTERRUPTED_RUNS, (connection) => interruptRun(connection, id, nowMs));
}

/** The key of the transactions that end runs of other processes. */
export const INTERRUPTED_RUNS = 'interrupted runs';

/** Marks a run as interrupted, and the operations that it had sent as unknown. Within a transaction. */
export async function interruptRun(connection: Database, id: string, nowMs: number): Promise<void> {
  const now = toIso(nowMs);
  const { numAffectedRows } = await sql`
    update runs set status = 'interrupted', finished_at = ${now}, error_code = 'interrupted',
      error = 'the process ended during the run'
    where id = ${id} and status = 'running'`.execute(connection);
  // After the update of the run: a transaction of it that had begun before has ended now, and may have journaled more.
  await endOperations(connection, 'process', id, now);
  // Another process may have ended it meanwhile.
  if (numAffectedRows !== 1n) return;
  await recountRun(connection, id);
  await rememberRemaining(connection, id);
}

/** Sent operations become unknown, because their answers were lost, and pending ones are skipped. */
export async function endOperations(
  connection: Database,
  ended: 'process' | 'run',
  runId: string,
  now: string,
): Promise<void> {
  await sql`
    update operations set
      status = case status when 'sent' then 'unknown' else 'skipped' end,
      finished_at = case status when 'sent' then ${now} end,
      attempts = case when status = 'sent' and attempts = 0 then 1 else attempts end,
      reason = case status when 'sent' then ${`the ${ended} ended before the answer was journaled`}
        else ${`the ${ended} ended before it was tried`} end
    where run_id = ${runId} and status in ('sent', 'pending')`.execute(connection);
}
