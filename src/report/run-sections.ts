// The sections that report the result of each operation of a run, and who loses an entry by its deletes. These people are those
// of its plan, since the journal of operations has none, and those of earlier lists, since the lists of the run may be wrong.
import { people, peopleHave } from '../core/amounts.ts';
import { KINDS, type Warning } from '../core/catalog.ts';
import type { OperationRecord, EarlierHolders } from '../core/schemas.ts';
import { CHANGED_SINCE_PLAN, type PlanChange } from '../core/plan-changes.ts';
import type { Plan } from '../core/plan.ts';
import type { RunDetail } from '../core/ports/journal-reader.ts';
import {
  code,
  codeList,
  columnsOf,
  toned,
  type Line,
  type Section,
  tableSection,
  type Group,
} from './document.ts';
import { count, duration, elapsedMs, sortedNaturally } from './formatting.ts';
import { CHANGE_COLUMNS, changeCells, HELD_INTRO, OWN_ID, WHO } from './plan-sections.ts';
import { heldDuringRun, withStatus } from './run-status.ts';
import type { DeletedEntry } from '../core/command-schemas.ts';
import { holdersIn } from '../core/unknown-holders.ts';

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

/** `; ada, bob had it until 2026-03-10 16:45:17 UTC`, for the earlier holders of some entries together. Empty without any. */
export function earlierLine(each: readonly (EarlierHolders | null)[], entries: number): Line {
  const known = each.filter((holders) => holders !== null);
  const until = known.map((holders) => holders.until).toSorted();
  const time = until.at(-1);
  if (time === undefined) return [];
  const ids = [...new Set(known.flatMap((holders) => holders.people))];
  return ['; ', codeList(ids), ` had ${entries === 1 ? 'it' : 'some of them'} until `, { time }];
}

/**
 * The ids of the people who have the entry that an operation deletes; null when the plan is no longer stored, or when
 * nobody could tell.
 */
function peopleOf(
  { seq, action, kind, remoteId }: OperationRecord,
  plan: Plan | null,
): readonly string[] | null {
  if (action === 'create') return [];
  const planned = plan?.operations[seq - 1];
  const isSame = planned?.action === action && planned.kind === kind && planned.remoteId === remoteId;
  return isSame && plan !== null ? holdersIn(plan)(planned) : null;
}

/** How many people had a deleted entry, and how many more by earlier lists. */
export function holderCounts({ people: ids, earlier }: Pick<DeletedEntry, 'people' | 'earlier'>): string {
  const had = ids === null ? 'who had it is not known' : `${people(ids.length)} had it when it was deleted`;
  return earlier === null ? had : `${had}, ${people(earlier.people.length)} before`;
}

/** Everybody who had a deleted entry; `until` is empty for those who had it when it was deleted. */
export function holdersOf({
  people: ids,
  earlier,
}: Pick<DeletedEntry, 'people' | 'earlier'>): { person: string; until: string }[] {
  return [
    ...(ids ?? []).map((person) => ({ person, until: '' })),
    ...(earlier?.people ?? []).map((person) => ({ person, until: earlier?.until ?? '' })),
  ];
}

/** The same people as rows below a title; none without people. */
export function holderGroups(title: Line, entry: Pick<DeletedEntry, 'people' | 'earlier'>): Group[] {
  const rows = holdersOf(entry).map(({ person, until }): Line[] => [
    [code(person)],
    until === '' ? [] : [{ time: until }],
  ]);
  return rows.length === 0 ? [] : [{ title, columns: columnsOf('Person', 'Had it until'), rows }];
}

/** How many people lost something, and how many may have. No line when the run deleted nothing. */
export function lossLine({ run, operations, plan, earlierHolders = [] }: RunDetail): Line[] {
  const isRunning = run.status === 'running';
  const deletes = operations.filter(({ action, attempts }) => action === 'delete' && attempts > 0);
  const done = deletes.filter(({ status }) => status === 'done');
  const inDoubt = deletes.filter(({ status }) => status === 'unknown' || (status === 'sent' && !isRunning));
  const total = done.length + inDoubt.length;
  if (total === 0) return [];
  const before = earlierLine(earlierHolders, total);
  const holders = [...done, ...inDoubt].map((operation) => peopleOf(operation, plan));
  if (holders.includes(null)) {
    const why =
      plan === null ? 'the plan of this run is no longer stored' : 'its lists do not show who has what';
    return [[`Who lost an entry is not known: ${why}`, ...before, '.']];
  }
  const lost = new Set(holders.slice(0, done.length).flatMap((ids) => ids ?? []));
  const perhaps = new Set(holders.flatMap((ids) => ids ?? [])).size - lost.size;
  const sure = lost.size === 0 ? 'Nobody' : people(lost.size);
  const doubt = perhaps === 0 ? '' : `; ${perhaps} more may have, by deletes whose outcome is unknown`;
  // The lists of the run may have been wrong, so they are named where earlier ones show somebody.
  const by = before.length === 0 ? '' : ' by the lists of this run';
  return [[`${sure} lost a skill or role${by}${doubt}`, ...before, '.']];
}
