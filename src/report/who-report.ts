// The reports of `who`: the people who have, or had, the entries of a name; without a name, how many people each entry has,
// and the references to unknown ids.
import {
  code,
  type Line,
  type Report,
  type ReportDocument,
  type ReportOptions,
  columnsOf,
  type Section,
  tableSection,
} from './document.ts';
import { count, people, relativeTime, byKind, sortedNaturally } from './formatting.ts';
import { renderReport, publishedFields } from './render.tsx';
import { earlierLine, holderCounts, holderGroups } from './run-sections.ts';
import {
  type AccountHolders,
  accountHoldersSchema,
  type LostEntry,
  type AccountUsage,
} from '../core/command-schemas.ts';
import { KINDS } from '../core/catalog.ts';
import type { FailedPlan } from '../core/plan.ts';
import { failedDocument } from './run-status.ts';

export interface WhoReport {
  readonly name: string;
  /** The requested moment, UTC ISO 8601; null: now. */
  readonly at: string | null;
  readonly nowMs: number;
  readonly accounts: readonly AccountHolders[];
}

/** The people of each entry with the name. json is an array with one element for each searched account. */
export function renderWho(who: WhoReport, options: ReportOptions): string {
  const value = who.accounts.map((each) => publishedFields(accountHoldersSchema, { ...each, at: who.at }));
  return renderReport(value, () => whoReport(who), options);
}

function whoReport(who: WhoReport): Report {
  const found = who.accounts.filter(({ entries, deleted }) => entries.length + deleted.length > 0);
  const rows = found.map(({ account, entries }): [string, number] => [
    account,
    new Set(entries.flatMap((entry) => entry.people)).size,
  ]);
  const sum = rows.reduce((before, [, amount]) => before + amount, 0);
  const line = [
    `${count(sum, 'person', 'people')} in ${found.length} of ${count(who.accounts.length, 'account')}.`,
  ];
  const columns = [{ head: 'Account' }, { head: 'People', align: 'right' } as const];
  const table = { columns, rows: rows.map(([account, amount]) => [[code(account)], [String(amount)]]) };
  const documents: ReportDocument[] = found.map((each) => accountDocument(each, who));
  if (found.length < 2) return { title: 'rolecall who', documents };
  documents.push({ title: [], sections: [{ title: '', groups: [table] }] });
  return { title: 'rolecall who', documents, total: line };
}

function accountDocument(holders: AccountHolders, { at, nowMs }: WhoReport): ReportDocument {
  const { account, snapshot, entries, deleted, near } = holders;
  const groups = [
    ...entries.flatMap((entry) =>
      holderGroups([`${entry.kind} `, code(entry.name), ' (id ', code(entry.remoteId), ')'], {
        ...entry,
        earlier: null,
      }),
    ),
    ...deleted.flatMap((entry) =>
      holderGroups([`${entry.kind} `, code(entry.name), ', deleted by run ', code(entry.runId)], entry),
    ),
  ];
  const amount = groups.reduce((sum, { rows }) => sum + rows.length, 0);
  return {
    title: [code(account)],
    headline: [
      ...entries.map((entry): Line => {
        const verb = at !== null ? 'had' : entry.people.length > 1 ? 'have' : 'has';
        return [`${people(entry.people.length)} ${verb} the ${entry.kind} `, code(entry.name)];
      }),
      ...deleted.map(lostLine),
    ],
    sections:
      groups.length === 0
        ? []
        : [{ title: 'People', count: amount, groups, textRows: Number.POSITIVE_INFINITY }],
    facts: [
      ...(snapshot === null ? [] : [{ label: 'Lists', line: snapshotLine(snapshot, nowMs) }]),
      ...(near.length === 0
        ? []
        : [
            { label: 'Near names', line: [{ list: near.map(({ kind, name }) => [`${kind} `, code(name)]) }] },
          ]),
    ],
    next: deleted.map(({ runId }) => ({
      command: `rolecall restore ${runId}`,
      purpose: 'prints the lines that create it again',
    })),
  };
}

function lostLine({ kind, name, runId, deletedAt, outcome, people: ids, earlier }: LostEntry): Line {
  return [
    'run ',
    code(runId),
    outcome === 'deleted' ? ' deleted' : ' may have deleted',
    ` the ${kind} `,
    code(name),
    ...(deletedAt === null ? [] : [' at ', { time: deletedAt }]),
    `; ${holderCounts({ people: ids, earlier: null })}`,
    ...earlierLine([earlier], 1),
  ];
}

function snapshotLine({ id, takenAt }: NonNullable<AccountHolders['snapshot']>, nowMs: number): Line {
  return [`snapshot ${id}, taken `, { time: takenAt }, ` (${relativeTime(takenAt, nowMs)})`];
}

/** The coverage of each account, with the most used entries first. json is an array. */
export function renderCoverage(
  results: readonly (AccountUsage | FailedPlan)[],
  options: ReportOptions,
): string {
  const sorted = results.map((result) =>
    'status' in result
      ? result
      : {
          schemaVersion: 1,
          ...result,
          entries: result.entries.toSorted((a, b) => b.usedBy.length - a.usedBy.length),
        },
  );
  const model = () => ({
    title: 'rolecall who',
    documents: results.map((result) =>
      'status' in result ? failedDocument(result, 'who') : coverageDocument(result),
    ),
  });
  return renderReport(sorted, model, options);
}

/** Unused entries first, since those are what people look for. */
function coverageDocument({
  account,
  takenAt,
  entries,
  unknownReferences: unknown,
}: AccountUsage): ReportDocument {
  const byName = sortedNaturally(entries, KINDS);
  const unused = byName.filter(({ usedBy }) => usedBy.length === 0);
  const used = byName
    .filter(({ usedBy }) => usedBy.length > 0)
    .toSorted((a, b) => b.usedBy.length - a.usedBy.length);
  const kinds = byKind(entries).map(([kind, some]) => count(some.length, kind));
  const label = [
    kinds.length === 0 ? 'no skills and no roles' : kinds.join(' and '),
    ...(entries.length === 0 ? [] : [`${unused.length} unused`]),
    ...(unknown.length === 0
      ? []
      : [count(unknown.length, 'reference to an unknown id', 'references to unknown ids')]),
  ].join(', ');
  const columns = columnsOf({ head: 'People', align: 'right' }, 'Kind', 'Name', 'Id');
  const section = (title: string, some: AccountUsage['entries']): Section[] => {
    const rows = some.map(({ kind, name, remoteId, usedBy }): Line[] => [
      usedBy.length === 0 ? [] : [people(usedBy.length)],
      [kind],
      [code(name)],
      [code(remoteId)],
    ]);
    return tableSection(title, { columns, rows });
  };
  return {
    title: [code(account)],
    status: { label, tone: unknown.length > 0 ? 'warn' : 'good' },
    facts: [{ label: 'Lists', line: ['read ', { time: takenAt }] }],
    sections: [
      ...section('Unused, nobody has them', unused),
      ...section('In use', used),
      ...unknownSection(unknown),
    ],
  };
}

function unknownSection(references: AccountUsage['unknownReferences']): Section[] {
  const columns = columnsOf('Kind', 'Id', 'Person');
  const rows = references.map(({ kind, remoteId, resourceId }) => [
    [kind],
    [code(remoteId)],
    [code(resourceId)],
  ]);
  const intro = ['People refer to these ids, but no list contains them.'];
  return tableSection('References to unknown ids', { columns, rows }, { tone: 'warn', intro });
}
