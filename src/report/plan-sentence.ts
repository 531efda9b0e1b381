// The first line of a plan: what matters, in one sentence.
import type { HeldChange, Operation, Plan, PlanSummary } from '../core/plan.ts';
import { people } from './formatting.ts';

/** What the counts of people read. */
export type CountedPlan = Pick<Plan, 'summary' | 'operations' | 'held'>;

/** How many different people have at least one of the entries. */
export function affectedPeople(changes: readonly Pick<HeldChange | Operation, 'usedBy'>[]): number {
  return new Set(changes.flatMap(({ usedBy = [] }) => usedBy)).size;
}

/** `12 to create, 3 to delete (nobody has them), 2 held (14 people have them)`. */
export function changeCounts(plan: CountedPlan): string {
  const deletes = plan.operations.filter(({ action }) => action === 'delete');
  return countsText(plan.summary, affectedPeople(deletes), heldPeople(plan));
}

/** The number of people who have what is held; null if no delete is held, so that there is nothing to count. */
export function heldPeople({ held }: Pick<Plan, 'held'>): number | null {
  const deletes = held.filter(({ action }) => action === 'delete');
  return deletes.length === 0 ? null : affectedPeople(deletes);
}

/** The same sentence for numbers that were added up. */
export function countsText(
  summary: Pick<Plan['summary'], 'create' | 'delete' | 'hold'>,
  losing: number,
  holding: number | null,
): string {
  const losers = summary.delete === 0 ? '' : ` (${losingText(losing, summary.delete)})`;
  const holders = holding === null ? '' : ` (${havingText(holding, summary.hold)})`;
  return `${summary.create} to create, ${summary.delete} to delete${losers}, ${summary.hold} held${holders}`;
}

function losingText(amount: number, entries: number): string {
  if (amount === 0) return havingText(amount, entries);
  return `${people(amount)} ${amount === 1 ? 'loses' : 'lose'} ${entries === 1 ? 'it' : 'them'}`;
}

function havingText(amount: number, entries: number): string {
  return `${people(amount)} ${amount > 1 ? 'have' : 'has'} ${entries === 1 ? 'it' : 'them'}`;
}

/** `3 to create, 2 to delete, 1 held, 412 unchanged, 4 left alone`. */
export function summaryText(summary: PlanSummary): string {
  return [
    `${summary.create} to create`,
    `${summary.delete} to delete`,
    `${summary.hold} held`,
    `${summary.keep} unchanged`,
    `${summary.leave} left alone`,
  ].join(', ');
}
