// The states of an account: what lists of accounts are sorted and filtered by, in commands and on the daemon's pages.
import type { Action } from './catalog.ts';
import type { AccountState } from './ports/journal.ts';
import type { RunRecord } from './schemas.ts';
import { ACCOUNT_STATES, type AccountStateName } from './journal.ts';
import { type Approval, hasExpired, type PendingPlan } from './operator.ts';

/** The states in which something must be fixed: those before `waiting`. */
export const FAILING_STATES: ReadonlySet<AccountStateName> = new Set(
  ACCOUNT_STATES.slice(0, ACCOUNT_STATES.indexOf('waiting')),
);

/** What decides the states of an account. */
export interface StateFacts {
  /** Left out: it is. */
  readonly configured?: boolean;
  /** Whether the service file has no errors. Otherwise no account runs. */
  readonly serviceValid: boolean;
  /** Whether its file has no errors. */
  readonly valid: boolean;
  /** What its daemon does with it: `queued` waits for a free place. A command sees each account as idle. */
  readonly activity: 'running' | 'queued' | 'idle';
  /** null while scheduled runs are allowed. */
  readonly pause: object | null;
  /** The plan that waits for approval, or for the run that applies it. */
  readonly pending: { readonly digest: string } | null;
  /** The approval that is valid now. */
  readonly approved: { readonly digest: string } | null;
  readonly lastRun: Pick<RunRecord, 'status' | 'held'> | null;
  /** How many operations of the latest run's plan were not done; null when that is not known. */
  readonly drift: Readonly<Record<Action, number>> | null;
}

/** Whether a plan is pending and not approved. */
export function waitsForApproval({ pending, approved }: Pick<StateFacts, 'pending' | 'approved'>): boolean {
  return pending !== null && approved?.digest !== pending.digest;
}

/** At least one state. */
export type AccountStates = readonly [AccountStateName, ...AccountStateName[]];

/**
 * All states that are true of the account, in the order of ACCOUNT_STATES. `unknown`, `converged` and `removed` are only
 * true alone.
 */
export function statesOf(facts: StateFacts): AccountStates {
  if (facts.configured === false) return ['removed'];
  const [first, ...others] = ACCOUNT_STATES.filter((state) => isTrue(state, facts));
  if (first !== undefined) return [first, ...others];
  const isDone = facts.drift !== null && facts.drift.create + facts.drift.delete === 0;
  return [facts.lastRun?.status === 'converged' || isDone ? 'converged' : 'unknown'];
}

function isTrue(state: AccountStateName, facts: StateFacts): boolean {
  const { activity, pending, lastRun, drift } = facts;
  const isRunning = activity === 'running' || lastRun?.status === 'running';
  switch (state) {
    case 'service_invalid':
      return !facts.serviceValid;
    case 'invalid':
      return !facts.valid;
    case 'failed':
    case 'blocked':
    case 'partial':
    case 'interrupted':
      return lastRun?.status === state;
    case 'waiting':
      return waitsForApproval(facts);
    case 'drift':
      // What a pending plan contains waits for its approval; what a run is about to do does not wait for anybody.
      return !isRunning && pending === null && drift !== null && drift.create + drift.delete > 0;
    case 'held':
      return !isRunning && lastRun !== null && lastRun.held > 0;
    case 'paused':
      return facts.pause !== null;
    case 'approved':
      return !isRunning && pending !== null && !waitsForApproval(facts);
    case 'running':
      return isRunning;
    case 'queued':
      return !isRunning && activity === 'queued';
    case 'new':
      return !isRunning && lastRun === null;
    case 'unknown':
    case 'converged':
    case 'removed':
      return false;
    default:
      return state satisfies never;
  }
}

/** The plan that waits for approval, or for the run that applies it; null while a run applies it. */
export function waitingPlan({
  pending,
  lastRun,
}: {
  readonly pending: PendingPlan | null;
  readonly lastRun: Pick<RunRecord, 'status' | 'planDigest'> | null;
}): PendingPlan | null {
  const isApplied = lastRun?.status === 'running' && lastRun.planDigest === pending?.digest;
  return isApplied ? null : pending;
}

/** The approval of the pending plan, while it is valid. */
export function approvalOf(
  { pending, approval }: Pick<AccountState, 'pending' | 'approval'>,
  nowMs: number,
): Approval | null {
  const isOfPending = approval !== null && approval.digest === pending?.digest;
  return isOfPending && !hasExpired(approval, nowMs) ? approval : null;
}
