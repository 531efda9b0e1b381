// The state of an account in one word, from the journal and the configuration.
import type { Action } from './catalog.ts';
import type { AccountRecord } from './journal-reader.ts';
import type { Approval, PendingPlan } from './operator.ts';

/** The most urgent first. An account that matches several has the first one. */
export const ACCOUNT_STATES = [
  'invalid',
  'failed',
  'blocked',
  'partial',
  'interrupted',
  'waiting',
  'drift',
  'held',
  'paused',
  'approved',
  'running',
  'new',
  'unknown',
  'converged',
  'removed',
] as const;
export type AccountStateName = (typeof ACCOUNT_STATES)[number];

/** The states in which something must be fixed. */
export const FAILING_STATES: ReadonlySet<AccountStateName> = new Set([
  'invalid',
  'failed',
  'blocked',
  'partial',
  'interrupted',
]);

export interface StatusFacts {
  readonly isConfigured: boolean;
  /** Whether its file has no errors. */
  readonly isValid: boolean;
  /** Absent when the account never ran and was never paused. */
  readonly record: AccountRecord | undefined;
  /** How many operations of the latest run's plan were not done; null when that is not known. */
  readonly remaining: Readonly<Record<Action, number>> | null;
  readonly nowMs: number;
}

/** The most urgent state that is true of the account. An account that is not configured is only `removed`. */
export function accountStateOf(facts: StatusFacts): AccountStateName {
  if (!facts.isConfigured) return 'removed';
  return ACCOUNT_STATES.find((state) => isTrue(state, facts)) ?? 'unknown';
}

function isTrue(state: AccountStateName, { isValid, record, remaining, nowMs }: StatusFacts): boolean {
  const run = record?.lastRun ?? null;
  const isRunning = run?.status === 'running';
  const pending = record === undefined ? null : waitingPlan(record);
  const isApproved = record !== undefined && pending !== null && approvalOf(record, nowMs) !== null;
  const differs = remaining !== null && remaining.create + remaining.delete > 0;
  switch (state) {
    case 'invalid':
      return !isValid;
    case 'failed':
    case 'blocked':
    case 'partial':
    case 'interrupted':
      return run?.status === state;
    case 'waiting':
      return pending !== null && !isApproved;
    case 'drift':
      // What waits for approval, and what a run is about to do, waits for nothing else.
      return !isRunning && pending === null && differs;
    case 'held':
      return !isRunning && run !== null && run.held > 0;
    case 'paused':
      return record !== undefined && record.state.pause !== null;
    case 'approved':
      return isApproved;
    case 'running':
      return isRunning;
    case 'new':
      return run === null;
    case 'converged':
      return run?.status === 'converged' || (run !== null && remaining !== null && !differs);
    case 'unknown':
    case 'removed':
      return false;
    default:
      return state satisfies never;
  }
}

/** The plan that waits for approval; null while a run applies it. */
export function waitingPlan({ state: { pending }, lastRun }: AccountRecord): PendingPlan | null {
  const isApplied = lastRun?.status === 'running' && lastRun.planDigest === pending?.digest;
  return isApplied ? null : pending;
}

/** The approval of the pending plan, while it is valid. */
export function approvalOf({ state: { pending, approval } }: AccountRecord, nowMs: number): Approval | null {
  const isOfPending = approval !== null && approval.digest === pending?.digest;
  return isOfPending && approval.expiresAtMs > nowMs ? approval : null;
}
