// The sections that report the result of each operation of a run.
import { people, peopleHave } from '../core/amounts.ts';
import { KINDS, type Warning } from '../core/catalog.ts';
import type { OperationRecord } from '../core/journal.ts';
import type { RunDetail } from '../core/ports/journal-reader.ts';
import { groupBy } from '../core/grouping.ts';
import { CHANGED_SINCE_PLAN, type PlanChange } from '../core/plan-changes.ts';
import type { Plan } from '../core/plan.ts';
import { CHANGE_COLUMNS, changeCells } from './change-sections.ts';
import { code, codeList, toned, type Column, type Group, type Line, type Section } from './document.ts';
import { HELD_INTRO } from './held-sections.ts';
import { sortedNaturally, count, duration, elapsedMs } from './formatting.ts';
import { heldDuringRun } from './run-counts.ts';
import { peopleOf } from './run-people.ts';
import { withStatus } from './run-status.ts';

/** How many rows of each section text output shows. Creates and deletes of a large run are rarely read one by one. */
const TEXT_ROWS = 40;

const UNKNOWN =
  'The request was sent, but its result is unknown. The next run checks the lists before it sends the request again.';
const FOUND_DONE = 'Nothing was sent for these: the account already matched the plan.';

/**
 * Sections for operations that are done, failed, unknown, not tried, or held during the run. The changes that the plan
 * itself holds are in the plan's own section. A brief report follows that of its plan, and does not repeat the operations of
 * a run that ended before it tried any.
 */
export function outcomeSections(
  { run, operations, plan, earlierHolders = [] }: Omit<RunDetail, 'warnings'>,
  detail: 'full' | 'brief',
): Section[] {
  const isRunning = run.status === 'running';
  const done = withStatus(operations, 'done');
  const sent = withStatus(operations, 'sent');
  const unknown = withStatus(operations, 'unknown');
  const held = heldDuringRun(operations, plan);
  const written = done.filter(({ attempts }) => attempts > 0);
  const created = written.filter(({ action }) => action === 'create');
  const isDone = run.status === 'converged' || run.status === 'held';
  const hasRows = operations.length > 0 || detail === 'brief';
  const rest = hasRows ? withStatus(operations, 'skipped', 'pending') : unwritten(plan);
  const notTried = isRunning ? 'Remaining' : run.status === 'planned' ? 'Planned' : 'Not tried';
  const section = (title: string, rows: readonly OperationRecord[], intro?: string): Section[] =>
    rows.length === 0 ? [] : [operationsSection({ title, rows, intro }, { plan, earlierHolders })];
  return [
    // What needs a person comes first.
    ...section('Failed', withStatus(operations, 'failed')),
    ...section('Outcome unknown', isRunning ? unknown : [...sent, ...unknown], UNKNOWN),
    ...section(plan === null ? 'Held' : 'Held during the run', held, HELD_INTRO),
    ...section('In progress', isRunning ? sent : []),
    ...section(
      'Deleted',
      written.filter(({ action }) => action === 'delete'),
    ),
    // The plan above a brief report names them, unless something else was not done.
    ...section('Created', isDone && detail === 'brief' ? [] : created),
    ...section(
      'Already done',
      done.filter(({ attempts }) => attempts === 0),
      FOUND_DONE,
    ),
    ...section(notTried, rest),
  ];
}

/** The operations of a run that ended before it wrote rows for them. */
function unwritten(plan: Plan | null): OperationRecord[] {
  return (plan?.operations ?? []).map(({ kind, action, name, remoteId }, index) => ({
    runId: '',
    seq: index + 1,
    kind,
    action,
    name,
    remoteId: remoteId ?? null,
    status: 'skipped',
    rule: null,
    reason: null,
    attempts: 0,
    httpStatus: null,
    startedAt: null,
    finishedAt: null,
  }));
}

/** What shows who has, or had, the entries of operations. */
type HolderSource = Required<Pick<RunDetail, 'plan' | 'earlierHolders'>>;

/** The people who have the entry, and those who had it by earlier lists. */
function holdersLine(operation: OperationRecord, { plan, earlierHolders }: HolderSource): Line {
  const ids = peopleOf(operation, plan) ?? [];
  const earlier = earlierHolders.find(({ seq }) => seq === operation.seq);
  const now: Line = ids.length === 0 ? [] : [codeList(ids)];
  if (earlier === undefined) return now;
  return [
    ...now,
    ...(now.length === 0 ? [] : ['; ']),
    'until ',
    { time: earlier.until },
    ': ',
    codeList(earlier.people),
  ];
}

interface Rows {
  readonly title: string;
  readonly rows: readonly OperationRecord[];
  readonly intro: string | undefined;
}

function operationsSection({ title, rows, intro }: Rows, source: HolderSource): Section {
  const byReason = groupBy(sortedNaturally(rows, KINDS), ({ reason }) => reason);
  const isShared = (reason: string | null): boolean =>
    reason !== null && (byReason.get(reason)?.length ?? 0) > 1;
  const others = [...byReason].flatMap(([reason, group]) => (isShared(reason) ? [] : group));
  return {
    title,
    count: rows.length,
    textRows: TEXT_ROWS,
    ...(intro === undefined ? {} : { intro: [intro] }),
    groups: [
      ...[...byReason].flatMap(([reason, group]) =>
        reason === null || !isShared(reason)
          ? []
          : [{ title: [`${reason} (${group.length})`], ...operationsTable(group, source, 'shared') }],
      ),
      ...(others.length === 0 ? [] : [operationsTable(sortedNaturally(others, KINDS), source, 'own')]),
    ],
  };
}

/** A reason that several operations share is the title of their group. */
function operationsTable(
  rows: readonly OperationRecord[],
  source: HolderSource,
  reasons: 'own' | 'shared',
): Group {
  const holders = rows.map((operation) => holdersLine(operation, source));
  const who: Column[] = holders.some((line) => line.length > 0) ? [{ head: 'Who', below: 'overflow' }] : [];
  const why: Column[] = reasons === 'own' ? [{ head: 'Reason', below: true }] : [];
  return {
    columns: [
      ...CHANGE_COLUMNS,
      { head: 'People' },
      { head: 'Response' },
      { head: 'Rule' },
      { head: 'Duration', align: 'right' },
      { head: 'Id' },
      ...who,
      ...why,
    ],
    rows: rows.map((operation, index): Line[] => [
      ...changeCells(operation, operation.status === 'done'),
      peopleCell(operation, source.plan),
      operation.status === 'done' ? attempts(operation) : response(operation),
      operation.rule === null ? [] : [toned('warn', code(operation.rule))],
      took(operation),
      operation.remoteId === null ? [] : [toned('quiet', code(operation.remoteId))],
      ...who.map((): Line => holders[index] ?? []),
      ...why.map((): Line => (operation.reason === null ? [] : [operation.reason])),
    ]),
  };
}

function peopleCell(operation: OperationRecord, plan: Plan | null): Line {
  const ids = peopleOf(operation, plan);
  if (operation.action === 'create' || ids === null) return [];
  const isDeleted = operation.status === 'done' && operation.attempts > 0;
  if (!isDeleted) return [toned(ids.length === 0 ? 'quiet' : 'warn', peopleHave(ids.length))];
  return ids.length === 0
    ? [toned('quiet', 'nobody had it')]
    : [toned('bad', `${people(ids.length)} lost it`)];
}

/** What changed in the account or in its file since the plan was made that this run refused to apply. */
export function changesSection(warnings: readonly Warning[]): Section[] {
  const changes = warnings.filter((warning): warning is PlanChange => warning.code === CHANGED_SINCE_PLAN);
  if (changes.length === 0) return [];
  const rows = changes.map(({ action, kind, name, remoteId, message }): Line[] => [
    ...(action === undefined || kind === undefined || name === undefined
      ? [[], []]
      : changeCells({ action, kind, name }, false)),
    [message],
    remoteId === undefined ? [] : [toned('quiet', code(remoteId))],
  ]);
  const columns = [...CHANGE_COLUMNS, { head: 'What changed' }, { head: 'Id' }];
  return [
    {
      title: 'Changed since the plan was made',
      textRows: TEXT_ROWS,
      count: changes.length,
      tone: 'warn',
      groups: [{ columns, rows }],
    },
  ];
}

function response(operation: OperationRecord): Line {
  const status = operation.httpStatus === null ? [] : [`HTTP ${operation.httpStatus}`];
  return [[...status, ...attempts(operation)].join(', ')].filter((text) => text !== '');
}

/** The number of attempts, when there was more than one. */
function attempts(operation: OperationRecord): string[] {
  return operation.attempts > 1 ? [count(operation.attempts, 'attempt')] : [];
}

/** How long the request took. Without one, the times are those of the wait for it. */
function took(operation: OperationRecord): Line {
  const ms = operation.attempts === 0 ? null : elapsedMs(operation.startedAt, operation.finishedAt);
  return ms === null ? [] : [toned('quiet', duration(ms))];
}
