// The report of `restore`: what a run deleted, the lines that ask for it again, and the people who had it.
import { KINDS } from '../core/catalog.ts';
import type { RunRecord } from '../core/schemas.ts';
import { restoringLines } from '../core/restoration.ts';
import { type DeletedEntry, restorationSchema } from '../core/command-schemas.ts';
import { code, columnsOf, type Line, type ReportDocument, type ReportOptions, toned } from './document.ts';
import { visible } from './escape-invisible.ts';
import { count, people, sortedNaturally } from './formatting.ts';
import { renderReport, publishedFields } from './render.tsx';
import { earlierLine, holderCounts, holderGroups, holdersOf } from './run-sections.ts';

export interface Restoration {
  readonly run: RunRecord;
  /** The account file as messages name it; null when the account is not configured. */
  readonly file: string | null;
  readonly entries: readonly DeletedEntry[];
  /** When the lists were read that decide whether an entry exists again; null when there are no later lists. */
  readonly listedAt: string | null;
  /** When the run deleted nothing, the latest run of the account that did. */
  readonly earlierRunId: string | null;
}

/** What one run deleted. json is one object. */
export function renderRestoration(restoration: Restoration, options: ReportOptions): string {
  const model = () => ({ title: 'rolecall restore', documents: [restoreDocument(restoration)] });
  return renderReport(restorationToJson(restoration), model, options);
}

function restorationToJson({ run, entries, listedAt }: Restoration) {
  return publishedFields(restorationSchema, {
    account: run.account,
    runId: run.id,
    startedAt: run.startedAt,
    listedAt,
    entries,
    yaml: restoringLines(entries)
      .map((line) => `${line}\n`)
      .join(''),
  });
}

const CSV_HEAD = ['account', 'run', 'kind', 'name', 'entry id', 'outcome', 'person id', 'had it until'];

/**
 * One row for each entry and person who had it; an entry that nobody had has one row without a person. Of people who had it
 * by earlier lists only, the last column has the time.
 */
export function restorationCsv({ run, entries }: Restoration): string {
  const rows = entries.flatMap((entry) => {
    const { kind, name, remoteId, outcome } = entry;
    const holders = holdersOf(entry);
    return (holders.length === 0 ? [{ person: '', until: '' }] : holders).map(({ person, until }) => [
      run.account,
      run.id,
      kind,
      name,
      remoteId ?? '',
      outcome,
      person,
      until,
    ]);
  });
  return toCsv([CSV_HEAD, ...rows].map((row) => row.map(visible)));
}

function restoreDocument(restoration: Restoration): ReportDocument {
  const { run, file, listedAt, earlierRunId } = restoration;
  const entries = sortedNaturally(restoration.entries, KINDS);
  const opening = {
    title: [code(run.account)],
    status: { label: 'what a run deleted', tone: 'strong' as const },
    facts: [
      { label: 'Run', line: [code(run.id), ` (${run.status})`] },
      { label: 'Started', line: [{ time: run.startedAt }] },
      ...(listedAt === null ? [] : [{ label: 'Compared with', line: ['the lists of ', { time: listedAt }] }]),
    ],
  };
  if (entries.length === 0) {
    const restore = `rolecall restore ${earlierRunId ?? ''}`;
    const nothing = run.status === 'running' ? 'Nothing deleted yet.' : 'This run deleted nothing.';
    return {
      ...opening,
      headline: [[nothing]],
      next:
        earlierRunId === null
          ? []
          : [{ command: restore, purpose: 'shows the latest run that deleted something' }],
    };
  }
  const verbatim = restoringLines(entries);
  const textRows = Number.POSITIVE_INFINITY;
  const named = file ?? 'the account file';
  const intro = `Add them to the lists in ${named}: without them, an entry that you create by hand is deleted again. A created entry has a new id and nobody has it: assign it by the list below.`;
  const groups = entries.flatMap((entry) => holderGroups([`${entry.kind} `, code(entry.name)], entry));
  return {
    ...opening,
    headline: [headlineOf(entries)],
    sections: [
      ...(verbatim.length === 0
        ? []
        : [{ title: 'Lines that create the entries again', intro: [intro], groups: [], verbatim, textRows }]),
      {
        title: 'Deleted entries',
        count: entries.length,
        groups: [{ columns: COLUMNS, rows: entries.map((entry) => entryRow(entry, named)) }],
        textRows,
      },
      ...(groups.length === 0 ? [] : [{ title: 'Who had them', count: groups.length, groups, textRows }]),
    ],
    next: [
      { command: `rolecall plan ${run.account}`, purpose: 'shows what the changed file creates' },
      {
        command: `rolecall restore ${run.id} --format csv --output people.csv`,
        purpose: 'writes the list of people for a spreadsheet',
      },
    ],
  };
}

/** `This run deleted 2 entries; 3 people had them; ada had some of them until 2026-03-10 16:45:17 UTC.` */
function headlineOf(entries: readonly DeletedEntry[]): Line {
  const unknown = entries.filter(({ outcome }) => outcome === 'unknown').length;
  const doubt = unknown === 0 ? '' : ` (the outcome of ${unknown} is unknown)`;
  const affected = new Set(entries.flatMap(({ people: ids }) => ids ?? [])).size;
  const them = entries.length === 1 ? 'it' : 'them';
  const had = entries.every(({ people: ids }) => ids === null)
    ? `who had ${them} is not known`
    : `${people(affected)} had ${them}`;
  const earlier = earlierLine(
    entries.map((entry) => entry.earlier),
    entries.length,
  );
  return [`This run deleted ${count(entries.length, 'entry', 'entries')}${doubt}; ${had}`, ...earlier, '.'];
}

const COLUMNS = columnsOf('Kind', 'Name', 'Id', 'People', { head: 'Before you paste', below: true });

function entryRow(entry: DeletedEntry, file: string): Line[] {
  const { kind, name, remoteId } = entry;
  return [
    [kind],
    [code(name)],
    remoteId === null ? [] : [toned('quiet', code(remoteId))],
    [holderCounts(entry)],
    [notesOf(entry, file).join('; ')].filter((text) => text !== ''),
  ];
}

/** What a person must consider before the lines are pasted. */
function notesOf({ outcome, listed, inFile, problem }: DeletedEntry, file: string): string[] {
  const remove = (key: string) =>
    `${file} names it under ${key}: remove it there, and wherever else it names it, otherwise the file is invalid`;
  const places: Readonly<Record<NonNullable<typeof inFile>, readonly string[]>> = {
    desired: [`${file} names it already`],
    formerly: [remove('formerly')],
    absent: [`${file} names it as absent: remove that line`],
    allowed: [remove('allowedDeletes')],
    unmanaged: [
      `${file} does not manage this kind: create the entry in the service, since a list of these entries alone would delete all others`,
    ],
    // The usual case is noted once, above the lines.
    none: [],
  };
  return [
    ...(outcome === 'unknown' ? ['its delete was sent, and the outcome is unknown'] : []),
    ...(listed === 'same' ? ['the entry still exists'] : []),
    ...(listed === 'other' ? ['an entry of this name exists again'] : []),
    ...(problem === null ? [] : [`rolecall cannot create it: ${problem.split(';')[0] ?? problem}`]),
    ...(inFile === null
      ? ['the account file is invalid or missing, so it is not known whether it names the entry']
      : places[inFile]),
  ];
}

/** A spreadsheet may run a cell that begins like this as a formula. */
const FORMULA = /^[=+\-@\t\r]/u;

/** Rows with CRLF line ends. A cell that begins with `=`, `+`, `-` or `@` gets a leading apostrophe. */
export function toCsv(rows: readonly (readonly string[])[]): string {
  return rows.map((row) => `${row.map(cell).join(',')}\r\n`).join('');
}

function cell(text: string): string {
  const safe = FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n]/u.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
