// The report of a run, for `show` and for the end of `apply`: what it did, what it did not do, and why.
import type { Warning } from '../core/catalog.ts';
import type { RunRecord } from '../core/journal.ts';
import type { RunDetail } from '../core/ports/journal-reader.ts';
import { CHANGED_SINCE_PLAN } from '../core/plan-changes.ts';
import { leftAloneSection, PLANNED, warningSection } from './change-sections.ts';
import {
  code,
  isOneDocument,
  toned,
  type Fact,
  type Line,
  type Report,
  type ReportDocument,
  type ReportOptions,
} from './document.ts';
import { heldSections, plannedSections } from './held-sections.ts';
import { summaryText } from './plan-sentence.ts';
import { renderReport } from './render.ts';
import { runReportToJson } from './run-json.ts';
import { countRun, countsText, sumCounts } from './run-counts.ts';
import { lossLine } from './run-people.ts';
import { changesSection, outcomeSections } from './run-sections.ts';
import { commitLine, nextSteps, runSentence, statusTone } from './run-status.ts';
import { count, duration, elapsedMs, messageLines } from './formatting.ts';

/** One run, for `show`. json is one object, described by `run.schema.json`. */
export function renderRun(report: RunDetail, options: ReportOptions): string {
  return renderReport(runReportToJson(report), () => runReport([report], 'full'), options);
}

/** The runs of several accounts, for `apply`, with a total. json is an array with one object for each run. */
export function renderRunReports(reports: readonly RunDetail[], options: ReportOptions): string {
  // A report that is one document follows no report of the plan.
  const detail = isOneDocument(options.format) ? 'full' : 'brief';
  return renderReport(reports.map(runReportToJson), () => runReport(reports, detail), options);
}

/**
 * The report model of the runs. `brief` reports a run that had nothing to do in one line, and suggests `show` for the
 * details; `full` is what `show` prints.
 */
function runReport(reports: readonly RunDetail[], detail: 'full' | 'brief'): Report {
  const documents = reports.map((report) =>
    // `show` prints the one run that was requested in full.
    (detail === 'brief' || reports.length > 1) && hadNothingToDo(report)
      ? quietDocument(report)
      : runDocument(report, detail),
  );
  return { title: 'rolecall run', documents, ...(reports.length > 1 ? { total: runTotal(reports) } : {}) };
}

function hadNothingToDo(report: RunDetail): boolean {
  const { status, created, deleted } = report.run;
  const warnings = allWarnings(report).length;
  return status === 'converged' && created + deleted + report.operations.length + warnings === 0;
}

function quietDocument(report: RunDetail): ReportDocument {
  const { run } = report;
  const kept = `${runSentence(report)} ${count(run.kept, 'entry matches', 'entries match')} the file`;
  return {
    title: [code(run.account)],
    status: { label: run.status, tone: statusTone(run.status) },
    headline: [[`${kept} (run `, code(run.id), ').']],
    facts: [],
    sections: [],
  };
}

/** The report model of one run. */
export function runDocument(report: RunDetail, detail: 'full' | 'brief' = 'full'): ReportDocument {
  const { run, plan } = report;
  const dryRun = run.status === 'planned' ? plan : null;
  // A brief report follows the report of its plan, so it does not repeat the held and the kept entries.
  const repeated = detail === 'full' ? plan : null;
  return {
    title: [code(run.account)],
    status: {
      label: statusLabel(run),
      tone: statusTone(run.status),
    },
    headline: [[runSentence(report)], ...lossLine(report)],
    lines: run.error === null ? [] : messageLines(run.error),
    facts: detail === 'full' ? runFacts(run) : briefFacts(run),
    sections: [
      ...changesSection(report.warnings),
      ...(dryRun === null ? outcomeSections(report, detail) : plannedSections(dryRun, PLANNED)),
      ...(dryRun !== null || repeated === null ? [] : heldSections(repeated)),
      ...warningSection(
        (detail === 'brief' ? newWarnings(report) : allWarnings(report)).filter(
          // A guard that blocked the run is above, as its error.
          (warning) => warning.code !== run.errorCode || warning.message !== run.error,
        ),
      ),
      ...leftAloneSection(repeated?.leftAlone ?? []),
    ],
    summary: [summaryOf(report)],
    next: nextSteps(report, detail),
    completeBy: `rolecall show ${run.id} --verbose`,
  };
}

function summaryOf(report: RunDetail): string {
  const { run, plan } = report;
  if (run.status !== 'planned') return `Run: ${countsText(countRun(report), run.status === 'running')}.`;
  return plan === null ? 'The plan of this run is no longer stored.' : `Plan: ${summaryText(plan.summary)}.`;
}

function statusLabel({ status, errorCode }: RunRecord): string {
  return errorCode === null || errorCode === status ? status : `${status} (${errorCode})`;
}

/** What the report of the plan, which precedes this one, does not contain. */
function briefFacts(run: RunRecord): Fact[] {
  return [{ label: 'Run', line: [code(run.id)] }, ...endOf(run)];
}

function endOf({ startedAt, finishedAt }: RunRecord): Fact[] {
  if (finishedAt === null) return [];
  const took = duration(elapsedMs(startedAt, finishedAt));
  return [{ label: 'Ended', line: [{ time: finishedAt }, `, after ${took}`] }];
}

function runFacts(run: RunRecord): Fact[] {
  const facts: Fact[] = [
    { label: 'Run', line: [code(run.id)] },
    {
      label: 'Account id',
      line: run.remoteAccountId === null ? ['not known yet'] : [code(run.remoteAccountId)],
    },
    { label: 'Trigger', line: [`${run.trigger}, mode ${run.mode}`] },
    { label: 'Started', line: [{ time: run.startedAt }] },
    ...endOf(run),
  ];
  // Requests are counted when the run ends.
  if (run.status !== 'running') facts.push({ label: 'Requests', line: [requestCount(run)] });
  const commit = commitLine(run);
  if (commit !== null) facts.push({ label: 'Commit', line: commit });
  if (run.planDigest !== null) facts.push({ label: 'Plan digest', line: [code(run.planDigest)] });
  return facts;
}

function requestCount({ requests, retries }: RunRecord): string {
  return `${requests}${retries > 0 ? `, including ${count(retries, 'retry', 'retries')}` : ''}`;
}

/** The warnings of the plan and of the run, without duplicates. */
function allWarnings({ plan, warnings }: RunDetail): Warning[] {
  const byText = new Map(
    [...(plan?.warnings ?? []), ...warnings.filter(isNotice)].map((warning) => [
      JSON.stringify(warning),
      warning,
    ]),
  );
  return [...byText.values()];
}

/** What changed since a stale plan was made has its own section. */
function isNotice({ code: warning }: Warning): boolean {
  return warning !== CHANGED_SINCE_PLAN;
}

/** The warnings that the run added to those of its plan. */
function newWarnings({ plan, warnings }: RunDetail): Warning[] {
  const planned = new Set(plan?.warnings.map((warning) => JSON.stringify(warning)));
  return warnings.filter((warning) => isNotice(warning) && !planned.has(JSON.stringify(warning)));
}

function runTotal(reports: readonly RunDetail[]): NonNullable<Report['total']> {
  const runs = reports.map((report) => ({
    run: report.run,
    counts: countRun(report),
    isQuiet: hadNothingToDo(report),
  }));
  const quiet = runs.filter(({ isQuiet }) => isQuiet).length;
  const total = sumCounts(runs.map(({ counts }) => counts));
  const problems = (['partial', 'blocked', 'failed', 'interrupted'] as const).flatMap((status) => {
    const amount = runs.filter(({ run }) => run.status === status).length;
    return amount === 0 ? [] : [`; ${count(amount, 'run')} ${status}`];
  });
  const right = (head: string) => ({ head, align: 'right' }) as const;
  return {
    line: [
      toned(
        'strong',
        `${runs.length} accounts: ${countsText(total)}${problems.join('')}${quiet === 0 ? '' : `; ${quiet} had nothing to do`}.`,
      ),
    ],
    table: {
      heads: true,
      columns: [
        { head: 'Account' },
        { head: 'Status' },
        ...['Created', 'Deleted', 'Held', 'Failed', 'In doubt', 'Not tried', 'Unchanged'].map(right),
      ],
      rows: runs
        .filter(({ isQuiet }) => !isQuiet)
        .map(({ run, counts }): Line[] => [
          [code(run.account)],
          [toned(statusTone(run.status), statusLabel(run))],
          ...[counts.created, counts.deleted, counts.held, counts.failed].map((amount) => [String(amount)]),
          // Columns that are empty in every row are left out.
          ...[counts.inDoubt + counts.inProgress, counts.notTried].map((amount) =>
            amount === 0 ? [] : [String(amount)],
          ),
          [String(counts.kept)],
        ]),
    },
  };
}
