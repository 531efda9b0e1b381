// The exit statuses, and which one is returned for several accounts.
import type { RunStatus } from '../core/journal.ts';
import { PAUSED } from '../core/operator.ts';
import type { Plan } from '../core/plan.ts';

export const EXIT = {
  done: 0,
  failed: 1,
  changes: 2,
  held: 3,
  invalidConfiguration: 4,
  stalePlan: 5,
  usage: 64,
  interrupted: 130,
} as const;
export type ExitStatus = (typeof EXIT)[keyof typeof EXIT];

const PRECEDENCE: readonly ExitStatus[] = [
  EXIT.usage,
  EXIT.interrupted,
  EXIT.failed,
  EXIT.invalidConfiguration,
  EXIT.stalePlan,
  EXIT.held,
  EXIT.changes,
];

/** The most severe status, in the order 1, 4, 5, 3, 2; an interruption comes before all of them. */
export function combine(statuses: readonly ExitStatus[]): ExitStatus {
  return PRECEDENCE.find((status) => statuses.includes(status)) ?? EXIT.done;
}

/** The most severe status of plans, in the order 1, 4, 2, 3: what would be written matters more than what is held. */
export function combinePlans(statuses: readonly ExitStatus[]): ExitStatus {
  const most = combine(statuses);
  return most === EXIT.held && statuses.includes(EXIT.changes) ? EXIT.changes : most;
}

/** The exit status for the code of a failure. */
export function failureExit(code: string): ExitStatus {
  if (code === 'config_invalid') return EXIT.invalidConfiguration;
  if (code === 'plan_stale') return EXIT.stalePlan;
  return EXIT.failed;
}

/** The exit status of a plan. With `--detailed-exitcode`: 2 if there are operations, 3 if changes are only held or blocked. */
export function planExit(plan: Plan, detailed: boolean): ExitStatus {
  if (!detailed) return EXIT.done;
  if (plan.status === 'blocked') return EXIT.held;
  if (plan.operations.length > 0) return EXIT.changes;
  return plan.held.length > 0 ? EXIT.held : EXIT.done;
}

/** The exit status of a run of `apply`. */
export function runExit(status: RunStatus, failureCode: string | null, allowHeld: boolean): ExitStatus {
  // Something failed in a partial run.
  if (failureCode === PAUSED && status !== 'partial') return EXIT.held;
  switch (status) {
    case 'converged':
    case 'planned':
      return EXIT.done;
    case 'held':
      return allowHeld ? EXIT.done : EXIT.held;
    case 'blocked':
      return EXIT.held;
    case 'interrupted':
      return failureCode === 'lock_lost' ? EXIT.failed : EXIT.interrupted;
    case 'failed':
      return failureExit(failureCode ?? '');
    case 'partial':
    case 'running':
      return EXIT.failed;
    default:
      return status satisfies never;
  }
}
