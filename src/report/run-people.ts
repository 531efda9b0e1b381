// Who loses an entry by the deletes of a run. The people are those of its plan, since the journal of operations has none,
// and those of earlier lists, since the lists of the run may have been wrong.
import { people } from '../core/amounts.ts';
import type { OperationRecord } from '../core/journal.ts';
import type { Plan } from '../core/plan.ts';
import type { EarlierHolders, RunDetail } from '../core/ports/journal-reader.ts';
import type { DeletedEntry } from '../core/restoration.ts';
import { holdersIn } from '../core/unknown-holders.ts';
import { code, codeList, columnsOf, type Group, type Line } from './document.ts';

/** `; ada, bob had it until 2026-03-10 16:45:17 UTC`, for the earlier holders of some entries together. Empty without any. */
export function earlierLine(each: readonly (EarlierHolders | null)[], entries: number): Line {
  const known = each.filter((holders) => holders !== null);
  const until = known.map((holders) => holders.until).toSorted();
  const time = until.at(-1);
  if (time === undefined) return [];
  const ids = [...new Set(known.flatMap((holders) => holders.people))];
  return ['; ', codeList(ids), ` had ${entries === 1 ? 'it' : 'some of them'} until `, { time }];
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

/** How many people had a deleted entry, and how many more by earlier lists. */
export function holderCounts({ people: ids, earlier }: Pick<DeletedEntry, 'people' | 'earlier'>): string {
  const had = ids === null ? 'who had it is not known' : `${people(ids.length)} had it when it was deleted`;
  return earlier === null ? had : `${had}, ${people(earlier.people.length)} before`;
}

/** Everybody who had a deleted entry; `until` is empty for those who had it when it was deleted. */
export function holdersOf({
  people: ids,
  earlier,
}: Pick<DeletedEntry, 'people' | 'earlier'>): { person: string; until: string }[] {
  return [
    ...(ids ?? []).map((person) => ({ person, until: '' })),
    ...(earlier?.people ?? []).map((person) => ({ person, until: earlier?.until ?? '' })),
  ];
}

/** The same people as rows below a title; none without people. */
export function holderGroups(title: Line, entry: Pick<DeletedEntry, 'people' | 'earlier'>): Group[] {
  const rows = holdersOf(entry).map(({ person, until }): Line[] => [
    [code(person)],
    until === '' ? [] : [{ time: until }],
  ]);
  return rows.length === 0 ? [] : [{ title, columns: columnsOf('Person', 'Had it until'), rows }];
}

/** How many people lost something, and how many may have. No line when the run deleted nothing. */
export function lossLine({ run, operations, plan, earlierHolders = [] }: RunDetail): Line[] {
  const isRunning = run.status === 'running';
  const deletes = operations.filter(({ action, attempts }) => action === 'delete' && attempts > 0);
  const done = deletes.filter(({ status }) => status === 'done');
  const inDoubt = deletes.filter(({ status }) => status === 'unknown' || (status === 'sent' && !isRunning));
  const total = done.length + inDoubt.length;
  if (total === 0) return [];
  const before = earlierLine(earlierHolders, total);
  const holders = [...done, ...inDoubt].map((operation) => peopleOf(operation, plan));
  if (holders.includes(null)) {
    const why =
      plan === null ? 'the plan of this run is no longer stored' : 'its lists do not show who has what';
    return [[`Who lost an entry is not known: ${why}`, ...before, '.']];
  }
  const lost = new Set(holders.slice(0, done.length).flatMap((ids) => ids ?? []));
  const perhaps = new Set(holders.flatMap((ids) => ids ?? [])).size - lost.size;
  const sure = lost.size === 0 ? 'Nobody' : people(lost.size);
  const doubt = perhaps === 0 ? '' : `; ${perhaps} more may have, by deletes whose outcome is unknown`;
  // The lists of the run may have been wrong, so they are named where earlier ones show somebody.
  const by = before.length === 0 ? '' : ' by the lists of this run';
  return [[`${sure} lost a skill or role${by}${doubt}`, ...before, '.']];
}
