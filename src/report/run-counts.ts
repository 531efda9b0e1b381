// Counts what became of every change of a run's plan. Each change is in exactly one count, so the counts add up.
import type { RunDetail, RunTally } from '../core/ports/journal-reader.ts';
import type { OperationRecord, RunRecord } from '../core/journal.ts';
import type { Plan } from '../core/plan.ts';
import { withStatus } from './run-status.ts';

/** All but `kept` add up to the operations and the held changes of the plan. */
export interface RunCounts {
  readonly created: number;
  readonly deleted: number;
  /** Entries that existed already, or were gone already, when it was their turn. */
  readonly foundDone: number;
  readonly held: number;
  readonly failed: number;
  /** The request was sent, and its result is not known. */
  readonly inDoubt: number;
  /** Only of a run that still lasts. */
  readonly inProgress: number;
  /** Planned and not tried, or not tried yet. */
  readonly notTried: number;
  readonly kept: number;
}

/** The counts of a run. One whose plan or operations are no longer stored has only the totals of its record. */
export function countRun({
  run,
  plan,
  operations,
}: Pick<RunDetail, 'run' | 'plan' | 'operations'>): RunCounts {
  const done = withStatus(operations, 'done').length;
  return {
    created: run.created,
    deleted: run.deleted,
    foundDone: Math.max(0, done - run.created - run.deleted),
    held: plan === null ? run.held : plan.held.length + heldDuringRun(operations, plan).length,
    ...countUndone(run, { statuses: countStatuses(operations), planned: plan?.summary ?? null }),
    kept: run.kept,
  };
}

function countStatuses(operations: readonly OperationRecord[]): RunTally['statuses'] {
  const statuses: Partial<Record<OperationRecord['status'], number>> = {};
  for (const { status } of operations) statuses[status] = (statuses[status] ?? 0) + 1;
  return statuses;
}

/** The counts of the changes that a run tried without success, or did not try. */
export function countUndone(
  run: Pick<RunRecord, 'status' | 'failed'>,
  { statuses, planned }: RunTally,
): Pick<RunCounts, 'failed' | 'inDoubt' | 'inProgress' | 'notTried'> {
  const isRunning = run.status === 'running';
  const { sent = 0, unknown = 0, failed = 0, skipped = 0, pending = 0 } = statuses;
  // A run that ends before its first request has no rows of operations.
  const hasRows = Object.keys(statuses).length > 0;
  return {
    // The record counts operations of unknown result as failed; here they are counted separately.
    failed: hasRows ? failed : run.failed,
    inDoubt: isRunning ? unknown : unknown + sent,
    inProgress: isRunning ? sent : 0,
    notTried: hasRows || planned === null ? skipped + pending : planned.create + planned.delete,
  };
}

/** The operations that were held during the run. The journal also has a row for each change that the plan itself holds. */
export function heldDuringRun(
  operations: readonly OperationRecord[],
  plan: Pick<Plan, 'held'> | null,
): OperationRecord[] {
  const planned = new Set(plan?.held.map(changeKey));
  return withStatus(operations, 'held').filter((operation) => !planned.has(changeKey(operation)));
}

function changeKey(change: Pick<OperationRecord, 'action' | 'kind' | 'name' | 'remoteId'>): string {
  return JSON.stringify([change.action, change.kind, change.remoteId ?? change.name]);
}

/** The sum of the counts of several runs. */
export function sumCounts(all: readonly RunCounts[]): RunCounts {
  const sum = (key: keyof RunCounts): number => all.reduce((total, counts) => total + counts[key], 0);
  return {
    created: sum('created'),
    deleted: sum('deleted'),
    foundDone: sum('foundDone'),
    held: sum('held'),
    failed: sum('failed'),
    inDoubt: sum('inDoubt'),
    inProgress: sum('inProgress'),
    notTried: sum('notTried'),
    kept: sum('kept'),
  };
}

/** `3 created, 2 deleted, 1 held, 0 failed, 412 unchanged`, with every further count that is not zero. */
export function countsText(counts: RunCounts, isRunning = false): string {
  const { created, deleted, foundDone, held, failed, inDoubt, inProgress, notTried, kept } = counts;
  const unless0 = (amount: number, label: string): string[] => (amount === 0 ? [] : [`${amount} ${label}`]);
  return [
    `${created} created`,
    `${deleted} deleted`,
    ...unless0(foundDone, 'already done'),
    `${held} held`,
    `${failed} failed`,
    ...unless0(inDoubt, 'in doubt'),
    ...unless0(inProgress, 'in progress'),
    ...unless0(notTried, isRunning ? 'remaining' : 'not tried'),
    `${kept} unchanged`,
  ].join(', ');
}
