// The first line of a plan: what matters, in one sentence.
import { peopleHave, peopleLose } from '../core/amounts.ts';
import { affectedPeople, type Plan, type PlanSummary } from '../core/plan.ts';

/** What the counts of people read. */
export type CountedPlan = Pick<Plan, 'summary' | 'operations' | 'held'>;

/** `12 to create, 3 to delete (nobody has them), 2 held (14 people have them)`. */
export function changeCounts(plan: CountedPlan): string {
  return countsText(plan.summary, affectedPeople(plan).size, heldPeople(plan));
}

/** The number of people who have what is held; null if no delete is held, so that there is nothing to count. */
export function heldPeople({ held }: Pick<Plan, 'held'>): number | null {
  const deletes = held.filter(({ action }) => action === 'delete');
  return deletes.length === 0 ? null : new Set(deletes.flatMap(({ usedBy }) => usedBy)).size;
}

/** The same sentence for numbers that were added up. */
export function countsText(
  summary: Pick<Plan['summary'], 'create' | 'delete' | 'hold'>,
  losing: number,
  holding: number | null,
): string {
  const lose = losing === 0 ? peopleHave : peopleLose;
  const losers = summary.delete === 0 ? '' : ` (${lose(losing, summary.delete)})`;
  const holders = holding === null ? '' : ` (${peopleHave(holding, summary.hold)})`;
  return `${summary.create} to create, ${summary.delete} to delete${losers}, ${summary.hold} held${holders}`;
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
