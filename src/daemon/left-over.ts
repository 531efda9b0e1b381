// What a plan would still do after its run: the drift that the gauges and the pages show.
import type { Operation } from '../core/plan.ts';
import type { RunDetail } from '../core/journal-reader.ts';

/** The plan's operations that were not done; null when the run never came to a plan. */
export function leftOver({ plan, operations }: RunDetail): readonly Operation[] | null {
  if (plan === null) return null;
  const done = new Set(operations.filter(({ status }) => status === 'done').map(({ seq }) => seq));
  return plan.operations.filter((_, index) => !done.has(index + 1));
}
