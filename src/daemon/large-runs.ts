// What the daemon needs to run large accounts in processes of their own: in its own process, lists of a hundred thousand
// entries would stop health checks and schedules for many seconds.
import type { AccountRequest } from '../app/request.ts';
import type { RunMode } from '../core/journal.ts';
import type { Plan } from '../core/plan.ts';

/** What the log says of a plan. */
export type PlanHeadline = Pick<Plan, 'account' | 'summary' | 'digest' | 'status'>;

export interface LargeRuns {
  isLarge(account: string): boolean;
  /** Remembers, while the daemon lives, that the account is run in a process of its own. */
  note(account: string, names: number): void;
  /** Calls the listener whenever a process has ended, so that an account that waits for its place can start. */
  onFree(listener: () => void): void;
  /** Whether a run of the account may start now: it is not known to be large, or a process of its size is free. */
  mayStart(account: string, address: string): boolean;
  /**
   * Runs the account in a process. Resolves with the journaled run, with who holds its lock, or with `later` when no
   * process of its size is free, or it needs one with more memory; then nothing was journaled. Throws SecretError or
   * ConfigError when its token cannot be read, ServiceError when it is another account's, and StoreError or Error when
   * nothing could be journaled.
   */
  run(
    request: AccountRequest,
    mode: RunMode,
    onPlan: (plan: PlanHeadline, runId: string) => void,
  ): Promise<{ readonly runId: string } | { readonly heldBy: string | null } | 'later'>;
}
