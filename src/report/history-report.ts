// The report of `history`: one row for each run, in the given order.
import type { RunRecord } from '../core/journal.ts';
import type { RunTally } from '../core/journal-reader.ts';
import type { Action } from '../core/catalog.ts';
import {
  code,
  toned,
  type Column,
  type Line,
  type Report,
  type ReportOptions,
  type Tone,
} from './document.ts';
import { listReport, renderReport } from './render.ts';
import { countUndone, type RunCounts } from './run-counts.ts';
import { runToJson } from './run-json.ts';
import { statusTone } from './run-status.ts';
import { briefInstant, count, duration, elapsedMs, shortCommit } from './formatting.ts';

/** What the list shows beyond the records of the runs, by their ids. */
export interface RunListFacts {
  readonly tallies?: ReadonlyMap<string, RunTally>;
  /** The printed forms of the ids. */
  readonly shortIds?: ReadonlyMap<string, string>;
}

/** All given runs. json is an array of runs without operations, warnings or plan. */
export function renderRuns(
  runs: readonly RunRecord[],
  options: ReportOptions,
  { tallies, shortIds }: RunListFacts = {},
): string {
  const rows = runs.map((run): HistoryRow => {
    const tally = tallies?.get(run.id) ?? { statuses: {}, planned: null };
    return { run, planned: tally.planned, id: shortIds?.get(run.id) ?? run.id, ...countUndone(run, tally) };
  });
  return renderReport(runs.map(runToJson), () => historyReport(rows), options);
}

interface HistoryRow extends Pick<RunCounts, 'failed' | 'inDoubt' | 'notTried'>, Pick<RunTally, 'planned'> {
  readonly run: RunRecord;
  readonly id: string;
}

/** What a narrow terminal does not show is in the report of the run. */
interface HistoryColumn extends Column {
  readonly cell: (row: HistoryRow) => Line;
}

/** The narrowest terminals that show counts of their own, of failures, and all but the commit. */
const COUNTS_FROM = 80;
const FAILURES_FROM = 90;
const WIDE = 120;
const COMMIT_FROM = 130;
const SUBJECT_FROM = 160;

const COLUMNS: readonly HistoryColumn[] = [
  { head: 'Started (UTC)', until: WIDE, cell: ({ run }) => [briefInstant(run.startedAt)] },
  { head: 'Started', from: WIDE, cell: ({ run }) => [{ time: run.startedAt }] },
  { head: 'Account', cell: ({ run }) => [code(run.account)] },
  { head: 'Status', cell: ({ run }) => [toned(statusTone(run.status), run.status)] },
  { head: 'Error', cell: ({ run }) => errorCell(run) },
  { head: 'Trigger', from: WIDE, cell: ({ run }) => [`${run.trigger}, ${run.mode}`] },
  { head: 'Changes', until: COUNTS_FROM, cell: briefChanges },
  {
    head: 'Created',
    align: 'right',
    from: COUNTS_FROM,
    cell: (row) => written(row, 'create', amount('good', '+', row.run.created)),
  },
  {
    head: 'Deleted',
    align: 'right',
    from: COUNTS_FROM,
    cell: (row) => written(row, 'delete', amount('bad', '-', row.run.deleted)),
  },
  { head: 'Held', align: 'right', from: COUNTS_FROM, cell: ({ run }) => amount('warn', '', run.held) },
  { head: 'Failed', align: 'right', from: FAILURES_FROM, cell: ({ failed }) => amount('bad', '', failed) },
  // Columns that are empty in every row are left out.
  { head: 'In doubt', align: 'right', from: FAILURES_FROM, cell: ({ inDoubt }) => unless0('bad', inDoubt) },
  {
    head: 'Not tried',
    align: 'right',
    from: FAILURES_FROM,
    cell: ({ run, notTried }) => (isOpen(run) ? [] : unless0('warn', notTried)),
  },
  {
    head: 'Duration',
    align: 'right',
    from: WIDE,
    cell: ({ run }) => [duration(elapsedMs(run.startedAt, run.finishedAt))],
  },
  { head: 'Run', cell: ({ id }) => [code(id)] },
  {
    head: 'Commit',
    from: COMMIT_FROM,
    until: SUBJECT_FROM,
    cell: ({ run }) => commitCell(run, false),
  },
  { head: 'Commit', from: SUBJECT_FROM, cell: ({ run }) => commitCell(run, true) },
];

/** The report model of the list of runs. */
function historyReport(runs: readonly HistoryRow[]): Report {
  const rows = runs.map((row) => COLUMNS.map(({ cell }) => cell(row)));
  return listReport('rolecall history', { columns: COLUMNS, rows }, [
    runs.length === 0 ? 'No runs.' : `${count(runs.length, 'run')}.`,
  ]);
}

/** Why a run failed or was blocked; `show` has the message. */
function errorCell({ status, errorCode }: RunRecord): Line {
  return errorCode === null || errorCode === status ? [] : [toned(statusTone(status), code(errorCode))];
}

function commitCell({ configCommit, configDirty, configSubject }: RunRecord, hasSubject: boolean): Line {
  if (configCommit === null) return [];
  const changed = configDirty === true ? ' with local changes' : '';
  const subject = hasSubject && configSubject !== null ? ` ${configSubject}` : '';
  return [code(shortCommit(configCommit)), `${changed}${subject}`];
}

/** A plan that was not applied, or is not applied yet. */
function isOpen({ status }: RunRecord): boolean {
  return status === 'planned' || status === 'running';
}

/** What was written; for a plan that was not applied, what it would write. */
function written({ run, planned }: HistoryRow, action: Action, done: Line): Line {
  if (run.status !== 'planned' || planned === null) return done;
  return [toned('quiet', planned[action] === 0 ? '0' : `${planned[action]} planned`)];
}

/** `+4 -2`; in brackets if it was only planned. */
function briefChanges({ run, planned }: HistoryRow): Line {
  const isPlan = run.status === 'planned' && planned !== null;
  const { create, delete: deleted } = isPlan ? planned : { create: run.created, delete: run.deleted };
  const parts = [...(create > 0 ? [`+${create}`] : []), ...(deleted > 0 ? [`-${deleted}`] : [])].join(' ');
  if (parts === '') return [toned('quiet', '0')];
  return [isPlan ? toned('quiet', `(${parts})`) : parts];
}

function unless0(tone: Tone, value: number): Line {
  return value === 0 ? [] : [toned(tone, String(value))];
}

function amount(tone: Tone, sign: string, value: number): Line {
  return [value > 0 ? toned(tone, `${sign}${value}`) : toned('quiet', '0')];
}
