// What became of the operations → what became of the run (contract, section 5).
import type { OperationStatus, RunStatus } from './journal.ts';

export interface OutcomeFacts {
  readonly statuses: readonly OperationStatus[];
  readonly interrupted: boolean;
  /** Whether something that was confirmed, or that is desired, is not what the lists show at the end. */
  readonly unverified: boolean;
}

/** `converged` only when nothing is left; whatever failed, is unknown or was not tried outweighs what is held. */
export function runStatus({ statuses, interrupted, unverified }: OutcomeFacts): RunStatus {
  if (interrupted) return 'interrupted';
  const bad: readonly OperationStatus[] = ['failed', 'unknown', 'skipped', 'pending', 'sent'];
  if (unverified || statuses.some((status) => bad.includes(status))) return 'partial';
  return statuses.includes('held') ? 'held' : 'converged';
}
