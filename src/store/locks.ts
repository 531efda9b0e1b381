// The leases: one run at a time for each account, across all processes that share the store. The row of the account has it.
import { sql } from 'kysely';
import type { DueAccount, DueReason, Lease, LockAttempt, Locks } from '../core/ports/locks.ts';
import { endBrokenRuns } from './broken-runs.ts';
import { dueColumns } from './due-accounts.ts';
import { engineOf } from './engine.ts';
import { isHeld, leaseRow } from './fence.ts';
import { HOLDER, holderOf, machineOf } from './process-identity.ts';
import { jsonList, toMs } from './row-values.ts';
import type { Database } from './tables.ts';

const NO_LEASE = sql`lease_holder = null, lease_until = null, lease_run = null, lease_token = null`;

/** `quick`: the same database over a connection that never waits long. */
export function createLocks(db: Database, quick: Database = db): Locks {
  const engine = engineOf(db);
  const { leaseMs } = engine;

  async function release(
    { account, runId }: Pick<Lease, 'account' | 'runId'>,
    again: DueReason | null = null,
  ): Promise<void> {
    const due = again === null ? sql`` : sql`, ${dueColumns(engine.timeAfter(0, Date.now()), again)}`;
    await sql`update accounts set ${NO_LEASE}${due} where name = ${account} and lease_run = ${runId}`.execute(
      quick,
    );
  }

  /** Takes the lease if it is as it was read. With `due`, also takes the account as due, if it still is as it was read. */
  async function take(
    account: string,
    { run, until: seenUntil }: Pick<DueAccount['seen'], 'run' | 'until'>,
    { runId, nowMs }: { readonly runId: string; readonly nowMs: number },
    due: DueAccount | null,
  ): Promise<Lease | null> {
    const notDue = due === null ? sql`` : sql`, due_at = null, due_reason = null, due_by = null`;
    const stillDue = due === null ? sql`` : sql`and accounts.due_at is not distinct from ${due.seen.dueAt}`;
    const until = engine.timeAfter(leaseMs, nowMs);
    const { rows } = await sql<{ lease_until: string; running: number }>`
      insert into accounts (name, lease_holder, lease_until, lease_run) values (${account}, ${HOLDER}, ${until}, ${runId})
      on conflict (name) do update set lease_holder = excluded.lease_holder, lease_until = excluded.lease_until,
        lease_run = excluded.lease_run, lease_token = null${notDue}
      where accounts.lease_run is not distinct from ${run}
        and accounts.lease_until is not distinct from ${seenUntil} ${stillDue}
      returning lease_until, (select count(*) from runs where account = ${account} and status = 'running') as running`.execute(
      db,
    );
    const [row] = rows;
    if (row === undefined) return null;
    const lease = { account, runId, takenAtMs: toMs(row.lease_until) - leaseMs };
    if (Number(row.running) === 0) return lease;
    try {
      // A broken run remains `running` until this is complete, so that the next holder ends it if this process dies.
      await endBrokenRuns(db, account, run, lease.takenAtMs);
    } catch (error) {
      // If this fails too, others can take the lease when it has ended.
      await release(lease, due).catch(() => undefined);
      throw error;
    }
    return lease;
  }

  return {
    leaseMs,

    async acquire(account, runId, nowMs): Promise<LockAttempt> {
      // As it is after the end of a run; read only where that fails.
      let seen: Pick<DueAccount['seen'], 'run' | 'until'> = { run: null, until: null };
      for (;;) {
        const lease = await take(account, seen, { runId, nowMs }, null);
        if (lease !== null) return { lease };
        // Another process may take it meanwhile, and is named then.
        const row = await leaseRow(db, account);
        if (row !== undefined && isHeld(db, row, await engine.clockMs(db, nowMs))) {
          const { pid, host } = holderOf(row.lease_holder ?? '');
          return { heldBy: `process ${pid} on ${machineOf(host)} (run ${row.lease_run ?? ''})` };
        }
        seen = { run: row?.lease_run ?? null, until: row?.lease_until ?? null };
      }
    },

    take: (due, runId, nowMs) => take(due.account, due.seen, { runId, nowMs }, due),

    release,

    async renew(runs, nowMs) {
      const { rows } = await sql<{ lease_run: string; lease_until: string }>`
        update accounts set lease_until = ${engine.timeAfter(leaseMs, nowMs)}
        where lease_run in ${jsonList(runs)} returning lease_run, lease_until`.execute(quick);
      const [first] = rows;
      return {
        held: new Set(rows.map(({ lease_run }) => lease_run)),
        nowMs: first === undefined ? null : toMs(first.lease_until) - leaseMs,
      };
    },
  };
}
