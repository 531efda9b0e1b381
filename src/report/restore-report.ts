// The report of `restore`: what a run deleted, the lines that ask for it again, and the people who had it.
import type { RunRecord } from '../core/journal.ts';
import { type DeletedEntry, restoringLines } from '../core/restoration.ts';
import {
  code,
  toned,
  type Line,
  type Report,
  type ReportDocument,
  type ReportOptions,
  type Section,
} from './document.ts';
import { visible } from './escape-invisible.ts';
import { KINDS } from '../core/catalog.ts';
import { count, people, sortedNaturally } from './formatting.ts';
import { renderReport } from './render.ts';
import { publishedFields } from './run-json.ts';
import { restorationSchema } from './snapshot-schemas.ts';
import { hadItUntil, holdersOf, holdersTable, nobodyHad, togetherEarlier } from './run-people.ts';

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
  return renderReport(restorationToJson(restoration), () => restoreReport(restoration), options);
}

function restorationToJson({ run, entries, listedAt }: Restoration) {
  return publishedFields(restorationSchema, {
    schemaVersion: 1,
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

/** Whether the CSV has cells that would be formulas in a spreadsheet. */
export function hasFormulas({ entries }: Restoration): boolean {
  return entries.some((entry) =>
    [entry.name, entry.remoteId ?? '', ...holdersOf(entry).map(({ person }) => person)].some(
      looksLikeFormula,
    ),
  );
}

function restoreReport(restored: Restoration): Report {
  const restoration = { ...restored, entries: sortedNaturally(restored.entries, KINDS) };
  const { run, entries, earlierRunId } = restoration;
  const document = {
    title: [code(run.account)],
    status: { label: 'what a run deleted', tone: 'strong' as const },
    facts: [
      { label: 'Run', line: [code(run.id), ` (${run.status})`] },
      { label: 'Started', line: [{ time: run.startedAt }] },
    ],
  };
  if (entries.length === 0) {
    const next = earlierRunId === null ? [] : [restoreStep(earlierRunId)];
    const nothing = run.status === 'running' ? 'Nothing deleted yet.' : 'This run deleted nothing.';
    return report({ ...document, headline: [[nothing]], sections: [], next });
  }
  return report({
    ...document,
    headline: [headlineLine(entries)],
    sections: [...pasteSection(restoration), ...noteSection(restoration), ...peopleSections(entries)],
    next: [
      { command: `rolecall plan ${run.account}`, purpose: 'shows what the changed file creates' },
      ...(isHeld(entries)
        ? [
            {
              command: `rolecall restore ${run.id} --format csv --output people.csv`,
              purpose: 'writes the list of people for a spreadsheet',
            },
          ]
        : []),
    ],
  });
}

/** Whether anybody had one of the entries. */
function isHeld(entries: readonly DeletedEntry[]): boolean {
  return entries.some((entry) => holdersOf(entry).length > 0);
}

function report(document: ReportDocument): Report {
  return { title: 'rolecall restore', documents: [document] };
}

function restoreStep(runId: string) {
  return { command: `rolecall restore ${runId}`, purpose: 'shows the latest run that deleted something' };
}

function headlineLine(entries: readonly DeletedEntry[]): Line {
  const deleted = entries.filter(({ outcome }) => outcome === 'deleted').length;
  const unknown = entries.length - deleted;
  const affected = new Set(entries.flatMap(({ people: holders }) => holders ?? [])).size;
  const parts = [
    ...(deleted > 0 ? [`deleted ${count(deleted, 'entry', 'entries')}`] : []),
    ...(unknown > 0 ? [`may have deleted ${count(unknown, 'entry', 'entries')} (outcome unknown)`] : []),
  ];
  const earlier = togetherEarlier(entries.flatMap((entry) => entry.earlier ?? []));
  const isOne = entries.length === 1;
  const had =
    affected === 0 && earlier !== null && entries.every((entry) => entry.people !== null)
      ? nobodyHad(entries.length).toLowerCase()
      : affected === 0 && entries.some((entry) => entry.people === null)
        ? `who had ${isOne ? 'it' : 'them'} is not known`
        : `${people(affected)} had ${isOne ? 'it' : 'them'}`;
  return [
    `This run ${parts.join(' and ')}; ${had}`,
    ...(earlier === null ? [] : ['; ', ...hadItUntil(earlier, isOne ? 'it' : 'some of them')]),
    '.',
  ];
}

function pasteSection({ file, entries }: Restoration): Section[] {
  const verbatim = restoringLines(entries);
  if (verbatim.length === 0) return [];
  const dropped = entries.some(({ inFile }) => inFile === 'none')
    ? ' The file does not name them, which is why they were deleted: without these lines an entry that you create by hand is deleted again.'
    : '';
  return [
    {
      title: 'Lines that create the entries again',
      intro: [
        `Add them to the lists in ${file ?? 'the account file'}. A created entry has a new id and nobody has it${isHeld(entries) ? ': assign it by the list below' : ''}.${dropped}`,
      ],
      groups: [],
      verbatim,
    },
  ];
}

/** Text output shows this many entries to consider. */
const NOTED_ROWS = 40;

/** What a person must consider before the lines are pasted: one group for the entries of the same notes. */
function noteSection({ entries, file, listedAt }: Restoration): Section[] {
  const columns = [{ head: 'Kind' }, { head: 'Name' }];
  const groups = new Map<string, { readonly title: Line; readonly rows: Line[][] }>();
  for (const entry of entries) {
    const notes = notesOf(entry, file, listedAt);
    if (notes.length === 0) continue;
    const title = notes.flatMap((note, at) => (at === 0 ? note : ['; ', ...note]));
    const key = JSON.stringify(title);
    const group = groups.get(key) ?? { title, rows: [] };
    group.rows.push([[entry.kind], [code(entry.name)]]);
    groups.set(key, group);
  }
  const noted = [...groups.values()].map(({ title, rows }) => ({
    title: [...title, ` (${rows.length})`],
    columns,
    rows,
  }));
  const amount = noted.reduce((sum, { rows }) => sum + rows.length, 0);
  return amount === 0
    ? []
    : [{ title: 'Before you paste', count: amount, tone: 'warn', groups: noted, textRows: NOTED_ROWS }];
}

function notesOf(
  { outcome, listed, inFile, problem }: DeletedEntry,
  file: string | null,
  at: string | null,
): Line[] {
  const since: Line = at === null ? [] : [' in the lists of ', { time: at }];
  const named = file ?? 'the account file';
  const notes: Line[] = [];
  if (outcome === 'unknown') notes.push(['its delete was sent, and the outcome is unknown']);
  if (listed === 'same') notes.push(['the entry still exists', ...since]);
  if (listed === 'other') notes.push(['an entry of this name exists again', ...since]);
  if (problem !== null) notes.push([`rolecall cannot create it: ${problem.split(';')[0] ?? problem}`]);
  switch (inFile) {
    case 'desired':
      if (listed === null) notes.push([`${named} names it already, so the next run creates it`]);
      if (listed === 'other') notes.push([`${named} names it already, so only its people are missing`]);
      break;
    case 'formerly':
      notes.push([`${named} names it under formerly: remove it there, otherwise the file is invalid`]);
      break;
    case 'approved':
      notes.push([`${named} names it under approvedDeletes: remove it there, otherwise the file is invalid`]);
      break;
    case 'unmanaged':
      notes.push([
        `${named} does not manage this kind: create the entry in the service, since a list of these entries alone would delete all others`,
      ]);
      break;
    case 'none':
      // The usual case is noted once, above the lines.
      break;
    case null:
      notes.push(['the account file is invalid or missing, so it is not known whether it names the entry']);
      break;
    default:
      inFile satisfies never;
  }
  return notes;
}

function peopleSections(entries: readonly DeletedEntry[]): Section[] {
  const groups = entries.map((entry) => ({
    title: [
      `${entry.kind} `,
      code(entry.name),
      ...(entry.outcome === 'unknown' ? [toned('warn', ' (outcome unknown)')] : []),
      `: ${entry.people === null ? 'who had it is not known' : people(entry.people.length)}`,
      entry.earlier === null ? '' : ` when it was deleted, ${people(entry.earlier.people.length)} before`,
    ],
    ...holdersTable(entry),
  }));
  const held = groups.filter(({ rows }) => rows.length > 0);
  const without = entries.filter((entry) => holdersOf(entry).length === 0);
  const nobody = without.filter(({ people: holders }) => holders !== null);
  const lost = without.filter(({ people: holders }) => holders === null);
  return [
    ...(held.length === 0
      ? []
      : [{ title: 'Who had them', count: held.length, groups: held, unlimited: true } as const]),
    ...listSection('Nobody had these', nobody),
    ...listSection('Who had them is not known', lost),
  ];
}

function listSection(title: string, entries: readonly DeletedEntry[]): Section[] {
  if (entries.length === 0) return [];
  const rows = entries.map(({ kind, name, remoteId }): Line[] => [
    [kind],
    [code(name)],
    remoteId === null ? [] : [toned('quiet', code(remoteId))],
  ]);
  return [
    {
      title,
      count: entries.length,
      groups: [{ columns: [{ head: 'Kind' }, { head: 'Name' }, { head: 'Id' }], rows }],
      unlimited: true,
    },
  ];
}

/** A spreadsheet may run a cell that begins like this as a formula. */
const FORMULA = /^[=+\-@\t\r]/u;

/** Rows with CRLF line ends. A cell that begins with `=`, `+`, `-` or `@` gets a leading apostrophe. */
export function toCsv(rows: readonly (readonly string[])[]): string {
  return rows.map((row) => `${row.map(cell).join(',')}\r\n`).join('');
}

/** Whether a spreadsheet could run the text, so that `toCsv` changes it. */
export function looksLikeFormula(text: string): boolean {
  return FORMULA.test(text);
}

function cell(text: string): string {
  const safe = looksLikeFormula(text) ? `'${text}` : text;
  return /[",\r\n]/u.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
