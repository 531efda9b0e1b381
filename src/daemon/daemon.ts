// The daemon: keeps schedules, runs accounts with the configuration as it stands at that moment, and stops in order.
import { journalBrokenAccount } from '../app/broken-account.ts';
import { dryRun, reconcile } from '../app/reconcile.ts';
import type { AccountRequest, ApplyDeps } from '../app/request.ts';
import { ACCEPT_NOTHING } from '../app/request.ts';
import { describeFailure } from '../app/run-result.ts';
import { formatConfigIssue } from '../core/errors.ts';
import type { ConfigIssue } from '../core/errors.ts';
import type { Trigger } from '../core/journal.ts';
import type { JournalReader, RunSignals } from '../core/ports.ts';
import type { AccountSettings } from '../core/settings.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';
import { createScheduler } from './scheduler.ts';

/** An account file as it was found at one reading. */
export interface DaemonAccount {
  readonly name: string;
  readonly settings?: AccountSettings;
  readonly issues: readonly ConfigIssue[];
}

export interface DaemonOptions {
  readonly maxRuns: number;
  readonly runOnStart: boolean;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly deps: ApplyDeps;
  readonly reader: JournalReader;
  readonly signals: RunSignals;
  /** Reads all files anew. When the service file itself is broken there are no accounts, but its issues. */
  readonly readAccounts: () => Promise<
    { readonly accounts: readonly DaemonAccount[] } | { readonly broken: readonly ConfigIssue[] }
  >;
  readonly requestFor: (settings: AccountSettings, trigger: Trigger) => Promise<AccountRequest>;
}

export interface Daemon {
  /** Reads the configuration and makes the schedules those of it. False when it could not be read. */
  reload(): Promise<boolean>;
  /** Whether a configuration has been loaded and schedules are kept. */
  isReady(): boolean;
  stop(): Promise<void>;
}

export async function startDaemon(options: DaemonOptions): Promise<Daemon> {
  const { log, metrics } = options;
  const schedules = new Map<string, AccountSettings>();
  let known = new Set<string>();
  let ready = false;
  let stopping = false;

  const scheduler = createScheduler({
    maxRuns: options.maxRuns,
    log,
    run: runOne,
    onSkippedTick(account) {
      metrics.skippedTick(account);
      log.warn({ event: 'tick_skipped', account }, 'the account still runs, so this tick is skipped');
    },
  });

  /** Schedules what is sound; of what is broken the last good schedule goes on. */
  function schedule(accounts: readonly DaemonAccount[]): void {
    known = new Set(accounts.map(({ name }) => name));
    for (const name of schedules.keys()) {
      if (known.has(name)) continue;
      schedules.delete(name);
      metrics.forget(name);
    }
    for (const { name, settings, issues } of accounts) {
      metrics.configValid(name, settings !== undefined);
      if (settings !== undefined) schedules.set(name, settings);
      else logIssues(name, issues);
    }
    scheduler.update([...schedules.values()]);
  }

  /** The service file's own errors fail every account until it is mended; the last good schedules go on. */
  function breakAll(issues: readonly ConfigIssue[]): void {
    for (const name of known) metrics.configValid(name, false);
    logIssues(null, issues);
  }

  function logIssues(account: string | null, issues: readonly ConfigIssue[]): void {
    const errors = issues.filter(({ severity }) => severity === 'error').map(formatConfigIssue);
    log.error({ event: 'config_invalid', account, errors }, 'the configuration is invalid');
  }

  async function reload(): Promise<boolean> {
    const read = await options.readAccounts();
    if (stopping) return false;
    if ('broken' in read) {
      breakAll(read.broken);
      return false;
    }
    schedule(read.accounts);
    ready = true;
    return true;
  }

  async function runOne(name: string, trigger: Trigger): Promise<void> {
    try {
      const read = await options.readAccounts();
      if ('broken' in read) {
        breakAll(read.broken);
        await runAccount({ name, issues: read.broken }, trigger);
        return;
      }
      schedule(read.accounts);
      const account = read.accounts.find((candidate) => candidate.name === name);
      if (account !== undefined) await runAccount(account, trigger);
    } catch (error) {
      // The store could not be used, or there is a bug: the daemon lives, and says so.
      const { code, message } = describeFailure(error);
      log.error({ event: 'run_failed', account: name, code, error: message }, 'the run failed');
    }
  }

  async function runAccount({ name, settings, issues }: DaemonAccount, trigger: Trigger): Promise<void> {
    const startedAt = performance.now();
    const runId =
      settings === undefined
        ? (await journalBrokenAccount(name, issues, trigger, 'plan', options.deps)).runId
        : await runSettings(settings, trigger);
    const detail = runId === null ? null : await options.reader.run(runId);
    if (detail === null) return;
    const entryCounts = await options.reader.entryCounts(detail.run.id);
    metrics.run(detail, entryCounts, (performance.now() - startedAt) / 1000);
    const { status, created, deleted, held, kept, failed, requests, error } = detail.run;
    const data = {
      event: 'run_ended',
      account: name,
      runId,
      trigger,
      status,
      created,
      deleted,
      held,
      kept,
      failed,
      requests,
      seconds: Math.round((performance.now() - startedAt) / 10) / 100,
      ...(error === null ? {} : { code: detail.run.errorCode, error }),
    };
    if (status === 'failed' || status === 'partial' || status === 'blocked') log.error(data, 'run ended');
    else log.info(data, 'run ended');
  }

  async function runSettings(settings: AccountSettings, trigger: Trigger): Promise<string | null> {
    const state = await options.deps.journal.accountState(settings.name);
    if (state.paused && trigger !== 'manual') {
      log.info({ event: 'paused', account: settings.name }, 'the account is paused');
      return null;
    }
    const request = await options.requestFor(settings, trigger);
    if (settings.mode !== 'apply') return (await dryRun(request, options.deps)).runId;
    const result = await reconcile(request, options.deps, {
      mode: 'apply',
      accept: ACCEPT_NOTHING,
      lockTimeoutMs: 0,
    });
    if ('runId' in result) return result.runId;
    metrics.skippedTick(settings.name);
    log.warn({ event: 'locked', account: settings.name, heldBy: result.heldBy }, 'another run has the lock');
    return null;
  }

  await reload();
  // Also an account whose file is broken: its failed run is how people learn of it.
  if (options.runOnStart) for (const name of known) scheduler.request(name, 'start');
  return {
    reload,
    isReady: () => ready && !stopping,
    async stop() {
      stopping = true;
      await scheduler.stop();
    },
  };
}
