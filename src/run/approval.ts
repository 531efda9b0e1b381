// Whether the daemon may apply a plan, or the plan waits for approval.
import type { Warning } from '../core/catalog.ts';
import type { RunMode } from '../core/journal.ts';
import { describePause, type PauseOfAll, pausedError } from '../core/operator.ts';
import { nameKey } from '../core/names.ts';
import { hasDeletes, type Operation, type Plan, type ReviewedPlan } from '../core/plan.ts';
import { bindingPause } from './changes-during-run.ts';
import { planAccount, planAgreed, type Planned } from './plan-account.ts';
import type { Observation } from './observe.ts';
import type { DryRunDeps, ReconcileOptions, Run } from './request.ts';

/** `free`: no approval is needed. `approved`: an operator approved exactly this plan. `waits`: nothing is written yet. */
export interface ApprovalVerdict {
  readonly verdict: 'free' | 'approved' | 'waits';
  /** Reports an approval that lapsed: of another plan, or too old. */
  readonly warnings: readonly Warning[];
}

const NONE = { type: 'none' } as const;

/**
 * Decides whether the plan may be applied. In `approve` mode each plan that would write, in `approve-deletes` each that
 * would delete, and in any mode each plan that a guard blocked, needs an approval of its digest. An approval also accepts
 * that all assignments of a kind vanished, where there is nothing else to approve: without operations, and in mode `plan`,
 * which writes none. The approval is used up here; one that was given after the lists were read starts the next run.
 */
export async function takeApproval(
  {
    request: { settings, trigger },
    deps: { journal, clock },
    runId,
    state,
  }: Pick<Run<DryRunDeps>, 'request' | 'deps' | 'runId'> & Pick<Observation, 'state'>,
  { plan, areListsGood }: Pick<Planned, 'plan' | 'areListsGood'>,
  mode: RunMode,
): Promise<ApprovalVerdict> {
  const run = { id: runId, account: settings.name, byHand: trigger === 'manual' };
  const taken = state.approval === null ? NONE : await journal.takeApproval(run, plan.digest, clock.nowMs());
  const needsApproval =
    plan.status === 'blocked' ||
    (mode === 'approve' && plan.operations.length > 0) ||
    (mode === 'approve-deletes' && hasDeletes(plan));
  if (taken.type === 'lapsed') {
    const why =
      taken.reason === 'changed'
        ? 'the plan has changed since it was approved'
        : 'it was not given within the last 24 hours';
    const next = needsApproval ? `. Review the new plan, then run \`rolecall approve ${settings.name}\`` : '';
    const message = `the approval of the plan ${taken.digest} has lapsed: ${why}${next}`;
    const warnings = [{ code: 'approval_lapsed', message }];
    return { verdict: needsApproval ? 'waits' : 'free', warnings };
  }
  // A plan that writes nothing waits for nobody, but an operator may accept its lists.
  const mayBeAccepted = !areListsGood && (mode === 'plan' || plan.operations.length === 0);
  if (taken.type === 'taken' && (needsApproval || mayBeAccepted))
    return { verdict: 'approved', warnings: [] };
  return { verdict: needsApproval ? 'waits' : 'free', warnings: [] };
}

/** What the approval of a plan accepts. */
export const LISTS_ACCEPTED = ['suspicious_list'] as const;
export const FREE: ApprovalVerdict = { verdict: 'free', warnings: [] };

/** The plan of a run that may write, and what keeps it, or its deletes, from being applied. */
export interface Decision {
  readonly planned: Planned;
  readonly approval: ApprovalVerdict;
  readonly pause: PauseOfAll | null;
  readonly keptDeletes: KeptDeletes | null;
}

/** Plans the account, and takes its approval where the daemon runs it. */
export async function decide(
  run: Run,
  observation: Observation,
  options: ReconcileOptions,
): Promise<Decision> {
  let planned = await planAgreed(run, observation, options);
  const pause = await bindingPause(run, planned.plan);
  // An approval is kept for the run after the pause.
  const state = pause === null ? observation.state : { ...observation.state, approval: null };
  const approval =
    options.approvals === true ? await takeApproval({ ...run, state }, planned, options.mode) : FREE;
  if (planned.plan.status === 'blocked' && approval.verdict === 'approved') {
    planned = await planAccount(run, observation, LISTS_ACCEPTED);
  } else if (approval.verdict === 'approved' && planned.plan.operations.length === 0) {
    // The operator accepted that assignments vanished; the next run decides about the deletes.
    planned = { ...planned, areListsGood: true };
  }
  return { planned, approval, pause, keptDeletes: deletesKept(planned.plan, approval, options, pause) };
}

/** Deletes that are not sent although the creates of their plan are. */
export interface KeptDeletes {
  readonly reason: string;
  /** The digest under which they wait for approval. */
  readonly pending: string | undefined;
  /** Of the run, if it has one. */
  readonly error?: ReturnType<typeof pausedError>;
}

/**
 * Why the deletes of the plan are not sent although its creates are; null where both are, or neither is. `pause`: that of
 * all accounts, if it binds.
 */
function deletesKept(
  plan: Plan,
  { verdict }: ApprovalVerdict,
  { mode, noDelete = false }: ReconcileOptions,
  pause: PauseOfAll | null,
): KeptDeletes | null {
  if (noDelete) return { reason: 'left out by --no-delete', pending: undefined };
  const isSplit = verdict === 'waits' && mode === 'approve-deletes' && plan.summary.create > 0;
  if (!isSplit && (pause === null || verdict === 'waits')) return null;
  const pending = isSplit ? plan.digest : undefined;
  if (pause === null) return { reason: 'it waits for an approval', pending };
  const error = pausedError(pause);
  return { reason: describePause(pause) ?? '', pending, error };
}

/**
 * Whether an operation may be applied by the run that continues an agreed plan: the plan contains it, and it affects nobody
 * else.
 */
export function isContained({ operations }: ReviewedPlan): (operation: Operation) => boolean {
  const keyOf = ({ action, kind, name, remoteId }: Operation): string =>
    `${action} ${kind} ${remoteId ?? nameKey(name)}`;
  const agreed = new Map(operations.map((operation) => [keyOf(operation), operation]));
  return (operation) => {
    const same = agreed.get(keyOf(operation));
    return same !== undefined && (operation.usedBy ?? []).every((id) => same.usedBy?.includes(id) === true);
  };
}
