// The report of `history`: one row for each run, in the given order.
import type { RunRecord } from '../core/journal.ts';
import {
  code,
  toned,
  type Column,
  type Line,
  type Report,
  type ReportOptions,
  type Tone,
} from './document.ts';
import { renderReport } from './render.ts';
import { runToJson } from './run-json.ts';
import { statusTone } from './run-status.ts';
import { count, duration, elapsedMs, shortCommit } from './formatting.ts';

/**
 * All given runs, with `shortIds` as the printed forms of their ids. json is an array of runs without operations, warnings
 * or plan.
 */
export function renderRuns(
  runs: readonly RunRecord[],
  options: ReportOptions,
  shortIds: ReadonlyMap<string, string> = new Map(),
): string {
  return renderReport(runs.map(runToJson), () => historyReport(runs, shortIds, options.width), options);
}

/** A column, and the narrowest terminal that shows it. What is left out is in the report of the run. */
interface HistoryColumn extends Column {
  readonly from?: number;
  readonly cell: (run: RunRecord) => Line;
}

const WIDE = 100;
const COMMIT_FROM = 130;
const SUBJECT_FROM = 160;

const COLUMNS: readonly HistoryColumn[] = [
  { head: 'Started', cell: ({ startedAt }) => [{ time: startedAt }] },
  { head: 'Account', cell: ({ account }) => [code(account)] },
  { head: 'Status', cell: (run) => [toned(statusTone(run.status), run.status), ...repeats(run)] },
  { head: 'Trigger', from: WIDE, cell: ({ trigger, mode }) => [`${trigger}, ${mode}`] },
  { head: 'Created', align: 'right', cell: ({ created }) => amount('good', '+', created) },
  { head: 'Deleted', align: 'right', cell: ({ deleted }) => amount('bad', '-', deleted) },
  { head: 'Held', align: 'right', cell: ({ held }) => amount('warn', '', held) },
  { head: 'Failed', align: 'right', from: WIDE, cell: ({ failed }) => amount('bad', '', failed) },
  {
    head: 'Duration',
    align: 'right',
    from: WIDE,
    cell: ({ startedAt, finishedAt }) => [duration(elapsedMs(startedAt, finishedAt))],
  },
];

/** The report model of the list of runs. */
function historyReport(
  runs: readonly RunRecord[],
  shortIds: ReadonlyMap<string, string>,
  width: number,
): Report {
  const all: readonly HistoryColumn[] = [
    ...COLUMNS,
    { head: 'Run', cell: ({ id }) => [code(shortIds.get(id) ?? id)] },
    { head: 'Commit', from: COMMIT_FROM, cell: (run) => commitCell(run, width >= SUBJECT_FROM) },
  ];
  const used = all.filter(({ from = 0 }) => width >= from);
  const columns = used.map(({ head, align = 'left' }) => ({ head, align }));
  const rows = runs.map((run) => used.map(({ cell }) => cell(run)));
  return {
    title: 'rolecall history',
    documents: [
      {
        title: [],
        facts: [],
        headline: [],
        sections:
          runs.length === 0 ? [] : [{ title: '', groups: [{ columns, rows, heads: true }], unlimited: true }],
        summary: [runs.length === 0 ? 'No runs.' : `${count(runs.length, 'run')}.`],
      },
    ],
  };
}

/** `×3` for a row that represents three equal runs, after compaction. */
function repeats({ folded }: RunRecord): Line {
  return folded === 0 ? [] : [toned('quiet', ` ×${folded + 1}`)];
}

function commitCell({ configCommit, configDirty, configSubject }: RunRecord, hasSubject: boolean): Line {
  if (configCommit === null) return [];
  const changed = configDirty === true ? ' with local changes' : '';
  const subject = hasSubject && configSubject !== null ? ` ${configSubject}` : '';
  return [code(shortCommit(configCommit)), `${changed}${subject}`];
}

function amount(tone: Tone, sign: string, value: number): Line {
  return [value > 0 ? toned(tone, `${sign}${value}`) : toned('quiet', '0')];
}
