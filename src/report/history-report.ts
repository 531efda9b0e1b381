// The report of `history`: one row for each run, in the given order.
import type { RunRecord } from '../core/journal.ts';
import { code, toned, type Line, type Report, type ReportOptions } from './document.ts';
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

/** Narrower terminals do not show the commit, and then its subject, which are in the report of the run. */
const COMMIT_FROM = 130;
const SUBJECT_FROM = 160;

/** The report model of the list of runs. */
function historyReport(
  runs: readonly RunRecord[],
  shortIds: ReadonlyMap<string, string>,
  width: number,
): Report {
  const columns = [
    { head: 'Started' },
    { head: 'Account' },
    { head: 'Status' },
    { head: 'Trigger' },
    ...['Created', 'Deleted', 'Held', 'Failed', 'Duration'].map(
      (head) => ({ head, align: 'right' }) as const,
    ),
    { head: 'Run' },
    ...(width >= COMMIT_FROM ? [{ head: 'Commit' }] : []),
  ];
  const rows = runs.map((run): Line[] => [
    ...runRow(run),
    [code(shortIds.get(run.id) ?? run.id)],
    ...(width >= COMMIT_FROM ? [commitCell(run, width >= SUBJECT_FROM)] : []),
  ]);
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
  const changed = configDirty === true ? ' (changed)' : '';
  const subject = hasSubject && configSubject !== null ? ` ${configSubject}` : '';
  return [code(shortCommit(configCommit)), `${changed}${subject}`];
}

function runRow(run: RunRecord): Line[] {
  return [
    [{ time: run.startedAt }],
    [code(run.account)],
    [toned(statusTone(run.status), run.status), ...repeats(run)],
    [`${run.trigger}, ${run.mode}`],
    [run.created > 0 ? toned('good', `+${run.created}`) : toned('quiet', '0')],
    [run.deleted > 0 ? toned('bad', `-${run.deleted}`) : toned('quiet', '0')],
    [run.held > 0 ? toned('warn', String(run.held)) : toned('quiet', '0')],
    [run.failed > 0 ? toned('bad', String(run.failed)) : toned('quiet', '0')],
    [duration(elapsedMs(run.startedAt, run.finishedAt))],
  ];
}
