// The report of `who`: the people who have, or had, the entries of a name.
import { code, type Line, type Report, type ReportDocument, type ReportOptions } from './document.ts';
import { count, people, relativeTime } from './formatting.ts';
import { renderReport } from './render.ts';
import { publishedFields } from './run-json.ts';
import { earlierLine, holderCounts, holderGroups } from './run-people.ts';
import { type AccountHolders, accountHoldersSchema, type LostEntry } from './snapshot-schemas.ts';

export interface WhoReport {
  readonly name: string;
  /** The requested moment, UTC ISO 8601; null: now. */
  readonly at: string | null;
  readonly nowMs: number;
  readonly accounts: readonly AccountHolders[];
}

/** The people of each entry with the name. json is an array with one element for each searched account. */
export function renderWho(who: WhoReport, options: ReportOptions): string {
  const value = who.accounts.map((each) =>
    publishedFields(accountHoldersSchema, { schemaVersion: 1, ...each, at: who.at }),
  );
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
