// The report of a run, for `show` and for the end of `apply`: what it did, what it did not do, and why.
import type { Warning } from '../core/catalog.ts';
import type { RunRecord } from '../core/schemas.ts';
import { CHANGED_SINCE_PLAN } from '../core/plan-changes.ts';
import type { Links } from '../core/settings.ts';
import type { RunDetail } from '../core/ports/journal-reader.ts';
import {
  code,
  isOneDocument,
  type Fact,
  type Line,
  type Report,
  type ReportDetail,
  type ReportDocument,
  type ReportOptions,
} from './document.ts';
import { type AccountDocument, foldDocuments, problemAccounts } from './fold.ts';
import { count, duration, elapsedMs, messageLines, pageFact } from './formatting.ts';
import { heldSections, leftAloneSection, plannedSections, warningSection } from './plan-sections.ts';
import { summaryText } from './plan-sentence.ts';
import { renderReport, runReportToJson } from './render.tsx';
import { lossLine, changesSection, outcomeSections } from './run-sections.ts';
import { commitLine, heldDuringRun, nextSteps, runCounts, runSentence, statusTone } from './run-status.ts';

/** `full` is what `show` prints. `brief` follows the report of the plan, and does not repeat it. */
type Detail = 'full' | 'brief';

/** One run, for `show`. json is one object, described by `run.schema.json`. */
export function renderRun(report: RunDetail, options: ReportOptions): string {
  const model = () => ({ title: 'rolecall run', documents: [runDocument(report, 'full', options)] });
  return renderReport(runReportToJson(report), model, options);
}

/**
 * The runs of several accounts, for `apply`, with a total: those that affect people first, and equal runs once. json is an
 * array with one object for each run.
 */
export function renderRunReports(reports: readonly RunDetail[], options: ReportOptions): string {
  // A report that is one document follows no report of the plan.
  const detail = isOneDocument(options.format) ? 'full' : 'brief';
  const model = (): Report => ({
    title: 'rolecall run',
    documents: foldDocuments(
      reports.map((report) => accountDocument(report, detail, options)),
      options.verbose,
    ),
    ...(reports.length > 1 ? { total: runTotal(reports, options.verbose) } : {}),
  });
  return renderReport(reports.map(runReportToJson), model, options);
}

/** Equal runs are shown with what they did, since the plan above is that of one of them. */
function accountDocument(report: RunDetail, detail: Detail, options: ReportDetail): AccountDocument {
  const { run, plan, operations, earlierHolders = [] } = report;
  const { account } = run;
  if (hadNothingToDo(report)) return { account, document: quietDocument(run), isProblem: false, plan };
  const isUnclear = plan === null || heldDuringRun(operations, plan).length + earlierHolders.length > 0;
  const isProblem = isUnclear || statusTone(run.status) === 'bad';
  const [document, alone] = [runDocument(report, 'full', options), runDocument(report, detail, options)];
  return { account, document, alone, isProblem, plan };
}

function hadNothingToDo(report: RunDetail): boolean {
  const { status, created, deleted } = report.run;
  const changes = created + deleted + report.operations.length;
  return status === 'converged' && changes + warningsOf(report, 'full').length === 0;
}

/** A run that had nothing to do, in one line. */
function quietDocument(run: RunRecord): ReportDocument {
  const own = `; ${count(run.kept, 'entry matches', 'entries match')} the file`;
  return {
    title: [code(run.account)],
    status: { label: `${run.status}, nothing to do`, own, tone: statusTone(run.status) },
  };
}

/** The report model of one run. */
export function runDocument(
  report: RunDetail,
  detail: Detail = 'full',
  { links = {}, files }: ReportDetail = {},
): ReportDocument {
  const { run, plan } = report;
  const isDryRun = run.status === 'planned' && report.operations.length === 0;
  const shown = detail === 'full' ? plan : null;
  const file = files?.get(run.account);
  return {
    title: [code(run.account)],
    status: { label: statusLabel(run), tone: statusTone(run.status) },
    headline: [[runSentence(report)], ...lossLine(report)],
    lines: run.error === null ? [] : messageLines(run.error),
    sections: [
      ...changesSection(report.warnings),
      ...(isDryRun && plan !== null ? plannedSections(plan, file) : outcomeSections(report, detail)),
      ...(isDryRun || shown === null ? [] : heldSections(shown, file)),
      ...warningSection(warningsOf(report, detail)),
      ...leftAloneSection(shown?.leftAlone ?? []),
    ],
    summary: [
      !isDryRun
        ? `Run: ${runCounts(report)}.`
        : plan === null
          ? 'The plan of this run is no longer stored.'
          : `Plan: ${summaryText(plan.summary)}.`,
    ],
    facts: runFacts(run, detail, links),
    next: nextSteps(report, detail),
    completeBy: `rolecall show ${run.id} --verbose`,
  };
}

function statusLabel({ status, errorCode }: RunRecord): string {
  return errorCode === null || errorCode === status ? status : `${status} (${errorCode})`;
}

function runFacts(run: RunRecord, detail: Detail, links: Links): Fact[] {
  const { finishedAt, remoteAccountId, planDigest, retries } = run;
  const took = duration(elapsedMs(run.startedAt, finishedAt));
  const id: Fact = {
    label: 'Run',
    line: [{ code: run.id, url: links.publicUrl && `${links.publicUrl}/runs/${run.id}` }],
  };
  const ended: Fact[] =
    finishedAt === null ? [] : [{ label: 'Ended', line: [{ time: finishedAt }, `, after ${took}`] }];
  if (detail === 'brief') return [id, ...ended];
  const commit = commitLine(run, links);
  const retried = retries > 0 ? `, including ${count(retries, 'retry', 'retries')}` : '';
  return [
    id,
    { label: 'Account id', line: [remoteAccountId === null ? 'not known yet' : code(remoteAccountId)] },
    { label: 'Trigger', line: [`${triggerText(run)}, mode ${run.mode}`] },
    { label: 'Started', line: [{ time: run.startedAt }] },
    ...ended,
    // Requests are counted when the run ends.
    ...(run.status === 'running' ? [] : [{ label: 'Requests', line: [`${run.requests}${retried}`] }]),
    ...(commit === null ? [] : [{ label: 'Commit', line: commit, isShared: true as const }]),
    ...(planDigest === null ? [] : [{ label: 'Plan digest', line: [code(planDigest)] }]),
    ...pageFact(run.account, links),
  ];
}

/** `manual by ci`. */
export function triggerText({ trigger, actor }: Pick<RunRecord, 'trigger' | 'actor'>): string {
  return actor === null ? trigger : `${trigger} by ${actor}`;
}

/** The warnings of the run and, in a full report, of its plan; each once. */
function warningsOf({ run, plan, warnings }: RunDetail, detail: Detail): Warning[] {
  const keyOf = (warning: Warning) => JSON.stringify(warning);
  const planned = new Map((plan?.warnings ?? []).map((warning) => [keyOf(warning), warning]));
  const added = warnings.filter((warning) => !planned.has(keyOf(warning)));
  return [...(detail === 'full' ? planned.values() : []), ...added].filter(
    ({ code: each, message }) =>
      // What changed since a stale plan has its own section, and a guard that blocked the run is its error.
      each !== CHANGED_SINCE_PLAN && (each !== run.errorCode || message !== run.error),
  );
}

/** The sum of the records. */
function runTotal(reports: readonly RunDetail[], verbose?: boolean): Line {
  const runs = reports.map(({ run }) => run);
  const sum = (key: 'created' | 'deleted' | 'held' | 'failed' | 'kept') =>
    runs.reduce((total, run) => total + run[key], 0);
  const quiet = reports.filter(hadNothingToDo).length;
  const counts = `${sum('created')} created, ${sum('deleted')} deleted, ${sum('held')} held, ${sum('failed')} failed or unknown, ${sum('kept')} unchanged`;
  return [
    `${runs.length} accounts: ${counts}`,
    ...(['partial', 'blocked', 'failed', 'interrupted'] as const).flatMap((status) =>
      problemAccounts(
        status,
        runs.filter((run) => run.status === status),
        verbose,
      ),
    ),
    quiet === 0 ? '' : `; ${quiet} had nothing to do`,
    '.',
  ];
}
