// The fence: decides within each transaction of a run whether this process may still write.
import { type RawBuilder, sql } from 'kysely';
import { StoreError } from '../core/errors.ts';
import { LEADER } from '../core/ports/locks.ts';
import { engineOf } from './engine.ts';
import type { Database } from './tables.ts';

/**
 * Throws `lock_lost` unless the run may write. The first statement of the transactions of a run: a process that was paused
 * must not overwrite what another one has journaled meanwhile.
 */
export async function requireOwnRun(connection: Database, runId: string): Promise<void> {
  if (!(await isOwnRun(connection, runId))) throw lockLost();
}

/**
 * Whether a run may write: it is still running, no other run holds the lock of its account, its daemon still leads, and the
 * database is the one in which it began. A dry run needs no lock, and a command no daemon that leads. `mustHold`: the run
 * itself must hold the lock, as for what it sends.
 */
export async function isOwnRun(connection: Database, runId: string, mustHold = false): Promise<boolean> {
  const { rows } = await ownRun(connection, runId, mustHold).execute(connection);
  return rows.length > 0;
}

/** The same as a query, which finds the run, for the condition of a statement that writes alone. */
export function ownRun(connection: Database, runId: string, mustHold = false): RawBuilder<{ id: string }> {
  const { timeline, forShare, forKeyShare } = engineOf(connection);
  const hasLock = mustHold
    ? sql`exists (
        select 1 from locks where locks.account = runs.account and locks.run_id = runs.id ${forKeyShare})`
    : sql`not exists (select 1 from locks where locks.account = runs.account and locks.run_id <> runs.id)`;
  return sql`
    select id from runs
    where id = ${runId} and status = 'running' and timeline = ${timeline}
      and (mode = 'plan' or ${hasLock})
      and (epoch is null or exists (
        select 1 from locks where locks.account = ${LEADER} and locks.run_id = runs.epoch ${forKeyShare}))
    ${forShare}`;
}

/** Throws `lock_lost` unless the daemon of this epoch leads; null is a command, which needs no such daemon. */
export async function requireLeader(connection: Database, epoch: string | null): Promise<void> {
  if (epoch === null) return;
  const { rows } = await sql`
    select 1 from locks where account = ${LEADER} and run_id = ${epoch} ${engineOf(connection).forKeyShare}`.execute(
    connection,
  );
  if (rows.length === 0) throw new StoreError('lock_lost', 'this daemon no longer leads');
}

export function lockLost(): StoreError {
  return new StoreError(
    'lock_lost',
    'another process has taken over the account, because this one did not renew its lock in time',
  );
}
