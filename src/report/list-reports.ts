// The reports of `history`, its lists, and `status`: one row for each run, action, snapshot or account.
import { FAILING_STATES } from '../core/account-states.ts';
import { ACCOUNT_STATES } from '../core/journal.ts';
import type { RunRecord } from '../core/schemas.ts';
import { ALL_ACCOUNTS, type RecordedAction } from '../core/operator.ts';
import {
  type OperatorActionRecord,
  type SnapshotRecord,
  type AccountStatus,
  accountStatusSchema,
  actionSchema,
  snapshotSchema,
} from '../core/command-schemas.ts';
import { type RunTally, listSize } from '../core/ports/journal-reader.ts';
import {
  code,
  columnsOf,
  toned,
  type Column,
  type Group,
  type Line,
  type Part,
  type Report,
  type ReportOptions,
} from './document.ts';
import {
  ACCOUNT_STATE_TEXTS,
  briefInstant,
  compareNaturally,
  count,
  driftLine,
  duration,
  elapsedMs,
  joined,
  relativeTime,
  shortCommit,
} from './formatting.ts';
import { renderReport, publishedFields, runToJson } from './render.tsx';
import { countUndone, statusTone } from './run-status.ts';

/** The time and twelve random bits of an id. `show` lists the runs where that is ambiguous. */
const SHORT_ID = 18;

/** The id of a run in a table: shortened on a terminal, complete where a program may read it. */
function shownId(id: string, { width }: ReportOptions): string {
  return Number.isFinite(width) ? id.slice(0, SHORT_ID) : id;
}

/** All given runs, with the `tallies` of their ids. json is an array of runs without operations, warnings or plan. */
export function renderRuns(
  runs: readonly RunRecord[],
  options: ReportOptions,
  tallies?: ReadonlyMap<string, RunTally>,
): string {
  const rows = runs.map((run): HistoryRow => {
    const tally = tallies?.get(run.id) ?? { statuses: {}, planned: null };
    return { run, planned: tally.planned, id: shownId(run.id, options), ...countUndone(run, tally) };
  });
  const cells = rows.map((row) => COLUMNS.map(({ cell }) => cell(row)));
  const table = { columns: COLUMNS, rows: cells };
  return renderList(['history', 'run'], runs.map(runToJson), table, options);
}

/** The list under the title of its command. No row is left out; without rows there is no table. */
function renderList(
  [command, noun]: readonly [command: string, noun: string],
  value: readonly unknown[],
  table: Pick<Group, 'columns' | 'rows'>,
  options: ReportOptions,
): string {
  const isCut = value.length === options.limit;
  const amount = `${count(value.length, noun)}${isCut ? ', as many as --limit allows' : ''}.`;
  const summary = value.length === 0 ? `No ${noun}s.` : amount;
  return renderReport(value, () => listReport(command, table, summary), options);
}

function listReport(command: string, table: Pick<Group, 'columns' | 'rows'>, summary: string): Report {
  const groups = [{ ...table, heads: true as const }];
  const sections = table.rows.length === 0 ? [] : [{ title: '', groups, textRows: Number.POSITIVE_INFINITY }];
  return { title: `rolecall ${command}`, documents: [{ title: [], sections, summary: [summary] }] };
}

interface HistoryRow extends ReturnType<typeof countUndone>, Pick<RunTally, 'planned'> {
  readonly run: RunRecord;
  readonly id: string;
}

const HELD: Column = { head: 'Held', align: 'right' };

const COLUMNS: readonly (Column & { readonly cell: (row: HistoryRow) => Line })[] = [
  { head: 'Started (UTC)', cell: ({ run }) => [briefInstant(run.startedAt)] },
  { head: 'Account', cell: ({ run }) => [code(run.account)] },
  { head: 'Status', cell: ({ run }) => [toned(statusTone(run.status), run.status)] },
  { head: 'Error', cell: ({ run }) => errorCell(run) },
  { head: 'Changes', cell: changesCell },
  { ...HELD, cell: ({ run }) => (run.held === 0 ? [] : [toned('warn', String(run.held))]) },
  { head: 'Problems', cell: problemsCell },
  {
    head: 'Duration',
    align: 'right',
    cell: ({ run }) => [duration(elapsedMs(run.startedAt, run.finishedAt))],
  },
  { head: 'Run', cell: ({ id }) => [code(id)] },
  { head: 'Commit', cell: ({ run }) => commitCell(run) },
];

/** Why a run failed or was blocked; `show` has the message. */
function errorCell({ status, errorCode }: RunRecord): Line {
  return errorCode === null || errorCode === status ? [] : [toned(statusTone(status), code(errorCode))];
}

function commitCell({ configCommit, configDirty }: RunRecord): Line {
  if (configCommit === null) return [];
  return [code(shortCommit(configCommit)), configDirty === true ? ' with local changes' : ''];
}

/** `+4 -2`: what was written; `+4 -2 planned`: what a run that wrote nothing would write. */
function changesCell({ run, planned }: HistoryRow): Line {
  const isPlan = run.status === 'planned' && planned !== null && run.created + run.deleted === 0;
  const { create, delete: deleted } = isPlan ? planned : { create: run.created, delete: run.deleted };
  const parts = [...(create > 0 ? [`+${create}`] : []), ...(deleted > 0 ? [`-${deleted}`] : [])].join(' ');
  if (parts === '') return [toned('quiet', '0')];
  return [isPlan ? toned('quiet', `${parts} planned`) : parts];
}

/** `1 failed, 2 unknown, 3 not tried`. */
function problemsCell({ run, failed, inDoubt, notTried }: HistoryRow): Line {
  // A plan that was not applied, or is not applied yet, tried nothing.
  const isOpen = run.status === 'planned' || run.status === 'running';
  const parts = [
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(inDoubt > 0 ? [`${inDoubt} unknown`] : []),
    ...(notTried > 0 && !isOpen ? [`${notTried} not tried`] : []),
  ];
  return parts.length === 0 ? [] : [toned('bad', parts.join(', '))];
}

/** All given snapshots, json is an array. */
export function renderSnapshots(snapshots: readonly SnapshotRecord[], options: ReportOptions): string {
  const numbers = ['Skills', 'Roles', 'People'].map((head): Column => ({ head, align: 'right' }));
  const columns = columnsOf(
    { head: 'Id', align: 'right' },
    'Taken (UTC)',
    'Account',
    ...numbers,
    'Phase',
    'Run',
  );
  const rows = snapshots.map((snapshot): Line[] => [
    [code(String(snapshot.id))],
    [briefInstant(snapshot.takenAt)],
    [code(snapshot.account)],
    ...(['skill', 'role', 'resource'] as const).map((kind): Line => [String(listSize(snapshot, kind))]),
    [toned('quiet', snapshot.phase)],
    [code(shownId(snapshot.runId, options))],
  ]);
  const value = snapshots.map((snapshot) => publishedFields(snapshotSchema, snapshot));
  return renderList(['history --lists', 'snapshot'], value, { columns, rows }, options);
}

/** The accounts, the most urgent first, those of one state by name. json is an array of the accounts in that order. */
export function renderStatus(
  accounts: readonly AccountStatus[],
  nowMs: number,
  options: ReportOptions,
): string {
  const sorted = accounts.toSorted(
    (a, b) =>
      ACCOUNT_STATES.indexOf(a.state) - ACCOUNT_STATES.indexOf(b.state) ||
      compareNaturally(a.account, b.account),
  );
  const value = sorted.map((status) => publishedFields(accountStatusSchema, status));
  // In a log each account is one line.
  const note: Column = { head: 'Note', ...(Number.isFinite(options.width) ? { below: true } : {}) };
  const columns = columnsOf('Account', 'State', 'Drift', HELD, 'Last run', 'Next run', 'Commit', note);
  const rows = sorted.map((status): Line[] => {
    const { label, tone } = ACCOUNT_STATE_TEXTS[status.state];
    return [
      [code(status.account)],
      [tone === null ? label : toned(tone, label)],
      status.drift === null ? [] : driftLine(status.drift),
      status.held === 0 ? [] : [toned('warn', String(status.held))],
      [lastRunText(status.lastRun, nowMs)],
      [nextRunCell(status, nowMs)],
      status.lastRun === null ? [] : commitCell(status.lastRun),
      joined(notesOf(status, nowMs), '; '),
    ];
  });
  const model = () => listReport('status', { columns, rows }, totalText(sorted));
  return renderReport(value, model, { ...options, notice: accounts[0]?.allPaused ?? null });
}

function lastRunText(run: RunRecord | null, nowMs: number): string {
  if (run === null) return '–';
  return run.finishedAt === null
    ? `began ${relativeTime(run.startedAt, nowMs)}`
    : relativeTime(run.finishedAt, nowMs);
}

function nextRunCell({ nextRun }: AccountStatus, nowMs: number): Part {
  if (nextRun === null) return '–';
  const { at, overdueSince } = nextRun;
  return overdueSince === null
    ? relativeTime(at, nowMs)
    : toned('warn', `due ${relativeTime(overdueSince, nowMs)}`);
}

/** What a person should know beyond the columns, in the order of importance. */
function notesOf(status: AccountStatus, nowMs: number): Line[] {
  const { account, pending, pause } = status;
  return [
    ...problemNotes(status),
    ...(pending === null ? [] : [pendingNote(account, pending, nowMs)]),
    ...(pause === null ? [] : [pauseNote(pause, relativeTime(pause.since, nowMs))]),
  ];
}

type Problems = Pick<AccountStatus, 'issues' | 'lastRun' | 'consecutiveFailures' | 'state'>;

/** The first error of the file, and why the last run failed. */
export function problemNotes({ issues, lastRun, consecutiveFailures: failures, state }: Problems): Line[] {
  const [issue, ...others] = issues;
  const more = others.length === 0 ? '' : ` (and ${count(others.length, 'more issue')})`;
  const notes: Line[] = issue === undefined ? [] : [[`${issue}${more}`]];
  // The issues are the error of a run that failed because of them.
  const error =
    issue !== undefined && lastRun?.errorCode === 'config_invalid' ? null : (lastRun?.error ?? null);
  if (lastRun !== null && error !== null && FAILING_STATES.has(state)) {
    const [first = ''] = error.split('\n');
    const again = failures > 1 ? `${failures} times in a row: ` : '';
    notes.push([`${again}${lastRun.errorCode === null ? '' : `${lastRun.errorCode}: `}${first}`]);
  } else if (lastRun !== null && lastRun.failed > 0) {
    notes.push([count(lastRun.failed, 'failed operation')]);
  }
  return notes;
}

/** `paused 3 d ago by dana: migration until Friday`. */
export function pauseNote({ by, reason }: NonNullable<AccountStatus['pause']>, since: Part): Line {
  return ['paused ', since, ` by ${by}${reason === null ? '' : `: ${reason}`}`];
}

/** Digits of a digest that name the pending plan; `approve` needs eight. */
const DIGEST_DIGITS = 12;

function pendingNote(account: string, pending: NonNullable<AccountStatus['pending']>, nowMs: number): Line {
  const digest = pending.digest.replace(/^sha256:/u, '').slice(0, DIGEST_DIGITS);
  const { approval, since } = pending;
  const text =
    approval === null
      ? ` since ${relativeTime(since, nowMs)}: `
      : ` was approved by ${approval.by} ${relativeTime(approval.at, nowMs)}; the next run applies it`;
  const next = approval === null ? [code(`rolecall approve ${account} ${digest}`)] : [];
  return ['plan ', code(digest), text, ...next];
}

/** `3 accounts: 1 failed, 2 converged. Next runs start while the daemon (rolecall serve) runs.` */
function totalText(accounts: readonly AccountStatus[]): string {
  if (accounts.length === 0) return 'No accounts.';
  const parts = ACCOUNT_STATES.flatMap((state) => {
    const amount = accounts.filter((each) => each.state === state).length;
    return amount === 0 ? [] : [`${amount} ${ACCOUNT_STATE_TEXTS[state].label}`];
  });
  const overdue = accounts.filter(({ nextRun }) => (nextRun?.overdueSince ?? null) !== null).length;
  const daemon =
    overdue > 0
      ? ` No daemon has run ${count(overdue, 'account')} for two intervals: start rolecall serve, or look at its log.`
      : accounts.some(({ nextRun }) => nextRun !== null)
        ? ` Next runs start while the daemon (rolecall serve) runs.`
        : '';
  return `${count(accounts.length, 'account')}: ${parts.join(', ')}.${daemon}`;
}

const ACTION_TEXTS: Readonly<Record<RecordedAction, string>> = {
  sync: 'requested a run',
  approve: 'approved a plan',
  pause: 'paused',
  resume: 'resumed',
  fetch: 'requested the newest configuration',
};

/** A newer version may have recorded an action without a text here. */
export function actionText(action: RecordedAction): string {
  return Object.hasOwn(ACTION_TEXTS, action) ? ACTION_TEXTS[action] : action;
}

/** All given actions. json is an array of them. */
export function renderActions(actions: readonly OperatorActionRecord[], options: ReportOptions): string {
  const rows = actions.map(({ at, account, by, via, action, detail }): Line[] => [
    [briefInstant(at)],
    account === ALL_ACCOUNTS ? ['all accounts'] : [code(account)],
    [by],
    [via.toUpperCase()],
    [actionText(action)],
    detail === null ? [] : [action === 'approve' ? code(detail) : detail],
  ]);
  const columns = columnsOf('When (UTC)', 'Account', 'Who', 'Via', 'What', 'Detail');
  const value = actions.map((action) => publishedFields(actionSchema, action));
  return renderList(['history --actions', 'action'], value, { columns, rows }, options);
}
