// The status of accounts, from the configuration and the store, once or again and again. Never calls the service.
import { setTimeout as sleep } from 'node:timers/promises';
import { approvalOf, statesOf, waitingPlan } from '../core/account-states.ts';
import { formatConfigIssue, errorsOf, UsageError } from '../core/errors.ts';
import { describePause } from '../core/operator.ts';
import type { AccountStatus } from '../core/command-schemas.ts';
import { renderStatus } from '../report/list-reports.ts';
import { gapsMs, nextTickMs } from '../daemon/cron.ts';
import { type CommandContext, openExistingJournal } from './compose.ts';
import { openOutput, type OutputOptions, printReport } from './console.ts';
import { EXIT, type ExitStatus } from './exit-status.ts';
import {
  type KnownAccount,
  knownAccounts,
  type Loaded,
  loadForStore,
  selectAccounts,
} from './load-accounts.ts';

export interface StatusFlags extends OutputOptions {
  readonly state?: AccountStatus['state'];
  readonly watch?: true;
}

/** Prints the statuses once, or with `--watch` until it is stopped. */
export async function showStatuses(
  context: CommandContext,
  names: readonly string[],
  flags: StatusFlags,
): Promise<ExitStatus> {
  if (flags.watch === true) return await watchStatuses(context, names, flags);
  const nowMs = Date.now();
  const statuses = await readStatuses(await loadForStore(context.configFile), names, nowMs, flags.state);
  await printReport(flags, (render) => renderStatus(statuses, nowMs, render));
  return EXIT.done;
}

/**
 * The status of the selected accounts, also of those that are stored and no longer configured. Without a store all
 * accounts never ran. Throws UsageError.
 */
async function readStatuses(
  configuration: Pick<Loaded, 'service' | 'accounts'>,
  names: readonly string[],
  nowMs: number,
  only: StatusFlags['state'],
): Promise<readonly AccountStatus[]> {
  const journal = await openExistingJournal(configuration.service);
  try {
    const reader = journal?.reader ?? { accounts: async () => [], pauseOfAll: async () => null };
    const allPaused = describePause(await reader.pauseOfAll(nowMs));
    const accounts = selectAccounts(await knownAccounts(reader, configuration.accounts), names);
    return accounts
      .map((account) => statusOf(account, nowMs, allPaused))
      .filter(({ state }) => only === undefined || state === only);
  } finally {
    await journal?.close();
  }
}

function statusOf(known: KnownAccount, nowMs: number, allPaused: AccountStatus['allPaused']): AccountStatus {
  const { name, configured, record } = known;
  const lastRun = record?.lastRun ?? null;
  const drift = record?.remaining ?? null;
  const pending = record === undefined ? null : waitingPlan({ ...record.state, lastRun });
  const approval = record === undefined || pending === null ? null : approvalOf(record.state, nowMs);
  const pause = record?.state.pause ?? null;
  const valid = configured?.settings !== undefined;
  const [state] = statesOf({
    configured: configured !== undefined,
    // With an invalid service file nothing is known of the store, and the command fails.
    serviceValid: true,
    valid,
    activity: 'idle',
    pause,
    pending,
    approved: approval,
    lastRun,
    drift,
  });
  return {
    account: name,
    state,
    configured: configured !== undefined,
    issues: valid ? [] : errorsOf(configured?.issues ?? []).map(formatConfigIssue),
    mode: configured?.settings?.mode ?? null,
    drift,
    held: lastRun?.held ?? 0,
    pending: pending && {
      digest: pending.digest,
      runId: pending.runId,
      since: iso(pending.sinceMs),
      approval: approval && {
        by: approval.by,
        at: iso(approval.givenAtMs),
        expiresAt: iso(approval.expiresAtMs),
      },
    },
    pause: pause && { since: iso(pause.sinceMs), by: pause.by, reason: pause.reason },
    lastRun,
    nextRun: nextRunOf(known, nowMs),
    allPaused,
    lastSuccessAt: record?.lastSuccessAt ?? null,
    consecutiveFailures: record?.state.consecutiveFailures ?? 0,
  };
}

/** None while the account is paused, its file is invalid, or it is removed. */
function nextRunOf({ configured, record }: KnownAccount, nowMs: number): AccountStatus['nextRun'] {
  const settings = configured?.settings;
  if (settings === undefined || (record?.state.pause ?? null) !== null) return null;
  const { schedule, timezone } = settings;
  const nextMs = nextTickMs(schedule, timezone);
  if (nextMs === null) return null;
  // One interval after the latest tick it is due, and one more later overdue. A long run is late, not missing.
  const isRunning = record?.lastRun?.finishedAt === null;
  const intervalMs = Math.max(0, ...gapsMs(schedule, timezone));
  const nextTick = typeof record?.tickedMs === 'number' ? record.tickedMs + intervalMs : null;
  const dueMs = isRunning ? null : (record?.dueMs ?? nextTick);
  const isOverdue = dueMs !== null && dueMs + intervalMs < nowMs;
  return { at: iso(record?.dueMs ?? nextMs), overdueSince: isOverdue ? iso(dueMs) : null };
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}

const EVERY_MS = 2000;
/** Moves the cursor to the top, and clears the screen. */
const CLEAR = '\u001B[H\u001B[2J';

/**
 * Shows the statuses until SIGINT, SIGTERM or SIGHUP, or until the reader of a pipe has ended: again and again on a
 * terminal, elsewhere with the time whenever they change. Throws what the reading throws: a watch must not show an old
 * state as the present.
 */
async function watchStatuses(
  { configFile }: CommandContext,
  names: readonly string[],
  flags: StatusFlags,
): Promise<ExitStatus> {
  if (flags.output !== undefined)
    throw new UsageError('--watch prints to stdout without an end; leave out --output');
  const output = openOutput(flags);
  const stop = new AbortController();
  const onSignal = (): void => stop.abort();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, onSignal);
  let isPipeClosed = false;
  process.stdout.once('error', () => {
    isPipeClosed = true;
    stop.abort();
  });
  let shown = '';
  while (!stop.signal.aborted) {
    const nowMs = Date.now();
    const statuses = await readStatuses(await loadForStore(configFile), names, nowMs, flags.state);
    const report = renderStatus(statuses, nowMs, output.render);
    // The next run is no change: it is another one after each tick, also while no daemon runs.
    const state = JSON.stringify(statuses.map((each) => ({ ...each, nextRun: each.nextRun?.overdueSince })));
    if (output.isTerminal) {
      // The most urgent accounts are first, so the screen shows the beginning.
      const fitting = report.split('\n').slice(0, (process.stdout.rows || 24) - 1);
      await output.write(`${CLEAR}${fitting.join('\n')}\n`);
    } else if (state !== shown) {
      const isJson = output.render.format === 'json';
      await output.print(isJson ? report : `${new Date(nowMs).toISOString()}\n${report}`);
    }
    shown = state;
    // With thousands of files a reading takes seconds.
    const pauseMs = Math.max(EVERY_MS, 10 * (Date.now() - nowMs));
    await sleep(pauseMs, undefined, { signal: stop.signal }).catch(() => undefined);
  }
  return isPipeClosed ? EXIT.done : EXIT.interrupted;
}
