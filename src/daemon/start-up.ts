// What a start does before the first tick: says what it will do, restores what the journal knows, asks for first runs.
import { describeFailure } from '../app/run-result.ts';
import { formatConfigIssue } from '../core/errors.ts';
import type { Trigger } from '../core/journal.ts';
import type { AccountRecord, JournalReader } from '../core/journal-reader.ts';
import type { RunSignals } from '../core/ports.ts';
import type { AccountRegistry, RegisteredAccount } from './account-registry.ts';
import type { ReadOutcome } from './account-run.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';
import type { Scheduler } from './scheduler.ts';

/** So many accounts are told one by one; of more only the numbers. */
const MOST_TOLD = 20;

export interface StartUpOptions {
  readonly registry: AccountRegistry;
  readonly scheduler: Scheduler;
  readonly reader: Pick<JournalReader, 'accounts' | 'entryCounts'>;
  readonly outcomeOf: ReadOutcome;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly request: (account: string, trigger: Trigger) => boolean;
  readonly signals: Pick<RunSignals, 'stop'>;
}

/**
 * Asks for one run of each account, unless `runOnStart: false`; then only accounts that missed a tick while the daemon
 * was down get one. Resolves with what goes on in the background, since reading a large run may take a minute.
 */
export async function startUp(options: StartUpOptions): Promise<{ readonly background: Promise<void> }> {
  const { registry, scheduler, reader, log, metrics, request } = options;
  const records = new Map((await reader.accounts()).map((record) => [record.name, record]));
  for (const { name } of registry.accounts()) {
    const record = records.get(name);
    if (record === undefined) continue;
    const { paused, pending, consecutiveFailures } = record.state;
    metrics.restore(name, { lastSuccessAt: record.lastSuccessAt });
    metrics.account(name, { paused, pending: pending?.digest ?? null });
    scheduler.ended(name, consecutiveFailures);
  }
  tellPlan(registry, scheduler, records, log);
  const { runOnStart } = registry.service().daemon;
  // Also an account whose file is broken: its failed run is how people learn of it.
  for (const { name } of registry.accounts()) {
    const lastRun = records.get(name)?.lastRun ?? null;
    const missed = lastRun !== null && scheduler.missedTickSince(name, Date.parse(lastRun.startedAt));
    if (runOnStart) request(name, 'start');
    else if (missed) request(name, 'catch_up');
  }
  return { background: runOnStart ? Promise.resolve() : showLastRuns(options, records) };
}

/** The gauges say what the last runs found, until the next ones do. Never rejects. */
async function showLastRuns(
  options: StartUpOptions,
  records: ReadonlyMap<string, AccountRecord>,
): Promise<void> {
  for (const { name } of options.registry.accounts()) {
    const record = records.get(name);
    if (options.signals.stop.aborted) return;
    if (record !== undefined) await showLastRun(record, options);
  }
}

async function showLastRun(
  { name, lastRun, state }: AccountRecord,
  { registry, reader, outcomeOf, metrics, log, signals: { stop } }: StartUpOptions,
): Promise<void> {
  if (lastRun === null) return;
  try {
    const outcome = await outcomeOf(lastRun.id, state.pending?.digest ?? null, stop);
    if (outcome === null || stop.aborted) return;
    const entryCounts = await reader.entryCounts(lastRun.id);
    // Its file may have gone meanwhile.
    if (registry.account(name) !== undefined) metrics.found(outcome, entryCounts);
  } catch (error) {
    const { code, message } = describeFailure(error);
    const data = { event: 'last_run_unread', account: name, runId: lastRun.id, code, error: message };
    log.warn(data, 'the last run of an account could not be read');
  }
}

/** What will happen, before it does. */
function tellPlan(
  registry: AccountRegistry,
  scheduler: Scheduler,
  records: ReadonlyMap<string, AccountRecord>,
  log: Log,
): void {
  const accounts = registry.accounts();
  const modes: Record<string, number> = { plan: 0, approve: 0, apply: 0 };
  for (const { settings } of accounts)
    if (settings !== null) modes[settings.mode] = (modes[settings.mode] ?? 0) + 1;
  const { daemon } = registry.service();
  const broken = accounts.filter(({ errors }) => errors.length > 0).length;
  const paused = accounts.filter(({ name }) => records.get(name)?.state.paused === true).length;
  const summary = { accounts: accounts.length, ...modes, broken, paused };
  log.info(
    { event: 'schedules', ...summary, runOnStart: daemon.runOnStart, maxRuns: daemon.maxRuns },
    'schedules are kept',
  );
  for (const account of accounts.slice(0, MOST_TOLD)) tellAccount(account, scheduler, records, log);
  if (accounts.length > MOST_TOLD) {
    log.info({ event: 'scheduled', more: accounts.length - MOST_TOLD }, 'and more accounts');
  }
}

function tellAccount(
  { name, settings, errors }: RegisteredAccount,
  scheduler: Scheduler,
  records: ReadonlyMap<string, AccountRecord>,
  log: Log,
): void {
  const nextMs = scheduler.nextRunMs(name);
  const data = {
    event: 'scheduled',
    account: name,
    mode: settings?.mode ?? null,
    schedule: settings?.schedule ?? null,
    timezone: settings?.timezone ?? null,
    next: nextMs === null ? null : new Date(nextMs).toISOString(),
    paused: records.get(name)?.state.paused ?? false,
  };
  if (errors.length === 0) log.info(data, 'account scheduled');
  else log.warn({ ...data, errors: errors.map(formatConfigIssue) }, 'account is broken');
}
