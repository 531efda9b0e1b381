// One run at a time for an account, across all processes that share the store (contract, section 5).
import { randomUUID } from 'node:crypto';
import { type Selectable, sql } from 'kysely';
import type { Lease, LockAttempt, Locks } from '../core/locks.ts';
import type { Database } from './database.ts';
import { immediately } from './database.ts';
import { HOST, isDead } from './holder.ts';
import { inRanges } from './pieces.ts';
import { recountRun } from './run-totals.ts';
import type { Tables } from './tables.ts';
import { toIso } from './times.ts';

/** How long a lock outlives its last renewal, for holders of which nobody can tell whether they live. */
export const LEASE_MS = 30_000;

/** No dry run takes this long; one that seems to has lost its process somewhere else. */
const LONGEST_DRY_RUN_MS = 86_400_000;

export function createLocks(db: Database): Locks {
  return {
    acquire(account, runId, nowMs) {
      return immediately(db, async (connection): Promise<LockAttempt> => {
        const row = await connection
          .selectFrom('locks')
          .selectAll()
          .where('account', '=', account)
          .executeTakeFirst();
        if (row !== undefined && isHeld(row, nowMs)) {
          const host = row.host.split('|')[0] ?? '';
          return { heldBy: `process ${row.pid} on ${host} (run ${row.run_id}, since ${row.taken_at})` };
        }
        await interruptBrokenRuns(connection, account, true, nowMs);
        const lease: Lease = { account, token: randomUUID() };
        const values = {
          token: lease.token,
          run_id: runId,
          host: HOST,
          pid: process.pid,
          taken_at: toIso(nowMs),
          expires_at: toIso(nowMs + LEASE_MS),
          token_key: null,
        };
        await connection
          .insertInto('locks')
          .values({ account, ...values })
          .onConflict((conflict) => conflict.column('account').doUpdateSet(values))
          .execute();
        return { lease };
      });
    },

    async renew(lease, nowMs) {
      const result = await db
        .updateTable('locks')
        .set({ expires_at: toIso(nowMs + LEASE_MS) })
        .where('account', '=', lease.account)
        .where('token', '=', lease.token)
        .executeTakeFirst();
      return result.numUpdatedRows > 0n;
    },

    async release(lease) {
      await db
        .deleteFrom('locks')
        .where('account', '=', lease.account)
        .where('token', '=', lease.token)
        .execute();
    },
  };
}

/** Whether somebody who may be alive holds the account's lock. */
export async function isLocked(db: Database, account: string, nowMs: number): Promise<boolean> {
  const row = await db.selectFrom('locks').selectAll().where('account', '=', account).executeTakeFirst();
  return row !== undefined && isHeld(row, nowMs);
}

/** Whether the holder of a lock may be alive. */
export function isHeld(lock: Selectable<Tables['locks']>, nowMs: number): boolean {
  return lock.expires_at > toIso(nowMs) && !isDead(lock);
}

/**
 * Marks runs that nobody carries on as interrupted; what was sent is unknown. Whoever has the account's lock knows
 * that no run that writes is alive; a dry run, which takes no lock, is broken when its process is dead.
 */
export async function interruptBrokenRuns(
  connection: Database,
  account: string,
  hasLock: boolean,
  nowMs: number,
): Promise<void> {
  const running = await connection
    .selectFrom('runs')
    .select(['id', 'mode', 'holder_host', 'holder_pid', 'started_at'])
    .where('account', '=', account)
    .where('status', '=', 'running')
    .execute();
  const broken = running.filter(
    (run) =>
      (hasLock && run.mode !== 'plan') ||
      isDead({ host: run.holder_host, pid: run.holder_pid }) ||
      (run.mode === 'plan' && run.started_at < toIso(nowMs - LONGEST_DRY_RUN_MS)),
  );
  const now = toIso(nowMs);
  for (const { id } of broken) {
    await inRanges(connection, id, async (range) => {
      await sql`
        update operations set
          status = case status when 'sent' then 'unknown' else 'skipped' end,
          finished_at = case status when 'sent' then ${now} end,
          attempts = case status when 'sent' then max(attempts, 1) else attempts end,
          reason = case status when 'sent' then 'the process ended before the answer was journaled'
            else 'the process ended before it was tried' end
        where run_id = ${id} and ${range} and status in ('sent', 'pending')`.execute(connection);
    });
    await sql`
      update runs set status = 'interrupted', finished_at = ${now}, error_code = 'interrupted',
        error = 'the process ended in the middle of the run'
      where id = ${id}`.execute(connection);
    await recountRun(connection, id);
  }
}
