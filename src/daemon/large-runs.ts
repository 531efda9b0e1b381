// What the daemon needs to run large accounts in threads of their own. Its thread answers requests and keeps schedules,
// which lists of a hundred thousand entries would stop for many seconds.
import type { AccountRequest } from '../app/request.ts';
import type { RunMode } from '../core/journal.ts';
import type { Plan } from '../core/plan.ts';

/** What the log says of a plan. */
export type PlanHeadline = Pick<Plan, 'account' | 'summary' | 'digest' | 'status'>;

export interface LargeRuns {
  /** Runs the account in a process. Resolves with the journaled run, or with who holds its lock. */
  run(
    request: AccountRequest,
    mode: RunMode,
    onPlan: (plan: PlanHeadline, runId: string) => void,
  ): Promise<{ readonly runId: string } | { readonly heldBy: string | null }>;
}
