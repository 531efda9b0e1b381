// Decides within the transaction that begins a run whether this process may still make it. A process that was paused right
// before it, or that acts at the same moment as another one, must not make a run that the other makes.
import { sql } from 'kysely';
import { StoreError } from '../core/errors.ts';
import type { RunFence, RunPermit } from '../core/locks.ts';
import { holds } from './locks.ts';
import type { Database } from './tables.ts';
import { toIso } from './times.ts';

/** Throws `run_made` unless the lock and the permit of a run are valid. */
export async function requirePermit(
  connection: Database,
  account: string,
  { lease, permit, nowMs }: RunFence,
): Promise<void> {
  const hasLock = lease === undefined || (await holds(connection, lease));
  if (hasLock && (await isPermitted(connection, account, permit, nowMs))) return;
  throw new StoreError('run_made', 'another process has made this run');
}

async function isPermitted(
  connection: Database,
  account: string,
  permit: RunPermit,
  nowMs: () => number,
): Promise<boolean> {
  switch (permit.type) {
    case 'tick':
      return !(await hasScheduledRun(connection, account, permit.tickMs, nowMs()));
    case 'turn':
      return await isHolder(connection, account, permit);
  }
}

/** Whether the latest scheduled run of an account, in the order in which they began, started between two moments. */
export async function hasScheduledRun(
  db: Database,
  account: string,
  fromMs: number,
  toMs: number,
): Promise<boolean> {
  // The order in which the runs began does not change when the clock is set back.
  const { rows } = await sql`
    select 1 from runs as made
    where account = ${account} and started_at >= ${toIso(fromMs)} and started_at <= ${toIso(toMs)}
      and trigger in ('schedule', 'catch_up')
      and not exists (
        select 1 from runs as later
        where later.rowid > made.rowid and later.account || '' = made.account
          and later.trigger in ('schedule', 'catch_up'))
    limit 1`.execute(db);
  return rows.length > 0;
}

/** The lock on the turn keeps others from taking it over before the transaction ends. */
async function isHolder(
  connection: Database,
  account: string,
  { replica, epoch }: { readonly replica: string; readonly epoch: string },
): Promise<boolean> {
  const { rows } = await sql`
    select 1 from turns join replicas on replicas.id = turns.holder
    where account = ${account} and holder = ${replica} and epoch = ${epoch}::bigint
      and is_dead = 0 and expires_at > clock_timestamp()
    for share of turns`.execute(connection);
  return rows.length > 0;
}
