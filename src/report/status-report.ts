// The report of `status`: one line for each account, and a total.
import { ACCOUNT_STATES, type AccountStateName, FAILING_STATES } from '../core/account-states.ts';
import type { RunRecord } from '../core/journal.ts';
import { type AccountStatus, accountStatusSchema } from './command-schemas.ts';
import { code, toned, type Column, type Line, type Report, type ReportOptions } from './document.ts';
import { ACCOUNT_STATE_TEXTS, count, shortCommit, compareNaturally, relativeTime } from './formatting.ts';
import { listReport, renderReport } from './render.ts';
import { publishedFields } from './run-json.ts';

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
  return renderReport(sorted.map(statusToJson), () => statusReport(sorted, nowMs, options.width), options);
}

function statusToJson(status: AccountStatus) {
  const lastRun = status.lastRun === null ? null : { schemaVersion: 1, ...status.lastRun };
  return publishedFields(accountStatusSchema, { schemaVersion: 1, ...status, lastRun });
}

function stateCell(state: AccountStateName): Line {
  const { label, tone } = ACCOUNT_STATE_TEXTS[state];
  return [tone === null ? label : toned(tone, label)];
}

function statusReport(accounts: readonly AccountStatus[], nowMs: number, width: number): Report {
  const columns: Column[] = [
    { head: 'Account' },
    { head: 'State' },
    { head: 'Drift' },
    { head: 'Held', align: 'right' },
    { head: 'Last run' },
    { head: 'Next run' },
    { head: 'Commit' },
    // In a log each account is one line.
    { head: 'Note', ...(Number.isFinite(width) ? { below: true as const } : {}) },
  ];
  const rows = accounts.map((status): Line[] => [
    [code(status.account)],
    stateCell(status.state),
    driftCell(status.drift),
    status.held === 0 ? [] : [toned('warn', String(status.held))],
    [lastRunText(status.lastRun, nowMs)],
    [nextRunText(status, nowMs)],
    commitCell(status.lastRun),
    notesOf(status, nowMs).flatMap((note, index) => (index === 0 ? note : ['; ', ...note])),
  ]);
  return listReport('rolecall status', { columns, rows }, totalText(accounts));
}

function driftCell(drift: AccountStatus['drift']): Line {
  if (drift === null) return [];
  const parts = [
    ...(drift.create > 0 ? [toned('good', `+${drift.create}`)] : []),
    ...(drift.delete > 0 ? [toned('bad', `-${drift.delete}`)] : []),
  ];
  return parts.flatMap((part, index) => (index === 0 ? [part] : [' ', part]));
}

function lastRunText(run: RunRecord | null, nowMs: number): string {
  if (run === null) return '–';
  return run.finishedAt === null
    ? `began ${relativeTime(run.startedAt, nowMs)}`
    : relativeTime(run.finishedAt, nowMs);
}

function nextRunText({ nextRun }: AccountStatus, nowMs: number): string {
  return nextRun === null ? '–' : relativeTime(nextRun.at, nowMs);
}

function commitCell(run: RunRecord | null): Line {
  if (run === null || run.configCommit === null) return [];
  return [code(shortCommit(run.configCommit)), ...(run.configDirty === true ? [' with local changes'] : [])];
}

/** What a person should know beyond the columns, in the order of importance. */
function notesOf(status: AccountStatus, nowMs: number): Line[] {
  const { issues, pending, pause, lastRun, consecutiveFailures: failures } = status;
  const notes: Line[] = [];
  const [issue] = issues;
  if (issue !== undefined) {
    notes.push([`${issue}${issues.length > 1 ? ` (and ${count(issues.length - 1, 'more issue')})` : ''}`]);
  }
  // The issues are the error of a run that failed because of them.
  const error =
    issue !== undefined && lastRun?.errorCode === 'config_invalid' ? null : (lastRun?.error ?? null);
  if (lastRun !== null && error !== null && FAILING_STATES.has(status.state)) {
    const [first = ''] = error.split('\n');
    const again = failures > 1 ? `${failures} times in a row: ` : '';
    notes.push([`${again}${lastRun.errorCode === null ? '' : `${lastRun.errorCode}: `}${first}`]);
  } else if (lastRun !== null && lastRun.failed > 0) {
    notes.push([count(lastRun.failed, 'failed operation')]);
  }
  if (pending !== null) notes.push(pendingNote(status.account, pending, nowMs));
  if (pause !== null) {
    const since = pause.since === null ? '' : ` ${relativeTime(pause.since, nowMs)}`;
    const by = pause.by === null ? '' : ` by ${pause.by}`;
    notes.push([`paused${since}${by}${pause.reason === null ? '' : `: ${pause.reason}`}`]);
  }
  return notes;
}

/** Digits of a digest that name the pending plan; `approve` needs eight. */
const DIGEST_DIGITS = 12;

function pendingNote(account: string, pending: NonNullable<AccountStatus['pending']>, nowMs: number): Line {
  const digest = pending.digest.replace(/^sha256:/u, '').slice(0, DIGEST_DIGITS);
  const since = relativeTime(pending.since, nowMs);
  if (pending.approval !== null) {
    const { by, at } = pending.approval;
    return [
      'plan ',
      code(digest),
      ` was approved${by === null ? '' : ` by ${by}`} ${relativeTime(at, nowMs)}; the next run applies it`,
    ];
  }
  return ['plan ', code(digest), ` since ${since}: `, code(`rolecall approve ${account} ${digest}`)];
}

/** `3 accounts: 1 failed, 2 converged. Next runs start while the daemon (rolecall serve) runs.` */
function totalText(accounts: readonly AccountStatus[]): string {
  if (accounts.length === 0) return 'No accounts.';
  const parts = ACCOUNT_STATES.flatMap((state) => {
    const amount = accounts.filter((each) => each.state === state).length;
    return amount === 0 ? [] : [`${amount} ${ACCOUNT_STATE_TEXTS[state].label}`];
  });
  const daemon = accounts.some(({ nextRun }) => nextRun !== null)
    ? ` Next runs start while the daemon (rolecall serve) runs.`
    : '';
  return `${count(accounts.length, 'account')}: ${parts.join(', ')}.${daemon}`;
}
