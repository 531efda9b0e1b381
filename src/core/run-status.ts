// Derives the status of a run from the results of its operations.
import type { OperationStatus, RunStatus } from './journal.ts';

export interface OutcomeFacts {
  readonly statuses: readonly OperationStatus[];
  readonly interrupted: boolean;
  /** Whether the last lists do not show a confirmed change or a desired entry. */
  readonly unverified: boolean;
}

/** `converged` only when nothing remains. Failed, unknown and untried operations outweigh held ones. */
export function runStatus({ statuses, interrupted, unverified }: OutcomeFacts): RunStatus {
  if (interrupted) return 'interrupted';
  const bad: readonly OperationStatus[] = ['failed', 'unknown', 'skipped', 'pending', 'sent'];
  if (unverified || statuses.some((status) => bad.includes(status))) return 'partial';
  return statuses.includes('held') ? 'held' : 'converged';
}
