// The daemon: runs the accounts that are due with their current configuration. Built in the order in which a due account
// becomes a run and its notifications.
import type { PlanResult } from '../core/plan.ts';
import type { PostedPlan } from '../run/posted-plan.ts';
import type { ApplyDeps } from '../run/request.ts';
import { describeFailure } from '../run/run-result.ts';
import { formatConfigIssue } from '../core/errors.ts';
import { ALL_ACCOUNTS } from '../core/operator.ts';
import type { OperatorCommands } from '../core/operator.ts';
import type { AccountRecord, JournalReader } from '../core/ports/journal-reader.ts';
import type { Clock, RunSignals } from '../core/ports/clock.ts';
import { outcomeOf } from '../core/run-outcome.ts';
import type { ApiSettings } from '../core/settings.ts';
import type { AccountRegistry } from './account-registry.ts';
import { createAccountRuns } from './account-run.ts';
import { createDaemonApi } from './daemon-api.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';
import type { Fleet } from './notify/commit-status.ts';
import type { Notifier } from './notify/notifier.ts';
import { RunLoop, type RunLoopOptions } from './run-loop.ts';

export interface DaemonOptions extends Pick<RunLoopOptions, 'due' | 'locks' | 'onStoreClock'> {
  readonly version: string;
  /** Has read the configuration. */
  readonly registry: AccountRegistry;
  readonly notifier: Pick<Notifier, 'runEnded' | 'start' | 'stop' | 'update'>;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly deps: ApplyDeps;
  /** The settings that the connections were opened with. */
  readonly api: ApiSettings;
  readonly reader: JournalReader;
  readonly operator: OperatorCommands;
  /** The clock of the store. */
  readonly clock: Clock;
  readonly signals: RunSignals;
  readonly planPosted: (posted: readonly PostedPlan[]) => Promise<readonly PlanResult[]>;
  /** Fetches the configuration; never rejects. */
  readonly fetchSource: () => Promise<void>;
}

/** So many accounts run at a time: each may be large. */
const MOST_RUNS = 8;
/** How often the gauges follow what other processes did. */
const GAUGES_MS = 15_000;
/** As many commands of operators are read at once. */
const MOST_COMMANDS = 10_000;
/** So many accounts are logged one by one. */
const MAX_LOGGED = 20;

/** Makes a daemon that does nothing before `start`. */
export function createDaemon(options: DaemonOptions) {
  const { registry, notifier, log, metrics, reader, clock, signals } = options;
  let isStarted = false;
  let stopping: Promise<unknown> | null = null;
  /** The newest command of an operator that was seen; null before the first look. */
  let lastSeq: number | null = null;
  let gaugesMs = Number.NEGATIVE_INFINITY;
  let lastRuns: Promise<void> | null = null;
  /** Since when accounts are due, as of the last look. */
  let dueMs = new Map<string, number | null>();

  const runs = createAccountRuns(options);
  const loop = new RunLoop({
    ...options,
    newRunId: options.deps.newRunId,
    places: Math.min(MOST_RUNS, options.api.hostConcurrency),
    run: (due) => runs.run(due),
    everySecond,
    onSkipped(account) {
      metrics.skippedTick(account);
      log.warn({ event: 'tick_skipped', account }, 'the account still runs, so this tick is skipped');
    },
  });

  async function everySecond(): Promise<void> {
    await lookAtCommands();
    const pause = await reader.pauseOfAll(clock.nowMs());
    metrics.account(ALL_ACCOUNTS, { isPaused: pause !== null, pending: null });
    if (clock.steadyMs() - gaugesMs < GAUGES_MS) return;
    const records = await reader.accounts();
    // What is due waits for a free place, or for the end of a pause.
    dueMs = new Map(records.map(({ name, state, dueMs: due }) => [name, state.pause === null ? due : null]));
    for (const record of records) if (registry.account(record.name) !== undefined) metrics.known(record);
    if (lastRuns === null) logAccounts(records);
    lastRuns ??= showLastRuns(records);
    gaugesMs = clock.steadyMs();
  }

  /** Logs new commands, of which those over HTTP are logged already, and fetches the configuration for one that requests it. */
  async function lookAtCommands(): Promise<void> {
    const isFirst = lastSeq === null;
    const filter = lastSeq === null ? { limit: 1 } : { after: lastSeq, limit: MOST_COMMANDS };
    const commands = await reader.operatorActions(filter);
    lastSeq = commands[0]?.seq ?? lastSeq ?? 0;
    if (isFirst) return;
    for (const { account, action, by, via, at, detail } of commands.toReversed()) {
      const command = { event: 'operator_action', action, account, by, at, detail };
      if (via === 'cli') log.info(command, 'an operator requested an action');
      if (action === 'fetch') void options.fetchSource();
    }
  }

  /** Sets the gauges to the results of the last runs, until the next ones end. Never rejects. */
  async function showLastRuns(records: readonly AccountRecord[]): Promise<void> {
    for (const { name, lastRun, state } of records) {
      if (signals.stop.aborted) return;
      if (lastRun === null || registry.account(name) === undefined) continue;
      try {
        const detail = await reader.run(lastRun.id);
        if (detail === null) continue;
        const outcome = outcomeOf(detail, state.pending?.digest ?? null, options.deps.sha256);
        const entryCounts = await reader.entryCounts(lastRun.id);
        // Its file may have been removed meanwhile.
        if (registry.account(name) !== undefined) metrics.found(outcome, entryCounts);
      } catch (error) {
        const { code, message } = describeFailure(error);
        const data = { event: 'last_run_unread', account: name, runId: lastRun.id, code, error: message };
        log.warn(data, 'the last run of an account could not be read');
      }
    }
  }

  function logAccounts(records: readonly AccountRecord[]): void {
    const accounts = registry.accounts();
    const modes: Record<string, number> = { plan: 0, approve: 0, apply: 0 };
    for (const { settings } of accounts)
      if (settings !== null) modes[settings.mode] = (modes[settings.mode] ?? 0) + 1;
    const broken = accounts.filter(({ errors }) => errors.length > 0).length;
    const isPaused = new Set(records.flatMap(({ name, state }) => (state.pause === null ? [] : [name])));
    const paused = accounts.filter(({ name }) => isPaused.has(name)).length;
    log.info(
      { event: 'schedules', accounts: accounts.length, ...modes, broken, paused },
      'schedules started',
    );
    for (const { name, settings, errors } of accounts.slice(0, MAX_LOGGED)) {
      const nextMs = loop.nextTickMs(name);
      const data = {
        event: 'scheduled',
        account: name,
        mode: settings?.mode ?? null,
        schedule: settings?.schedule ?? null,
        timezone: settings?.timezone ?? null,
        next: nextMs === null ? null : new Date(nextMs).toISOString(),
        paused: isPaused.has(name),
      };
      if (errors.length === 0) log.info(data, 'account scheduled');
      else
        log.warn(
          { ...data, errors: errors.map(formatConfigIssue) },
          'the configuration of the account is invalid',
        );
    }
    if (accounts.length > MAX_LOGGED)
      log.info({ event: 'scheduled', more: accounts.length - MAX_LOGGED }, 'more accounts scheduled');
  }

  function applyConfiguration(): void {
    notifier.update(registry.service().notify);
    for (const { name } of registry.accounts()) {
      const nextRunMs = (): number | null => dueMs.get(name) ?? loop.nextTickMs(name);
      metrics.account(name, { nextRunMs, longestGapMs: loop.longestGapMs(name) });
    }
  }

  const api = createDaemonApi({
    ...options,
    nextTickMs: (account) => loop.nextTickMs(account),
    wake: () => loop.wake(),
    problems: () => [runs.problem(), loop.problem()],
    isStopped: () => stopping !== null,
  });
  registry.onChange(applyConfiguration);
  applyConfiguration();

  async function stop(): Promise<void> {
    await Promise.all([loop.stop(), lastRuns]);
    await notifier.stop();
  }

  return {
    api,
    /** The commit in use; null while the files differ from it. */
    async fleet(): Promise<Fleet | null> {
      const commit = await registry.commit();
      if (commit === null || commit.dirty) return null;
      const running = (await api.accounts()).filter(({ pause }) => pause === null);
      return { commit: commit.sha, accounts: running.map(({ name }) => name) };
    },
    start(): void {
      isStarted = true;
      loop.start();
      notifier.start();
    },
    /** What keeps the daemon from doing its work, as messages; empty when nothing does. */
    problems(): readonly string[] {
      if (api.isStopping()) return ['the daemon is stopping'];
      if (!isStarted) return ['the daemon is starting'];
      if (registry.accounts().length > 0) return [];
      // This can be read without a token, so it does not quote the files.
      return registry.serviceErrors().length > 0
        ? ['the configuration is not loaded, because it is invalid: see `config_invalid` in the log']
        : ['no account is configured'];
    },
    /** Resolves when the runs have ended; a second call has no effect. The API answers meanwhile, and afterwards. */
    async stop(): Promise<void> {
      registry.close();
      await (stopping ??= stop());
    },
  };
}
