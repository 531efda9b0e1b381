// Who loses an entry by the deletes of a run. The people are those of its plan, since the journal of operations has none,
// and those of earlier lists, since the lists of the run may have been wrong.
import type { EarlierHolders, RunDetail } from '../core/ports/journal-reader.ts';
import type { OperationRecord } from '../core/journal.ts';
import type { Plan } from '../core/plan.ts';
import type { DeletedEntry } from '../core/restoration.ts';
import { holdersIn } from '../core/unknown-holders.ts';
import { code, codeList, type Group, type Line } from './document.ts';
import { count } from './formatting.ts';

/** More people are a list, which is shortened. */
const MOST_NAMED = 5;

/** `ada and bob had it until 2026-03-10 16:45:17 UTC`. */
export function hadItUntil({ people, until }: EarlierHolders, it = 'it'): Line {
  const [last = '', ...others] = people.toReversed();
  const names: Line =
    people.length > MOST_NAMED || others.length === 0
      ? [codeList(people)]
      : [codeList(others.toReversed()), ' and ', code(last)];
  return [...names, ` had ${it} until `, { time: until }];
}

/** The earlier holders of several entries together: all people, and the latest of the times. null without any. */
export function togetherEarlier(each: readonly EarlierHolders[]): EarlierHolders | null {
  const until = each
    .map((holders) => holders.until)
    .toSorted()
    .at(-1);
  return until === undefined ? null : { until, people: [...new Set(each.flatMap(({ people }) => people))] };
}

/** `Nobody had it when it was deleted`. */
export function nobodyHad(entries: number): string {
  return entries === 1 ? 'Nobody had it when it was deleted' : 'Nobody had them when they were deleted';
}

/**
 * The ids of the people who have the entry that an operation deletes; null when the plan is no longer stored, or when
 * nobody could tell.
 */
export function peopleOf(
  { seq, action, kind, remoteId }: OperationRecord,
  plan: Plan | null,
): readonly string[] | null {
  if (action === 'create') return [];
  const planned = plan?.operations[seq - 1];
  const isSame = planned?.action === action && planned.kind === kind && planned.remoteId === remoteId;
  return isSame && plan !== null ? holdersIn(plan)(planned) : null;
}

type Holders = Pick<DeletedEntry, 'people' | 'earlier'>;

/** Everybody who had a deleted entry; `until` is empty for those who had it when it was deleted. */
export function holdersOf({ people, earlier }: Holders): { person: string; until: string }[] {
  const { people: others = [], until = '' } = earlier ?? {};
  return [
    ...(people ?? []).map((person) => ({ person, until: '' })),
    ...others.map((person) => ({ person, until })),
  ];
}

/** The same people as rows of a table. */
export function holdersTable(holders: Holders): Pick<Group, 'columns' | 'rows'> {
  const columns = [{ head: 'Person' }, { head: 'Had it until' }];
  const rows = holdersOf(holders).map(({ person, until }): Line[] => [
    [code(person)],
    until === '' ? [] : [{ time: until }],
  ]);
  return { columns, rows };
}

/** How many people lost something, and how many may have. No line when the run deleted nothing. */
export function lossLine({
  run,
  operations,
  plan,
  earlierHolders = [],
}: Omit<RunDetail, 'warnings'>): Line[] {
  const deletes = operations.filter(({ action, attempts }) => action === 'delete' && attempts > 0);
  const isRunning = run.status === 'running';
  const done = deletes.filter(({ status }) => status === 'done');
  const inDoubt = deletes.filter(({ status }) => status === 'unknown' || (status === 'sent' && !isRunning));
  if (done.length + inDoubt.length === 0) return [];
  const total = done.length + inDoubt.length;
  const earlier = togetherEarlier(earlierHolders);
  const before: Line =
    earlier === null ? [] : ['; ', ...hadItUntil(earlier, total === 1 ? 'it' : 'some of them')];
  const holders = [...done, ...inDoubt].map((operation) => peopleOf(operation, plan));
  if (holders.includes(null)) {
    const why =
      plan === null ? 'the plan of this run is no longer stored' : 'its lists do not show who has what';
    return [[`Who lost an entry is not known: ${why}`, ...before, '.']];
  }
  const lost = new Set(holders.slice(0, done.length).flatMap((ids) => ids ?? []));
  const perhaps = new Set(holders.flatMap((ids) => ids ?? [])).size - lost.size;
  const sure =
    lost.size === 0
      ? 'Nobody lost a skill or role'
      : `${count(lost.size, 'person', 'people')} lost a skill or role`;
  const doubt = perhaps === 0 ? '' : `; ${perhaps} more may have, by deletes whose outcome is unknown`;
  const now = earlier !== null && lost.size + perhaps === 0 ? nobodyHad(total) : `${sure}${doubt}`;
  return [[now, ...before, '.']];
}
