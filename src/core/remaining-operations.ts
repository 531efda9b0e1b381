// The operations that remain after a run: the drift that the gauges and the pages show.
import type { Action } from './catalog.ts';
import type { EndedRun } from './journal-reader.ts';
import type { Operation, Plan } from './plan.ts';

/** The plan's operations that were not done; null when the run made no plan. */
export function remainingOperations({ plan, operations }: EndedRun): readonly Operation[] | null {
  return plan === null ? null : notDone(plan, operations);
}

/** The plan of a run with only the operations that were not done; null when none remains and nothing is held. */
export function remainingPlan(detail: EndedRun): Plan | null {
  const { plan } = detail;
  if (plan === null) return null;
  const operations = notDone(plan, detail.operations);
  if (operations.length === 0 && plan.held.length === 0) return null;
  const count = (wanted: Action): number => operations.filter(({ action }) => action === wanted).length;
  const summary = { ...plan.summary, create: count('create'), delete: count('delete') };
  return { ...plan, operations, summary };
}

function notDone(plan: Plan, operations: EndedRun['operations']): Operation[] {
  const done = new Set(operations.filter(({ status }) => status === 'done').map(({ seq }) => seq));
  return plan.operations.filter((_, index) => !done.has(index + 1));
}
