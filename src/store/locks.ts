// The locks of accounts: one run at a time for each account, across all processes that share the store.
import { randomUUID } from 'node:crypto';
import { type RawBuilder, type Selectable, sql } from 'kysely';
import type { Lease, LockAttempt, Locks } from '../core/locks.ts';
import { StoreError } from '../core/errors.ts';
import { DAY_MS } from '../core/durations-and-sizes.ts';
import { HOST, machineOf } from './process-identity.ts';
import { engineOf } from './engine.ts';
import { inRanges } from './small-transactions.ts';
import { recountRun, rememberRemaining } from './run-totals.ts';
import type { Database, Tables } from './tables.ts';
import { toIso } from './times.ts';
import { immediately } from './transactions.ts';

/** No dry run takes longer. An older one belongs to a process of another machine that has ended. */
const LONGEST_DRY_RUN_MS = DAY_MS;

export function createLocks(db: Database): Locks {
  /** The tokens of locks that this process has released but could not delete, for example on a full disk. */
  const abandoned = new Set<string>();

  const { leaseMs } = engineOf(db);

  async function release(lease: Lease): Promise<void> {
    abandoned.add(lease.token);
    await db
      .deleteFrom('locks')
      .where('account', '=', lease.account)
      .where('token', '=', lease.token)
      .execute();
    abandoned.delete(lease.token);
  }

  return {
    leaseMs,

    async acquire(account, runId, nowMs): Promise<LockAttempt> {
      const attempt = await immediately(db, account, async (connection) => {
        const atMs = await engineOf(db).clockMs(connection, nowMs);
        const row = await connection
          .selectFrom('locks')
          .selectAll()
          .where('account', '=', account)
          .executeTakeFirst();
        if (row !== undefined && !abandoned.has(row.token) && isHeld(connection, row, atMs)) {
          const holder = `process ${row.pid} on ${machineOf(row.host)}`;
          return { heldBy: `${holder} (run ${row.run_id}, since ${row.taken_at})` };
        }
        const lease: Lease = { account, token: randomUUID() };
        const values = {
          token: lease.token,
          run_id: runId,
          host: HOST,
          pid: process.pid,
          taken_at: toIso(atMs),
          expires_at: toIso(atMs + leaseMs),
          token_key: null,
        };
        await connection
          .insertInto('locks')
          .values({ account, ...values })
          .onConflict((conflict) => conflict.column('account').doUpdateSet(values))
          .execute();
        const broken = await brokenRuns(connection, account, true, nowMs);
        return { lease, broken, replaced: row?.token };
      });
      if ('heldBy' in attempt) return attempt;
      const { lease, broken, replaced } = attempt;
      if (replaced !== undefined) abandoned.delete(replaced);
      try {
        // A broken run remains `running` until this is complete, so that the next holder ends it if this process dies.
        await interruptRuns(db, broken, nowMs);
      } catch (error) {
        // If this fails too, this process can take the lock again immediately, and others when it has expired.
        await release(lease).catch(() => undefined);
        throw error;
      }
      return { lease };
    },

    async renew(lease, nowMs) {
      const atMs = await engineOf(db).clockMs(db, nowMs);
      const result = await db
        .updateTable('locks')
        .set({ expires_at: toIso(atMs + leaseMs) })
        .where('account', '=', lease.account)
        .where('token', '=', lease.token)
        .executeTakeFirst();
      return result.numUpdatedRows > 0n;
    },

    release,
  };
}

/** Whether a process that may be alive holds the account's lock. */
export async function isLocked(db: Database, account: string, nowMs: number): Promise<boolean> {
  const row = await db.selectFrom('locks').selectAll().where('account', '=', account).executeTakeFirst();
  return row !== undefined && isHeld(db, row, await engineOf(db).clockMs(db, nowMs));
}

/** Whether the holder of a lock may be alive. */
export function isHeld(db: Database, lock: Selectable<Tables['locks']>, nowMs: number): boolean {
  return lock.expires_at > toIso(nowMs) && !engineOf(db).isDead(lock);
}

/**
 * The runs of an account that are journaled as running although their processes have ended. With the account's lock, these
 * are all runs that write. A dry run takes no lock; it is broken when its process is dead.
 */
export async function brokenRuns(
  db: Database,
  account: string,
  hasLock: boolean,
  nowMs: number,
): Promise<string[]> {
  const engine = engineOf(db);
  const running = await db
    .selectFrom('runs')
    .select(['id', 'mode', 'holder_host', 'holder_pid', 'started_at'])
    .where('account', '=', account)
    .where('status', '=', 'running')
    .execute();
  return running
    .filter(
      (run) =>
        (hasLock && run.mode !== 'plan') ||
        engine.isDead({ host: run.holder_host, pid: run.holder_pid }) ||
        (run.mode === 'plan' && run.started_at < toIso(nowMs - LONGEST_DRY_RUN_MS)),
    )
    .map(({ id }) => id);
}

/**
 * Marks runs as interrupted, and the operations that they had sent as unknown. Uses several transactions for each run,
 * because a large run takes seconds, unless the caller passes its own transaction as `write`.
 */
export async function interruptRuns(
  db: Database,
  runs: readonly string[],
  nowMs: number,
  write: (work: (connection: Database) => Promise<unknown>) => Promise<unknown> = (work) =>
    immediately(db, 'interrupted runs', work),
): Promise<void> {
  const now = toIso(nowMs);
  for (const id of runs) {
    await inRanges(db, id, async (range) => {
      const update = interrupted(id, now, range);
      await write((connection) => update.execute(connection));
    });
    await write(async (connection) => {
      const { numAffectedRows } = await sql`
        update runs set status = 'interrupted', finished_at = ${now}, error_code = 'interrupted',
          error = 'the process ended during the run'
        where id = ${id} and status = 'running'`.execute(connection);
      // A transaction of the run that had begun before has ended now; it may have journaled more.
      await interrupted(id, now, sql`true`).execute(connection);
      // Another process may have ended it meanwhile.
      if (numAffectedRows === 1n) {
        await recountRun(connection, id);
        await rememberRemaining(connection, id);
      }
    });
  }
}

/** Sent operations become unknown, because their answers were lost, and pending ones are skipped. */
function interrupted(runId: string, now: string, range: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    update operations set
      status = case status when 'sent' then 'unknown' else 'skipped' end,
      finished_at = case status when 'sent' then ${now} end,
      attempts = case when status = 'sent' and attempts = 0 then 1 else attempts end,
      reason = case status when 'sent' then 'the process ended before the answer was journaled'
        else 'the process ended before it was tried' end
    where run_id = ${runId} and ${range} and status in ('sent', 'pending')`;
}

/** Whether a lease still holds its lock. Must be called within the transaction that depends on it. */
export async function holds(connection: Database, lease: Lease): Promise<boolean> {
  const row = await connection
    .selectFrom('locks')
    .select('token')
    .where('account', '=', lease.account)
    .modifyEnd(engineOf(connection).forShare)
    .executeTakeFirst();
  return row?.token === lease.token;
}

/**
 * Throws `lock_lost` unless the run is still running and no other run holds the lock of its account. The first statement of
 * the transactions of a run: a process that was paused must not overwrite what another one has journaled meanwhile.
 */
export async function requireOwnRun(connection: Database, runId: string): Promise<void> {
  if (await isOwnRun(connection, runId)) return;
  throw new StoreError(
    'lock_lost',
    'another process has taken over the account, because this one did not renew its lock in time',
  );
}

/** Whether the run is still running and no other run holds the lock of its account. A dry run needs no lock. */
export async function isOwnRun(connection: Database, runId: string): Promise<boolean> {
  const row = await connection
    .selectFrom('runs')
    .select(['mode', 'status'])
    .select((eb) =>
      eb.selectFrom('locks').select('run_id').whereRef('locks.account', '=', 'runs.account').as('lockedBy'),
    )
    .where('id', '=', runId)
    .modifyEnd(engineOf(connection).forShare)
    .executeTakeFirst();
  if (row?.status !== 'running') return false;
  return row.mode === 'plan' || row.lockedBy === null || row.lockedBy === runId;
}
