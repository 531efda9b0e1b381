// The fence: decides within each transaction of a run whether this process may still write, by the lease of its account.
import { type RawBuilder, type Selectable, sql } from 'kysely';
import { StoreError } from '../core/errors.ts';
import { engineOf } from './engine.ts';
import { holderOf } from './process-identity.ts';
import { toIso } from './row-values.ts';
import type { Database, Tables } from './tables.ts';

/**
 * Throws `lock_lost` unless the run may write. The first statement of the transactions of a run: a process that was paused
 * must not overwrite what another one has journaled meanwhile.
 */
export async function requireOwnRun(connection: Database, runId: string): Promise<void> {
  if (!(await isOwnRun(connection, runId))) throw lockLost();
}

/**
 * Whether a run may write: it is still running, and no other run holds the lease of its account. A dry run of a command needs
 * none. `mustHold`: the run itself must hold the lease, as for what it sends.
 */
export async function isOwnRun(connection: Database, runId: string, mustHold = false): Promise<boolean> {
  const { rows } = await ownRun(connection, runId, mustHold).execute(connection);
  return rows.length > 0;
}

/**
 * The same as a query, which finds the run, for the condition of a statement that writes alone. Whoever takes the lease then
 * ends the run, and so waits for the transactions that have found it.
 */
export function ownRun(connection: Database, runId: string, mustHold = false): RawBuilder<{ id: string }> {
  const held = sql`(select lease_run from accounts where accounts.name = runs.account)`;
  const hasLease = mustHold ? sql`${held} = runs.id` : sql`coalesce(${held}, runs.id) = runs.id`;
  return sql`
    select id from runs
    where id = ${runId} and status = 'running' and ((mode = 'plan' and trigger = 'cli') or ${hasLease})
    ${engineOf(connection).forShare}`;
}

export function lockLost(): StoreError {
  return new StoreError(
    'lock_lost',
    'another process has taken over the account, because this one did not renew its lock in time',
  );
}

export type LeaseRow = Pick<Selectable<Tables['accounts']>, 'lease_holder' | 'lease_until' | 'lease_run'>;

export async function leaseRow(db: Database, account: string): Promise<LeaseRow | undefined> {
  const columns = ['lease_holder', 'lease_until', 'lease_run'] as const;
  return await db.selectFrom('accounts').select(columns).where('name', '=', account).executeTakeFirst();
}

/** Whether a process that may be alive holds the account's lease. */
export async function isLocked(db: Database, account: string, nowMs: number): Promise<boolean> {
  const row = await leaseRow(db, account);
  return row !== undefined && isHeld(db, row, await engineOf(db).clockMs(db, nowMs));
}

/** A valid lease ends sooner. One that ends later was taken before the clock of the store was set back. */
const LONGEST_LEASES = 2;
const LONGEST_LEASE_MS = 120_000;

/** Whether the holder of a lease may be alive. */
export function isHeld(db: Database, row: LeaseRow, nowMs: number): boolean {
  const { lease_holder: holder, lease_until: until } = row;
  if (holder === null || until === null) return false;
  const engine = engineOf(db);
  const longestMs = Math.max(LONGEST_LEASES * engine.leaseMs, LONGEST_LEASE_MS);
  return until > toIso(nowMs) && until < toIso(nowMs + longestMs) && !engine.isDead(holderOf(holder));
}
