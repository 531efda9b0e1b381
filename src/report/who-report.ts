// The report of `who`: the people who have, or had, the entries of a name.
import { type Kind, KINDS } from '../core/catalog.ts';
import type { SnapshotRecord } from '../core/snapshots.ts';
import type { HeldEntry, NamedKind } from '../core/who-has.ts';
import {
  code,
  type Line,
  type Report,
  type ReportDocument,
  type ReportOptions,
  type Section,
} from './document.ts';
import { count, people, relativeTime } from './formatting.ts';
import { renderReport } from './render.ts';
import { publishedFields } from './run-json.ts';
import { accountHoldersSchema, type LostEntry } from './snapshot-schemas.ts';
import { hadItUntil, holdersTable } from './run-people.ts';

/** What one account's lists of a moment show. */
export interface AccountHolders {
  readonly account: string;
  /** The last good snapshot at the moment or before; null when none is stored. */
  readonly snapshot: SnapshotRecord | null;
  readonly entries: readonly HeldEntry[];
  /** Entries of this name that a run deleted: of each kind the last one. */
  readonly deleted: readonly LostEntry[];
  /** Other names that differ only in case, white space, diacritics or compatibility forms. */
  readonly near: readonly NamedKind[];
}

export interface WhoReport {
  readonly name: string;
  /** The requested moment, UTC ISO 8601; null: now. */
  readonly at: string | null;
  readonly nowMs: number;
  readonly accounts: readonly AccountHolders[];
}

/** The people of each entry with the name. json is an array with one element for each searched account. */
export function renderWho(who: WhoReport, options: ReportOptions): string {
  return renderReport(
    who.accounts.map((each) => holdersToJson(each, who.at)),
    () => whoReport(who),
    options,
  );
}

function holdersToJson(holders: AccountHolders, at: string | null) {
  return publishedFields(accountHoldersSchema, { schemaVersion: 1, ...holders, at });
}

function whoReport(who: WhoReport): Report {
  const found = who.accounts.filter(({ entries, deleted }) => entries.length + deleted.length > 0);
  const documents = found.map((each) => accountDocument(each, who));
  return found.length < 2
    ? { title: 'rolecall who', documents }
    : { title: 'rolecall who', documents, total: total(who, found) };
}

function accountDocument(holders: AccountHolders, { at, nowMs }: WhoReport): ReportDocument {
  const { account, snapshot, entries, deleted, near } = holders;
  const verb = at === null ? 'has' : 'had';
  return {
    title: [code(account)],
    headline: [
      ...entries.map((entry): Line => [
        people(entry.people.length),
        entry.people.length > 1 && at === null ? ' have' : ` ${verb}`,
        ` the ${entry.kind} `,
        code(entry.name),
        ...(entries.length > 1 ? [' (id ', code(entry.remoteId), ')'] : []),
      ]),
      ...deleted.map(lostLine),
    ],
    facts: [
      ...(snapshot === null ? [] : [{ label: 'Lists', line: snapshotLine(snapshot, at, nowMs) }]),
      ...(near.length === 0
        ? []
        : [
            { label: 'Near names', line: [{ list: near.map(({ kind, name }) => [`${kind} `, code(name)]) }] },
          ]),
    ],
    sections: [...KINDS.flatMap((kind) => kindSection(kind, entries)), ...lostSection(deleted)],
    next: deleted.map(({ runId }) => ({
      command: `rolecall restore ${runId}`,
      purpose: 'prints the lines that create it again',
    })),
  };
}

function lostLine({ kind, name, runId, deletedAt, outcome, people: ids, earlier }: LostEntry): Line {
  const had: Line =
    ids === null
      ? ['who had it is not known']
      : [ids.length === 0 ? 'nobody' : people(ids.length), ' had it when it was deleted'];
  return [
    'run ',
    code(runId),
    outcome === 'deleted' ? ' deleted' : ' may have deleted',
    ` the ${kind} `,
    code(name),
    ...(deletedAt === null ? [] : [' at ', { time: deletedAt }]),
    '; ',
    ...had,
    ...(earlier === null ? [] : ['; ', ...hadItUntil(earlier)]),
  ];
}

function lostSection(deleted: readonly LostEntry[]): Section[] {
  const groups = deleted
    .map((entry) => ({
      title: [`${entry.kind} `, code(entry.name), ', deleted by run ', code(entry.runId)],
      ...holdersTable(entry),
    }))
    .filter(({ rows }) => rows.length > 0);
  if (groups.length === 0) return [];
  const amount = groups.reduce((sum, { rows }) => sum + rows.length, 0);
  return [{ title: 'People who had it', count: amount, groups, unlimited: true }];
}

function snapshotLine({ id, takenAt }: SnapshotRecord, at: string | null, nowMs: number): Line {
  const age = at === null ? 'now' : relativeTime(takenAt, Date.parse(at));
  const before = age === 'now' ? '' : `, ${age.replace(/ ago$/u, ' before that')}`;
  return [`snapshot ${id}, taken `, { time: takenAt }, `${before} (${relativeTime(takenAt, nowMs)})`];
}

function kindSection(kind: Kind, entries: readonly HeldEntry[]): Section[] {
  const groups = entries
    .filter((entry) => entry.kind === kind && entry.people.length > 0)
    .map((entry) => ({
      title: [code(entry.name), ' (id ', code(entry.remoteId), ')'],
      columns: [{ head: 'Person' }],
      rows: entry.people.map((person): Line[] => [[code(person)]]),
    }));
  if (groups.length === 0) return [];
  const amount = groups.reduce((sum, { rows }) => sum + rows.length, 0);
  return [{ title: `People with the ${kind}`, count: amount, groups, unlimited: true }];
}

function total({ accounts }: WhoReport, found: readonly AccountHolders[]): NonNullable<Report['total']> {
  const peopleIn = ({ entries }: AccountHolders): number =>
    new Set(entries.flatMap((entry) => entry.people)).size;
  const sum = found.reduce((before, each) => before + peopleIn(each), 0);
  return {
    line: [`${count(sum, 'person', 'people')} in ${found.length} of ${count(accounts.length, 'account')}.`],
    table: {
      columns: [{ head: 'Account' }, { head: 'People', align: 'right' }],
      rows: found.map((each): Line[] => [[code(each.account)], [String(peopleIn(each))]]),
    },
  };
}
