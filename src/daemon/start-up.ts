// The start of a term, before the first tick: restores the state of the journal, logs the schedules, and requests the first runs.
import { describeFailure } from '../run/run-result.ts';
import { formatConfigIssue } from '../core/errors.ts';
import type { AccountRecord, JournalReader } from '../core/ports/journal-reader.ts';
import type { RunSignals } from '../core/ports/clock.ts';
import { outcomeOf } from '../core/run-outcome.ts';
import type { AccountRegistry, RegisteredAccount } from './account-registry.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';
import type { Term } from './term.ts';

/** So many accounts are logged one by one. */
const MAX_LOGGED = 20;

export interface StartUpOptions {
  readonly registry: AccountRegistry;
  readonly term: Pick<Term, 'startFirst' | 'nextRunMs'>;
  /** Whether no process has led right before this one. */
  readonly isStart: boolean;
  readonly reader: Pick<JournalReader, 'accounts' | 'entryCounts' | 'run'>;
  readonly sha256: (text: string) => string;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly signals: Pick<RunSignals, 'stop'>;
}

/**
 * Requests a run of each account at the start, of the one that is due longest first. With `runOnStart: false`, and after
 * another leader, only accounts that missed a tick or whose last run was interrupted get one, and after a leader that should
 * have run each account, those that it never ran. `background` ends when the metrics show the last runs.
 */
export async function startUp(options: StartUpOptions): Promise<{ readonly background: Promise<void> }> {
  const { registry, term, reader, metrics, isStart } = options;
  const records = new Map((await reader.accounts()).map((record) => [record.name, record]));
  for (const { name } of registry.accounts()) {
    const record = records.get(name);
    if (record === undefined) continue;
    const { pause, pending } = record.state;
    metrics.restore(name, { lastSuccessAt: record.lastSuccessAt });
    metrics.account(name, { isPaused: pause !== null, pending: pending?.digest ?? null });
  }
  const { runOnStart } = registry.service().daemon;
  // An account with an invalid file runs too: its failed run reports the errors.
  const isEach = runOnStart && isStart;
  // Whoever is due longest is first: otherwise terms that end early would always run the same accounts.
  const dueMs = (name: string): number => records.get(name)?.nextTickMs ?? 0;
  for (const { name } of registry.accounts().toSorted((a, b) => dueMs(a.name) - dueMs(b.name))) {
    // The leader before this one has requested the first run of each account, and may not have made it.
    term.startFirst(name, records.get(name), isEach || (runOnStart && dueMs(name) === 0));
  }
  logSchedules(options, records);
  return { background: isEach ? Promise.resolve() : showLastRuns(options, records) };
}

/** Sets the gauges to the results of the last runs, until the next ones end. Never rejects. */
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
  { registry, reader, sha256, metrics, log, signals: { stop } }: StartUpOptions,
): Promise<void> {
  if (lastRun === null) return;
  try {
    const detail = await reader.run(lastRun.id);
    if (detail === null || stop.aborted) return;
    const outcome = outcomeOf(detail, state.pending?.digest ?? null, sha256);
    const entryCounts = await reader.entryCounts(lastRun.id);
    // Its file may have been removed meanwhile.
    if (registry.account(name) !== undefined) metrics.found(outcome, entryCounts);
  } catch (error) {
    const { code, message } = describeFailure(error);
    const data = { event: 'last_run_unread', account: name, runId: lastRun.id, code, error: message };
    log.warn(data, 'the last run of an account could not be read');
  }
}

function logSchedules(
  { registry, term, log }: StartUpOptions,
  records: ReadonlyMap<string, AccountRecord>,
): void {
  const accounts = registry.accounts();
  const modes: Record<string, number> = { plan: 0, approve: 0, apply: 0 };
  for (const { settings } of accounts)
    if (settings !== null) modes[settings.mode] = (modes[settings.mode] ?? 0) + 1;
  const { daemon } = registry.service();
  const broken = accounts.filter(({ errors }) => errors.length > 0).length;
  const isPaused = ({ name }: RegisteredAccount) => (records.get(name)?.state.pause ?? null) !== null;
  const paused = accounts.filter(isPaused).length;
  const summary = { accounts: accounts.length, ...modes, broken, paused };
  log.info(
    { event: 'schedules', ...summary, runOnStart: daemon.runOnStart, maxRuns: daemon.maxRuns },
    'schedules started',
  );
  for (const account of accounts.slice(0, MAX_LOGGED)) {
    logAccount(account, isPaused(account), term.nextRunMs(account.name), log);
  }
  if (accounts.length > MAX_LOGGED) {
    log.info({ event: 'scheduled', more: accounts.length - MAX_LOGGED }, 'more accounts scheduled');
  }
}

function logAccount(
  { name, settings, errors }: RegisteredAccount,
  isPaused: boolean,
  nextMs: number | null,
  log: Log,
): void {
  const data = {
    event: 'scheduled',
    account: name,
    mode: settings?.mode ?? null,
    schedule: settings?.schedule ?? null,
    timezone: settings?.timezone ?? null,
    next: nextMs === null ? null : new Date(nextMs).toISOString(),
    paused: isPaused,
  };
  if (errors.length === 0) log.info(data, 'account scheduled');
  else
    log.warn(
      { ...data, errors: errors.map(formatConfigIssue) },
      'the configuration of the account is invalid',
    );
}
