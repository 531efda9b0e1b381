// What the daemon needs to run large accounts in processes of their own. Run in the daemon's process, lists of a hundred
// thousand entries would block its health checks and schedules for many seconds.
import type { AccountRequest } from '../app/request.ts';
import type { RunMode } from '../core/journal.ts';
import type { Plan } from '../core/plan.ts';

/** The parts of a plan that are logged. */
export type PlanHeadline = Pick<Plan, 'account' | 'summary' | 'digest' | 'status'>;

/** The journaled run, or nothing was run: another process holds the lock of the account, or null for other reasons. */
export type LargeRunEnd = { readonly runId: string } | { readonly heldBy: string | null };

export interface LargeRuns {
  isLarge(account: string): boolean;
  /** Remembers, until the daemon ends, that the account needs a process of its own. */
  note(account: string, names: number): void;
  /** Calls the listener whenever a process has ended, so that a waiting account can start. */
  onFree(listener: () => void): void;
  /** Whether a run of the account may start now: it is not known to be large, or a process of its size is free. */
  mayStart(account: string, address: string): boolean;
  /**
   * Runs the account in a process. Resolves with `later`, and journals nothing, when no process of its size is free or it
   * needs one with more memory. Throws SecretError or ConfigError when its token cannot be read, ServiceError when the
   * token is that of another account, and StoreError or Error when nothing could be journaled.
   */
  run(
    request: AccountRequest,
    mode: RunMode,
    onPlan: (plan: PlanHeadline, runId: string) => void,
  ): Promise<LargeRunEnd | 'later'>;
}
