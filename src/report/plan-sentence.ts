// What matters, in one sentence: the verdict over all plans at the beginning of a report, and the counts of one plan.
import { people, peopleHave, peopleLose } from '../core/amounts.ts';
import type { Operation, Plan, PlanResult, PlanSummary } from '../core/plan.ts';
import { holdersIn } from '../core/unknown-holders.ts';
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
  const holding = totalOf(plans.map(heldPeople));
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
    holding === null ? '' : ` (${affectedText(peopleHave, holding, hold)})`,
    blocked === 0 ? '' : `; ${count(blocked, 'account is', 'accounts are')} blocked`,
    '.',
  ];
}

/** `1 person loses Perl`, for the deletes of these plans. */
function losses(plans: readonly Plan[]): Line {
  const total = totalOf(plans.map(losingPeople)) ?? { people: 0, unknown: 0 };
  const { people: losing, unknown } = total;
  if (losing === 0) {
    const deletes = plans.reduce((sum, { summary }) => sum + summary.delete, 0);
    return [affectedText(() => 'nobody loses a skill or role', total, deletes)];
  }
  const doubt = unknown === 0 ? '' : `nobody can tell who has ${unknown} of them`;
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
    doubt === '' ? '' : `; ${doubt}`,
  ];
}

/** What the counts of people read. */
export type CountedPlan = Pick<Plan, 'summary' | 'operations' | 'held' | 'warnings'>;

/** How many people have the entries of some deletes, and of how many of these nobody can tell. */
export interface Affected {
  readonly people: number;
  readonly unknown: number;
}

/** Adds up; null without anything to count. */
export function totalOf(each: readonly (Affected | null)[]): Affected | null {
  const counted = each.filter((affected) => affected !== null);
  if (counted.length === 0) return null;
  return {
    people: counted.reduce((total, { people: amount }) => total + amount, 0),
    unknown: counted.reduce((total, { unknown }) => total + unknown, 0),
  };
}

/** The people who lose something by a plan. */
export function losingPeople(plan: Pick<Plan, 'operations' | 'warnings'>): Affected {
  return affectedBy(
    plan,
    plan.operations.filter(({ action }) => action === 'delete'),
  );
}

function affectedBy(
  plan: Pick<Plan, 'warnings'>,
  deletes: readonly Pick<Operation, 'kind' | 'usedBy'>[],
): Affected {
  const holders = deletes.map(holdersIn(plan));
  const people = new Set<string>();
  for (const ids of holders) for (const id of ids ?? []) people.add(id);
  return { people: people.size, unknown: holders.filter((ids) => ids === null).length };
}

/** What happens to people by so many entries, as `textOf` writes it, or that nobody can tell. */
export function affectedText(
  textOf: (people: number, entries: number) => string,
  { people: amount, unknown }: Affected,
  entries: number,
): string {
  if (unknown === 0) return textOf(amount, entries);
  if (amount === 0 && unknown === entries) return peopleHave(null, entries);
  const doubt = `nobody can tell who has ${unknown} of them`;
  return amount === 0 ? doubt : `${textOf(amount, entries)}; ${doubt}`;
}

/** `12 to create, 3 to delete (nobody has them), 2 held (14 people have them)`. */
export function changeCounts(plan: CountedPlan): string {
  return countsText(plan.summary, losingPeople(plan), heldPeople(plan));
}

/** The people who have what is held; null if no delete is held, so that there is nothing to count. */
export function heldPeople(plan: Pick<Plan, 'held' | 'warnings'>): Affected | null {
  const deletes = plan.held.filter(({ action }) => action === 'delete');
  return deletes.length === 0 ? null : affectedBy(plan, deletes);
}

/** The same sentence for numbers that were added up. */
export function countsText(
  summary: Pick<Plan['summary'], 'create' | 'delete' | 'hold'>,
  losing: Affected,
  holding: Affected | null,
): string {
  const lose = losing.people === 0 ? peopleHave : peopleLose;
  const losers = summary.delete === 0 ? '' : ` (${affectedText(lose, losing, summary.delete)})`;
  const holders = holding === null ? '' : ` (${affectedText(peopleHave, holding, summary.hold)})`;
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

/** A plan that changes and holds nothing is reported in one line. */
export function isQuiet(plan: PlanResult): boolean {
  return plan.status === 'planned' && plan.operations.length === 0 && plan.held.length === 0;
}
