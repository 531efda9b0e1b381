// The report of `diff`: which entries and people changed between two moments.
import type {
  CatalogDifference,
  EntryChange,
  NamedEntry,
  PersonChange,
  ValueChange,
} from '../core/catalog-difference.ts';
import {
  code,
  toned,
  type Line,
  type Part,
  type Report,
  type ReportDocument,
  type ReportOptions,
  type Section,
} from './document.ts';
import { count } from './formatting.ts';
import { renderReport } from './render.ts';

/** Where lists come from: a snapshot, or (with null) the service. */
export interface ComparedLists {
  readonly id: number | null;
  readonly runId: string | null;
  readonly phase: 'before' | 'after' | null;
  /** UTC ISO 8601. */
  readonly takenAt: string;
}

export interface AccountDifference extends CatalogDifference {
  readonly account: string;
  readonly before: ComparedLists;
  readonly after: ComparedLists;
}

/** The changes of one account. json is one object. */
export function renderDifference(difference: AccountDifference, options: ReportOptions): string {
  return renderReport(differenceToJson(difference), () => diffReport(difference), options);
}

function differenceToJson({ account, before, after, entries, people }: AccountDifference) {
  return {
    schemaVersion: 1,
    account,
    before: sideToJson(before),
    after: sideToJson(after),
    entries,
    people,
  } as const satisfies AccountDifference & { schemaVersion: 1 };
}

function sideToJson({ id, runId, phase, takenAt }: ComparedLists): ComparedLists {
  return { id, runId, phase, takenAt };
}

function diffReport(difference: AccountDifference): Report {
  return { title: 'rolecall diff', documents: [differenceDocument(difference)] };
}

/** The report model of one difference. */
export function differenceDocument(difference: AccountDifference): ReportDocument {
  const { account, before, after, entries, people } = difference;
  return {
    title: [code(account)],
    headline: [[`${summary(difference)}.`]],
    facts: [
      { label: 'From', line: sideLine(before) },
      { label: 'To', line: sideLine(after) },
    ],
    sections: [...entrySection(entries), ...peopleSection(people)],
  };
}

/** `1 entry created, 2 renamed; 3 people changed`. */
function summary({ entries, people }: AccountDifference): string {
  const part = (noun: [one: string, many: string], words: readonly (readonly [number, string])[]): string => {
    const used = words.filter(([amount]) => amount > 0);
    return used
      .map(([amount, word], index) =>
        index === 0 ? `${count(amount, ...noun)} ${word}` : `${amount} ${word}`,
      )
      .join(', ');
  };
  const amount = (change: string, changes: readonly { readonly change: string }[]): number =>
    changes.filter((each) => each.change === change).length;
  const parts = [
    part(
      ['entry', 'entries'],
      (['created', 'deleted', 'renamed'] as const).map((change) => [amount(change, entries), change]),
    ),
    part(
      ['person', 'people'],
      (['added', 'gone', 'changed'] as const).map((change) => [amount(change, people), change]),
    ),
  ].filter((text) => text !== '');
  return parts.length === 0 ? 'Nothing changed' : parts.join('; ');
}

function sideLine({ id, runId, phase, takenAt }: ComparedLists): Line {
  if (id === null || runId === null || phase === null) return ['now, ', { time: takenAt }];
  const place = phase === 'before' ? 'before the changes of run ' : 'after the changes of run ';
  return [`snapshot ${id}, `, { time: takenAt }, `, ${place}`, code(runId)];
}

const SIGNS = {
  created: toned('good', '+'),
  deleted: toned('bad', '-'),
  renamed: toned('warn', '~'),
  added: toned('good', '+'),
  gone: toned('bad', '-'),
  changed: toned('warn', '~'),
} as const satisfies Record<EntryChange['change'] | PersonChange['change'], Part>;

function entrySection(entries: readonly EntryChange[]): Section[] {
  if (entries.length === 0) return [];
  const columns = [{ head: 'Change' }, { head: 'Kind' }, { head: 'Name' }, { head: 'Id' }];
  const rows = entries.map(({ change, kind, id, name, formerName }): Line[] => [
    [SIGNS[change]],
    [kind],
    formerName === undefined ? [code(name)] : [code(formerName), ' → ', code(name)],
    [toned('quiet', code(id))],
  ]);
  return [{ title: 'Entries', count: entries.length, groups: [{ columns, rows }] }];
}

function peopleSection(people: readonly PersonChange[]): Section[] {
  if (people.length === 0) return [];
  const columns = [{ head: 'Change' }, { head: 'Person' }, { head: 'What', below: true } as const];
  const rows = people.map((person): Line[] => [
    [SIGNS[person.change]],
    [code(person.id)],
    personLine(person),
  ]);
  return [{ title: 'People', count: people.length, groups: [{ columns, rows }] }];
}

function personLine({ change, skills, role, dailyCapacity, workingDays }: PersonChange): Line {
  const parts: Line[] = [];
  if (skills !== undefined) {
    const { gained, lost } = skills;
    if (gained.length > 0) parts.push([change === 'added' ? 'has ' : 'gained ', names(gained)]);
    if (lost.length > 0) parts.push([change === 'gone' ? 'had ' : 'lost ', names(lost)]);
  }
  const values: readonly (readonly [string, ValueChange<Line> | undefined])[] = [
    ['role', role && mapped(role, (entry) => (entry === null ? ['none'] : entryName(entry)))],
    [
      'capacity',
      dailyCapacity && mapped(dailyCapacity, (value) => [value === null ? 'none' : String(value)]),
    ],
    ['working days', workingDays && mapped(workingDays, (days) => [daysText(days)])],
  ];
  for (const [label, value] of values) {
    if (value === undefined) continue;
    parts.push([`${label} `, ...valueLine(change, value)]);
  }
  return parts.flatMap((part, index) => (index === 0 ? part : ['; ', ...part]));
}

function mapped<T>({ before, after }: ValueChange<T>, to: (value: T) => Line): ValueChange<Line> {
  return { before: to(before), after: to(after) };
}

/** A person who was added or who is gone has one value. */
function valueLine(change: PersonChange['change'], { before, after }: ValueChange<Line>): Line {
  if (change === 'added') return after;
  return change === 'gone' ? before : [...before, ' → ', ...after];
}

function names(entries: readonly NamedEntry[]): Part {
  return { list: entries.map(entryName) };
}

/** An id without a name is one that no list contains. */
function entryName({ id, name }: NamedEntry): Line {
  return name === null ? [code(id), ' (unknown id)'] : [code(name)];
}

const DAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];

function daysText(days: readonly number[] | null): string {
  if (days === null || days.length === 0) return 'none';
  return days.map((day) => DAYS[day] ?? String(day)).join(' ');
}
