// What matters, in one sentence: the verdict over all plans at the beginning of a report, and the counts of one plan.
import { people, peopleHave, peopleLose } from '../core/amounts.ts';
import { affectedPeople, type Plan, type PlanResult, type PlanSummary } from '../core/plan.ts';
import { code, type Line } from './document.ts';
import { count } from './formatting.ts';

/** The entries that the verdict names. */
const NAMED = 3;

/**
 * The sentence that a report of plans begins with: what merging or applying all of them does, and who loses what. A plan
 * that is blocked writes nothing. People are counted for each account, since their ids are unique within one only.
 */
export function planVerdict(results: readonly PlanResult[]): Line {
  const plans = results.flatMap((result) => (result.status === 'planned' ? [result] : []));
  const blocked = results.filter(({ status }) => status === 'blocked').length;
  const failed = results.length - plans.length - blocked;
  if (failed === results.length) return ['No account could be planned.'];
  const sum = (key: keyof PlanSummary) => plans.reduce((total, { summary }) => total + summary[key], 0);
  const hold = sum('hold');
  const writes = sum('create') + sum('delete') > 0;
  const holding = plans.map(heldPeople).filter((amount) => amount !== null);
  const have = holding.reduce((total, amount) => total + amount, 0);
  return [
    failed === 0
      ? 'Merging or applying this '
      : `${failed} of ${results.length} accounts could not be planned; in the others, merging or applying this `,
    writes
      ? `creates ${sum('create')} and deletes ${count(sum('delete'), 'entry', 'entries')}`
      : hold + blocked > 0
        ? 'writes nothing'
        : 'changes nothing',
    ...(sum('delete') === 0 ? [] : ['; ', ...losses(plans)]),
    hold === 0 ? '' : `; ${count(hold, 'change is', 'changes are')} held`,
    holding.length === 0 ? '' : ` (${peopleHave(have, hold)})`,
    blocked === 0 ? '' : `; ${count(blocked, 'account is', 'accounts are')} blocked`,
    '.',
  ];
}

/** `1 person loses Perl`, for the deletes of these plans. */
function losses(plans: readonly Plan[]): Line {
  const losing = plans.reduce((total, plan) => total + affectedPeople(plan).size, 0);
  if (losing === 0) return ['nobody loses a skill or role'];
  const lost = plans.flatMap(({ operations }) => operations.filter(({ usedBy = [] }) => usedBy.length > 0));
  const names = [...new Set(lost.map(({ name }) => name))];
  const rest = names.length - NAMED;
  const shown = names.slice(0, NAMED).map(code);
  const parts = rest > 0 ? [...shown, `${rest} more`] : shown;
  return [
    `${people(losing)} ${losing === 1 ? 'loses' : 'lose'} `,
    ...parts.flatMap((part, index) =>
      index === 0 ? [part] : [index === parts.length - 1 ? ' and ' : ', ', part],
    ),
  ];
}

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
