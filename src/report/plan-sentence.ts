// What matters, in one sentence: the verdict over all plans at the beginning of a report, and the counts of one plan.
import { people, peopleHave, peopleLose } from '../core/amounts.ts';
import type { Operation, Plan, PlanResult, PlanSummary } from '../core/plan.ts';
import { holdersIn } from '../core/unknown-holders.ts';
import { code, type Line } from './document.ts';
import { commas, count } from './formatting.ts';

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
    inBrackets(peopleHave, totalOf(plans.map(heldPeople))),
    blocked === 0 ? '' : `; ${count(blocked, 'account is', 'accounts are')} blocked`,
    '.',
  ];
}

/** `1 person loses Perl`, for the deletes of these plans. */
export function losses(plans: readonly Plan[]): Line {
  const total = totalOf(plans.map(losingPeople));
  if (total.people === 0) return [affectedText(() => 'nobody loses a skill or role', total)];
  const lost = plans.flatMap(({ operations }) => operations.filter(({ usedBy = [] }) => usedBy.length > 0));
  const names = [...new Set(lost.map(({ name }) => name))];
  const rest = names.length - NAMED;
  return [
    `${people(total.people)} ${total.people === 1 ? 'loses' : 'lose'} `,
    ...commas(names.slice(0, NAMED).map(code)),
    rest > 0 ? ` and ${rest} more` : '',
    total.unknown === 0 ? '' : `; ${doubtText(total)}`,
  ];
}

/** How many people have the entries of some deletes, and of how many of these nobody can tell. */
export interface Affected {
  readonly deletes: number;
  readonly people: number;
  readonly unknown: number;
}

export function totalOf(each: readonly Affected[]): Affected {
  const sum = (key: keyof Affected) => each.reduce((total, affected) => total + affected[key], 0);
  return { deletes: sum('deletes'), people: sum('people'), unknown: sum('unknown') };
}

/** The people who lose something by a plan. */
export function losingPeople(plan: Pick<Plan, 'operations' | 'warnings'>): Affected {
  return affectedBy(plan, plan.operations);
}

/** The people who have what is held. */
export function heldPeople(plan: Pick<Plan, 'held' | 'warnings'>): Affected {
  return affectedBy(plan, plan.held);
}

function affectedBy(
  plan: Pick<Plan, 'warnings'>,
  changes: readonly Pick<Operation, 'action' | 'kind' | 'usedBy'>[],
): Affected {
  const holders = changes.filter(({ action }) => action === 'delete').map(holdersIn(plan));
  const ids = new Set<string>();
  for (const each of holders) for (const id of each ?? []) ids.add(id);
  return {
    deletes: holders.length,
    people: ids.size,
    unknown: holders.filter((each) => each === null).length,
  };
}

/** What happens to people by the deletes, as `textOf` writes it, or that nobody can tell. */
export function affectedText(
  textOf: (people: number, deletes: number) => string,
  affected: Affected,
): string {
  const { deletes, people: amount, unknown } = affected;
  if (unknown === 0) return textOf(amount, deletes);
  if (amount === 0) return unknown === deletes ? peopleHave(null, deletes) : doubtText(affected);
  return `${textOf(amount, deletes)}; ${doubtText(affected)}`;
}

function doubtText({ unknown }: Affected): string {
  return `nobody can tell who has ${unknown} of them`;
}

function inBrackets(textOf: typeof peopleHave, affected: Affected): string {
  return affected.deletes === 0 ? '' : ` (${affectedText(textOf, affected)})`;
}

/**
 * `12 to create, 3 to delete (nobody has them), 2 held (14 people have them)`, over all plans. People are counted for each
 * account, since their ids are unique within one only.
 */
export function changeCounts(
  ...plans: readonly Pick<Plan, 'summary' | 'operations' | 'held' | 'warnings'>[]
): string {
  const sum = (key: keyof PlanSummary) => plans.reduce((total, { summary }) => total + summary[key], 0);
  const losing = totalOf(plans.map(losingPeople));
  const losers = inBrackets(losing.people === 0 ? peopleHave : peopleLose, losing);
  const holders = inBrackets(peopleHave, totalOf(plans.map(heldPeople)));
  return `${sum('create')} to create, ${sum('delete')} to delete${losers}, ${sum('hold')} held${holders}`;
}

/** `3 to create, 2 to delete, 1 held, 412 unchanged, 4 left alone`. */
export function summaryText({ create, delete: deletes, hold, keep, leave }: PlanSummary): string {
  return `${create} to create, ${deletes} to delete, ${hold} held, ${keep} unchanged, ${leave} left alone`;
}

/** A plan that changes and holds nothing is reported in one line. */
export function isQuiet(plan: PlanResult): boolean {
  return plan.status === 'planned' && plan.operations.length === 0 && plan.summary.hold === 0;
}
