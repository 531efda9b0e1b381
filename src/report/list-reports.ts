// The reports of `history` and `snapshots`: one row for each run or snapshot, the newest first.
import type { RunRecord } from '../core/journal.ts';
import type { RunTally } from '../core/ports/journal-reader.ts';
import { code, toned, type Column, type Line, type Report, type ReportOptions } from './document.ts';
import { listReport, renderReport } from './render.ts';
import { publishedFields, runToJson } from './run-json.ts';
import { snapshotSchema } from './snapshot-schemas.ts';
import { countUndone, statusTone } from './run-status.ts';
import { briefInstant, count, duration, elapsedMs, shortCommit } from './formatting.ts';
import { listSize, type SnapshotRecord } from '../core/snapshots.ts';

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

interface HistoryRow extends ReturnType<typeof countUndone>, Pick<RunTally, 'planned'> {
  readonly run: RunRecord;
  readonly id: string;
}

const COLUMNS: readonly (Column & { readonly cell: (row: HistoryRow) => Line })[] = [
  { head: 'Started (UTC)', cell: ({ run }) => [briefInstant(run.startedAt)] },
  { head: 'Account', cell: ({ run }) => [code(run.account)] },
  { head: 'Status', cell: ({ run }) => [toned(statusTone(run.status), run.status)] },
  { head: 'Error', cell: ({ run }) => errorCell(run) },
  { head: 'Changes', cell: changesCell },
  {
    head: 'Held',
    align: 'right',
    cell: ({ run }) => (run.held === 0 ? [] : [toned('warn', String(run.held))]),
  },
  { head: 'Problems', cell: problemsCell },
  {
    head: 'Duration',
    align: 'right',
    cell: ({ run }) => [duration(elapsedMs(run.startedAt, run.finishedAt))],
  },
  { head: 'Run', cell: ({ id }) => [code(id)] },
  { head: 'Commit', cell: ({ run }) => commitCell(run) },
];

/** The report model of the list of runs. */
function historyReport(runs: readonly HistoryRow[]): Report {
  const rows = runs.map((row) => COLUMNS.map(({ cell }) => cell(row)));
  const summary = runs.length === 0 ? 'No runs.' : `${count(runs.length, 'run')}.`;
  return listReport('rolecall history', { columns: COLUMNS, rows }, summary);
}

/** Why a run failed or was blocked; `show` has the message. */
function errorCell({ status, errorCode }: RunRecord): Line {
  return errorCode === null || errorCode === status ? [] : [toned(statusTone(status), code(errorCode))];
}

function commitCell({ configCommit, configDirty }: RunRecord): Line {
  if (configCommit === null) return [];
  return [code(shortCommit(configCommit)), configDirty === true ? ' with local changes' : ''];
}

/** `+4 -2`: what was written; in brackets what a dry run would write. */
function changesCell({ run, planned }: HistoryRow): Line {
  const isPlan = run.status === 'planned' && planned !== null;
  const { create, delete: deleted } = isPlan ? planned : { create: run.created, delete: run.deleted };
  const parts = [...(create > 0 ? [`+${create}`] : []), ...(deleted > 0 ? [`-${deleted}`] : [])].join(' ');
  if (parts === '') return [toned('quiet', '0')];
  return [isPlan ? toned('quiet', `(${parts})`) : parts];
}

/** `1 failed, 2 in doubt, 3 not tried`. */
function problemsCell({ run, failed, inDoubt, notTried }: HistoryRow): Line {
  // A plan that was not applied, or is not applied yet, tried nothing.
  const isOpen = run.status === 'planned' || run.status === 'running';
  const parts = [
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(inDoubt > 0 ? [`${inDoubt} in doubt`] : []),
    ...(notTried > 0 && !isOpen ? [`${notTried} not tried`] : []),
  ];
  return parts.length === 0 ? [] : [toned('bad', parts.join(', '))];
}

/** All given snapshots, with `shortIds` as the printed forms of the ids of their runs. json is an array. */
export function renderSnapshots(
  snapshots: readonly SnapshotRecord[],
  options: ReportOptions,
  shortIds: ReadonlyMap<string, string> = new Map(),
): string {
  return renderReport(snapshots.map(snapshotToJson), () => snapshotsReport(snapshots, shortIds), options);
}

function snapshotToJson(snapshot: SnapshotRecord) {
  return publishedFields(snapshotSchema, { schemaVersion: 1, ...snapshot });
}

function snapshotsReport(
  snapshots: readonly SnapshotRecord[],
  shortIds: ReadonlyMap<string, string>,
): Report {
  const columns: Column[] = [
    { head: 'Id', align: 'right' },
    { head: 'Taken (UTC)' },
    { head: 'Account' },
    ...['Skills', 'Roles', 'People'].map((head): Column => ({ head, align: 'right' })),
    { head: 'Phase' },
    { head: 'Run' },
  ];
  const rows = snapshots.map((snapshot): Line[] => [
    [code(String(snapshot.id))],
    [briefInstant(snapshot.takenAt)],
    [code(snapshot.account)],
    ...(['skill', 'role', 'resource'] as const).map((kind): Line => [String(listSize(snapshot, kind))]),
    [toned('quiet', snapshot.phase)],
    [code(shortIds.get(snapshot.runId) ?? snapshot.runId)],
  ]);
  const summary = rows.length === 0 ? 'No snapshots.' : `${count(rows.length, 'snapshot')}.`;
  return listReport('rolecall snapshots', { columns, rows }, summary);
}
