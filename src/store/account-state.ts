// Converts a row of `accounts` to the state that a run needs.
import type { Selectable, Updateable } from 'kysely';
import { APPROVAL_LIFE_MS, type Approval, type Pause, type PendingPlan } from '../core/operator.ts';
import type { RemainingCounts } from '../core/ports/journal-reader.ts';
import type { AccountState } from '../core/ports/journal.ts';
import type { Database, Tables } from './tables.ts';
import { toIso, toMs } from './row-values.ts';

export type AccountRow = Selectable<Tables['accounts']>;

/** The state in a row, or the state of an account without a row. */
export function toState(row: AccountRow | undefined): AccountState {
  return {
    remoteAccountId: row?.remote_account_id ?? null,
    pause: row === undefined ? null : toPause(row),
    throttledUntilMs: typeof row?.throttled_until === 'string' ? toMs(row.throttled_until) : null,
    lastAppliedCommit:
      typeof row?.last_applied_commit === 'string'
        ? { sha: row.last_applied_commit, committedAt: row.last_applied_committed_at ?? toIso(0) }
        : null,
    releasedRuns: toReleasedRuns(row?.released_runs ?? ''),
    pending: row === undefined ? null : toPending(row),
    approval: row === undefined ? null : toApproval(row),
    consecutiveFailures: row?.consecutive_failures ?? 0,
  };
}

function toReleasedRuns(lines: string): Map<string, string> {
  return new Map(
    lines
      .split('\n')
      .filter(Boolean)
      .map((line) => {
        const at = line.lastIndexOf(' ');
        return [line.slice(0, at), line.slice(at + 1)];
      }),
  );
}

function toPause(
  row: Pick<AccountRow, 'paused' | 'paused_at' | 'paused_by' | 'paused_reason'>,
): Pause | null {
  const { paused_at, paused_by, paused_reason: reason } = row;
  return row.paused === 1 ? { sinceMs: toMs(paused_at ?? toIso(0)), by: paused_by ?? '', reason } : null;
}

/** null when no run has ended after it planned. */
export function toRemaining(
  row: Pick<AccountRow, 'remaining_creates' | 'remaining_deletes'>,
): RemainingCounts | null {
  const { remaining_creates: creates, remaining_deletes: deletes } = row;
  return creates === null || deletes === null ? null : { create: creates, delete: deletes };
}

function toPending(
  row: Pick<AccountRow, 'pending_digest' | 'pending_run' | 'pending_since'>,
): PendingPlan | null {
  return row.pending_digest === null
    ? null
    : {
        digest: row.pending_digest,
        runId: row.pending_run ?? '',
        sinceMs: toMs(row.pending_since ?? toIso(0)),
      };
}

function toApproval(
  row: Pick<AccountRow, 'approved_digest' | 'approved_at' | 'approved_by'>,
): Approval | null {
  if (row.approved_digest === null) return null;
  const givenAtMs = toMs(row.approved_at ?? toIso(0));
  return {
    digest: row.approved_digest,
    by: row.approved_by ?? '',
    givenAtMs,
    expiresAtMs: givenAtMs + APPROVAL_LIFE_MS,
  };
}

/** The columns of an account for which no plan waits. */
export const NOTHING_PENDING = { pending_digest: null, pending_run: null, pending_since: null };

/** The columns of an account without an approval. */
export const NOTHING_APPROVED = { approved_digest: null, approved_at: null, approved_by: null };

/** Sets columns of an account, which need not have run yet. */
export async function setColumns(
  db: Database,
  account: string,
  columns: Omit<Updateable<Tables['accounts']>, 'name'>,
): Promise<void> {
  await db
    .insertInto('accounts')
    .values({ name: account, ...columns })
    .onConflict((conflict) => conflict.column('name').doUpdateSet(columns))
    .execute();
}
