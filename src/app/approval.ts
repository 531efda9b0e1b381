// Whether a plan of the daemon may be carried out, or waits for a person's word (contract, section 7).
import type { Warning } from '../core/catalog.ts';
import type { Plan } from '../core/plan.ts';
import type { AccountRequest, ApplyDeps } from './request.ts';

/** `waits`: nothing may be written yet. `approved`: a person said yes to exactly this plan. */
export interface ApprovalVerdict {
  readonly verdict: 'free' | 'approved' | 'waits';
  /** Said of an approval that no longer fits what is there. */
  readonly warnings: readonly Warning[];
}

/**
 * Asks whether the plan may be carried out. In `approve` mode each plan that would write, and in any mode each plan
 * that a guard blocked, needs an approval of its digest, which is used up here.
 */
export async function takeApproval(
  plan: Plan,
  mode: 'plan' | 'approve' | 'apply',
  { settings, trigger }: AccountRequest,
  { journal, clock }: ApplyDeps,
): Promise<ApprovalVerdict> {
  const taking = await journal.takeApproval(settings.name, plan.digest, trigger === 'manual', clock.nowMs());
  const needsWord = plan.status === 'blocked' || (mode === 'approve' && plan.operations.length > 0);
  if (taking.type === 'lapsed') {
    const why =
      taking.reason === 'changed' ? 'what is there has changed since' : 'it was given more than 24 hours ago';
    const message = `the approval of ${taking.digest} has lapsed: ${why}`;
    const warnings = [{ code: 'approval_lapsed', message }];
    return { verdict: needsWord ? 'waits' : 'free', warnings };
  }
  if (!needsWord) return { verdict: 'free', warnings: [] };
  return { verdict: taking.type === 'taken' ? 'approved' : 'waits', warnings: [] };
}
