// The report of `diff`: which entries and people changed between two moments.
import {
  type AccountDifference,
  type ComparedLists,
  differenceSchema,
  type EntryChange,
  type NamedEntry,
  type PersonChange,
} from '../core/catalog-difference.ts';
import {
  code,
  columnsOf,
  type Line,
  type Part,
  type ReportDocument,
  type ReportOptions,
  type Section,
  tableSection,
  toned,
} from './document.ts';
import { count, joined } from './formatting.ts';
import { renderReport, publishedFields } from './render.tsx';

/** The changes of one account. json is one object. */
export function renderDifference(difference: AccountDifference, options: ReportOptions): string {
  const value = publishedFields(differenceSchema, difference);
  const model = () => ({ title: 'rolecall diff', documents: [differenceDocument(difference)] });
  return renderReport(value, model, options);
}

function differenceDocument({ account, before, after, entries, people }: AccountDifference): ReportDocument {
  const parts = [...amounts(entries, 'entry', 'entries'), ...amounts(people, 'person', 'people')];
  return {
    title: [code(account)],
    headline: [
      [parts.length === 0 ? 'Nothing changed.' : `${parts.join(', ')}.`],
      ['From ', ...sideLine(before)],
      ['To ', ...sideLine(after)],
    ],
    sections: [...entrySection(entries), ...peopleSection(people)],
  };
}

/** `2 entries created`, `1 entry renamed`. */
function amounts(changes: readonly { readonly change: string }[], one: string, many: string): string[] {
  return [...new Set(changes.map(({ change }) => change))].map((change) => {
    const amount = changes.filter((each) => each.change === change).length;
    return `${count(amount, one, many)} ${change}`;
  });
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
  const columns = columnsOf('Change', 'Kind', 'Name', 'Id');
  const rows = entries.map(({ change, kind, id, name, formerName }): Line[] => [
    [SIGNS[change]],
    [kind],
    formerName === undefined ? [code(name)] : [code(formerName), ' → ', code(name)],
    [toned('quiet', code(id))],
  ]);
  return tableSection('Entries', { columns, rows });
}

function peopleSection(people: readonly PersonChange[]): Section[] {
  const columns = columnsOf('Change', 'Person', { head: 'What', below: true });
  const rows = people.map((person): Line[] => [
    [SIGNS[person.change]],
    [code(person.id)],
    personLine(person),
  ]);
  return tableSection('People', { columns, rows });
}

/** A person who was added or who is gone has one value of each. */
function personLine({ change, skills, role, dailyCapacity, workingDays }: PersonChange): Line {
  const value = <T>(
    label: string,
    of: { readonly before: T; readonly after: T } | undefined,
    textOf: (each: T) => Line,
  ): Line[] => {
    if (of === undefined) return [];
    const [before, after] = [textOf(of.before), textOf(of.after)];
    if (change === 'changed') return [[`${label} `, ...before, ' → ', ...after]];
    return [[`${label} `, ...(change === 'added' ? after : before)]];
  };
  const { gained = [], lost = [] } = skills ?? {};
  const parts: Line[] = [
    ...(gained.length === 0 ? [] : [[change === 'added' ? 'has ' : 'gained ', names(gained)]]),
    ...(lost.length === 0 ? [] : [[change === 'gone' ? 'had ' : 'lost ', names(lost)]]),
    ...value('role', role, (entry) => (entry === null ? ['none'] : entryName(entry))),
    ...value('capacity', dailyCapacity, (amount) => [amount === null ? 'none' : String(amount)]),
    ...value('working days', workingDays, (days) => [daysText(days)]),
  ];
  return joined(parts, '; ');
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
