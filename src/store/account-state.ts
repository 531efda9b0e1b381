// Converts a row of `accounts` to the state that a run needs.
import type { Selectable } from 'kysely';
import { APPROVAL_LIFE_MS } from '../core/operator.ts';
import type { AccountState } from '../core/ports.ts';
import type { AccountsTable } from './tables.ts';
import { toIso, toMs } from './times.ts';

/** The state in a row, or the state of an account without a row. */
export function toState(row: Selectable<AccountsTable> | undefined): AccountState {
  const { pending_digest: pending = null, approved_digest: approved = null } = row ?? {};
  const approvedAtMs = toMs(row?.approved_at ?? toIso(0));
  return {
    remoteAccountId: row?.remote_account_id ?? null,
    pause:
      row?.paused === 1
        ? {
            sinceMs: row.paused_at === null ? null : toMs(row.paused_at),
            by: row.paused_by,
            reason: row.paused_reason,
          }
        : null,
    throttledUntilMs: typeof row?.throttled_until === 'string' ? toMs(row.throttled_until) : null,
    lastAppliedCommit:
      typeof row?.last_applied_commit === 'string'
        ? { sha: row.last_applied_commit, committedAt: row.last_applied_committed_at ?? toIso(0) }
        : null,
    pending:
      pending === null
        ? null
        : { digest: pending, runId: row?.pending_run ?? '', sinceMs: toMs(row?.pending_since ?? toIso(0)) },
    approval:
      approved === null
        ? null
        : {
            digest: approved,
            by: row?.approved_by ?? null,
            givenAtMs: approvedAtMs,
            expiresAtMs: approvedAtMs + APPROVAL_LIFE_MS,
          },
    consecutiveFailures: row?.consecutive_failures ?? 0,
  };
}
