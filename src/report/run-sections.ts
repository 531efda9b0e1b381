// The sections that report the result of each operation of a run.
import { people, peopleHave } from '../core/amounts.ts';
import { KINDS, type Warning } from '../core/catalog.ts';
import type { OperationRecord } from '../core/journal.ts';
import { CHANGED_SINCE_PLAN, type PlanChange } from '../core/plan-changes.ts';
import type { Plan } from '../core/plan.ts';
import type { RunDetail } from '../core/ports/journal-reader.ts';
import { code, codeList, columnsOf, toned, type Line, type Section, tableSection } from './document.ts';
import { count, duration, elapsedMs, sortedNaturally } from './formatting.ts';
import { CHANGE_COLUMNS, changeCells, HELD_INTRO, OWN_ID, WHO } from './plan-sections.ts';
import { peopleOf } from './run-people.ts';
import { heldDuringRun, withStatus } from './run-status.ts';

/** How many rows of each section text output shows. Creates and deletes of a large run are rarely read one by one. */
const TEXT_ROWS = 40;

const UNKNOWN =
  'The request was sent, but its outcome is unknown. The next run checks the lists before it sends the request again.';
const FOUND_DONE = 'Nothing was sent for these: the account already matched the plan.';

/**
 * Sections for operations that are done, failed, unknown, not tried, or held during the run. The changes that the plan
 * itself holds are in the plan's own section. A brief report follows that of its plan, and does not repeat the operations of
 * a run that ended before it tried any.
 */
export function outcomeSections(report: RunDetail, detail: 'full' | 'brief'): Section[] {
  const { run, operations, plan } = report;
  const isRunning = run.status === 'running';
  const done = withStatus(operations, 'done');
  const sent = withStatus(operations, 'sent');
  const unknown = withStatus(operations, 'unknown');
  const written = done.filter(({ attempts }) => attempts > 0);
  const hasRows = operations.length > 0 || detail === 'brief';
  const rest = hasRows ? withStatus(operations, 'skipped', 'pending') : unwritten(plan);
  const section = (title: string, rows: readonly OperationRecord[], ...intro: string[]): Section[] =>
    operationsSection(title, rows, report).map((each) => (intro.length === 0 ? each : { ...each, intro }));
  const ofAction = (action: string) => written.filter((each) => each.action === action);
  return [
    // What needs a person comes first.
    ...section('Failed', withStatus(operations, 'failed')),
    ...section('Outcome unknown', isRunning ? unknown : [...sent, ...unknown], UNKNOWN),
    ...section(plan === null ? 'Held' : 'Held during the run', heldDuringRun(operations, plan), HELD_INTRO),
    ...section('In progress', isRunning ? sent : []),
    ...section('Deleted', ofAction('delete')),
    ...section('Created', ofAction('create')),
    ...section(
      'Already done',
      done.filter(({ attempts }) => attempts === 0),
      FOUND_DONE,
    ),
    ...section(isRunning ? 'Remaining' : 'Not tried', rest),
  ];
}

/** The operations of a run that ended before it wrote rows for them. */
function unwritten(plan: Plan | null): OperationRecord[] {
  return (plan?.operations ?? []).map(({ kind, action, name, remoteId = null }, index) => ({
    runId: '',
    seq: index + 1,
    kind,
    action,
    name,
    remoteId,
    status: 'skipped',
    rule: null,
    reason: null,
    attempts: 0,
    httpStatus: null,
    startedAt: null,
    finishedAt: null,
  }));
}

const COLUMNS = columnsOf(
  ...CHANGE_COLUMNS,
  'People',
  { head: 'Response', own: true },
  'Rule',
  { head: 'Duration', align: 'right', own: true },
  OWN_ID,
  WHO,
  { head: 'Reason', below: true },
);

function operationsSection(
  title: string,
  operations: readonly OperationRecord[],
  report: RunDetail,
): Section[] {
  const peopleIn = (operation: OperationRecord): number => peopleOf(operation, report.plan)?.length ?? 0;
  const sorted = sortedNaturally(operations, KINDS).toSorted((a, b) => peopleIn(b) - peopleIn(a));
  const rows = sorted.map((operation): Line[] => {
    const { rule, remoteId, reason, status, attempts, startedAt, finishedAt } = operation;
    // Without a request, the times are those of the wait for it.
    const ms = attempts === 0 ? null : elapsedMs(startedAt, finishedAt);
    return [
      ...changeCells(operation, status === 'done'),
      peopleCell(operation, report.plan),
      [response(operation)].filter((text) => text !== ''),
      rule === null ? [] : [toned('warn', code(rule))],
      ms === null ? [] : [toned('quiet', duration(ms))],
      remoteId === null ? [] : [toned('quiet', code(remoteId))],
      holdersLine(operation, report),
      reason === null ? [] : [reason],
    ];
  });
  // What people lost is shortened less.
  const isLoss = title === 'Deleted' && sorted.some((each) => peopleIn(each) > 0);
  return tableSection(title, { columns: COLUMNS, rows }, isLoss ? { tone: 'bad' } : { textRows: TEXT_ROWS });
}

function peopleCell(operation: OperationRecord, plan: Plan | null): Line {
  const ids = peopleOf(operation, plan);
  if (operation.action === 'create' || ids === null) return [];
  const isDeleted = operation.status === 'done' && operation.attempts > 0;
  const text = isDeleted
    ? `${people(ids.length)} ${ids.length === 0 ? 'had' : 'lost'} it`
    : peopleHave(ids.length);
  return [toned(ids.length === 0 ? 'quiet' : isDeleted ? 'bad' : 'warn', text)];
}

/** The people who have the entry, and those who had it by earlier lists. */
function holdersLine(operation: OperationRecord, { plan, earlierHolders = [] }: RunDetail): Line {
  const ids = peopleOf(operation, plan) ?? [];
  const earlier = earlierHolders.find(({ seq }) => seq === operation.seq);
  return [
    ...(ids.length === 0 ? [] : [codeList(ids)]),
    ...(ids.length === 0 || earlier === undefined ? [] : ['; ']),
    ...(earlier === undefined ? [] : ['until ', { time: earlier.until }, ': ', codeList(earlier.people)]),
  ];
}

/** `HTTP 409, 2 attempts`: the status unless it is done, and the attempts when there were several. */
function response({ status, httpStatus, attempts }: OperationRecord): string {
  return [
    ...(httpStatus === null || status === 'done' ? [] : [`HTTP ${httpStatus}`]),
    ...(attempts > 1 ? [count(attempts, 'attempt')] : []),
  ].join(', ');
}

/** What changed in the account or in its file since the plan was made that this run refused to apply. */
export function changesSection(warnings: readonly Warning[]): Section[] {
  const changes = warnings.filter((warning): warning is PlanChange => warning.code === CHANGED_SINCE_PLAN);
  const rows = changes.map(({ action, kind, name, message }): Line[] => [
    ...(action === undefined || kind === undefined || name === undefined
      ? [[], []]
      : changeCells({ action, kind, name }, false)),
    [message],
  ]);
  const columns = columnsOf(...CHANGE_COLUMNS, 'What changed');
  return tableSection(
    'Changed since the plan was made',
    { columns, rows },
    { textRows: TEXT_ROWS, tone: 'warn' },
  );
}
