// The daemon: keeps schedules, runs accounts with the configuration as it stands at that moment, and stops in order.
import type { ApplyDeps } from '../app/request.ts';
import { describeFailure } from '../app/run-result.ts';
import type { OperatorCommands } from '../core/operator.ts';
import type { JournalReader } from '../core/journal-reader.ts';
import type { RunSignals } from '../core/ports.ts';
import type { RunOutcome } from '../core/run-outcome.ts';
import type { ServiceSettings } from '../core/settings.ts';
import type { ConfigurationReader } from './account-registry.ts';
import { createAccountRegistry } from './account-registry.ts';
import type { AccountRunOptions } from './account-run.ts';
import { createAccountRun } from './account-run.ts';
import type { JournalWatch } from './journal-watch.ts';
import { watchJournal } from './journal-watch.ts';
import { createDaemonApi } from './create-daemon-api.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';
import type { LargeRuns } from './large-runs.ts';
import type { AccountView, DaemonApi } from './daemon-api.ts';
import { createRunQueue } from './run-queue.ts';
import { createScheduler } from './scheduler.ts';
import { startUp } from './start-up.ts';

export interface DaemonOptions {
  readonly version: string;
  readonly service: ServiceSettings;
  readonly configuration: ConfigurationReader;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly deps: ApplyDeps;
  readonly large?: LargeRuns | undefined;
  readonly reader: JournalReader;
  readonly outcomeOf: AccountRunOptions['outcomeOf'];
  readonly operator: OperatorCommands;
  readonly signals: RunSignals;
  /** Told of the service's settings when they may have changed, and of the accounts that are configured. */
  readonly onConfigured: (
    service: ServiceSettings,
    accounts: ReadonlySet<string>,
    files: readonly string[],
  ) => void;
  /** Tells others of the end of a run; never rejects. */
  readonly onRunEnded: AccountRunOptions['onRunEnded'];
  readonly viewOf: DaemonApi['view'];
  readonly planPosted: DaemonApi['plan'];
  readonly undelivered: () => Promise<number>;
}

export interface Daemon {
  readonly api: DaemonApi;
  /** Says what will happen, asks for the first runs and begins to keep the schedules. */
  start(): Promise<void>;
  /** Reads the configuration and makes the schedules those of it; what goes wrong is logged. */
  reload(): Promise<void>;
  /** What keeps the daemon from doing its work, in words; empty when nothing does. */
  problems(): readonly string[];
  /** Whether it comes around at all; what does not should be restarted. */
  isAlive(): boolean;
  stop(): Promise<void>;
}

/** A scheduler that has not come around for this long is stuck. */
const STUCK_MS = 15_000;

type Drift = NonNullable<AccountView['drift']>;

function driftOf({ drift }: NonNullable<RunOutcome['plan']>): Drift {
  const total = (wanted: 'create' | 'delete'): number =>
    drift.reduce((sum, { action, count }) => sum + (action === wanted ? count : 0), 0);
  return { create: total('create'), delete: total('delete') };
}

/** Makes a daemon that has read its configuration and does nothing yet. */
export async function createDaemon(options: DaemonOptions): Promise<Daemon> {
  const { log, metrics, reader, configuration } = options;
  const { clock } = options.deps;
  const registry = createAccountRegistry(options.service, log, metrics);
  const drifts = new Map<string, Drift>();
  let stopping = false;
  let lanes = 1;
  let trouble: string | null = null;

  const laneOf = (account: string): string => registry.account(account)?.settings?.baseUrl ?? '';
  const queue = createRunQueue({
    run: createAccountRun({
      ...options,
      api: options.service.api,
      registry,
      onNewReading: schedule,
      onTrouble(found) {
        trouble = found;
      },
      runLater: (account, trigger) => void queue.requestOneMore(account, trigger),
      tickOf: (account) => scheduler.lastTickMs(account),
      onFailures: (account, failures) => scheduler.ended(account, failures),
      async onRunEnded(outcome, mode) {
        if (outcome.plan !== null) drifts.set(outcome.run.account, driftOf(outcome.plan));
        else if (outcome.isUnread) drifts.delete(outcome.run.account);
        await options.onRunEnded(outcome, mode);
      },
    }),
    laneOf,
    mayStart: (account) => options.large?.mayStart(account, laneOf(account)) !== false,
    laneCount: () => lanes,
    maxRuns: () => registry.service().daemon.maxRuns,
  });
  options.large?.onFree(() => queue.startNext());
  const scheduler = createScheduler({
    clock,
    random: Math.random,
    log,
    request: (account, trigger) => queue.request(account, trigger),
    onSkippedTick(account) {
      metrics.skippedTick(account);
      log.warn({ event: 'tick_skipped', account }, 'the account still runs, so this tick is skipped');
    },
  });

  /** Makes the schedules those of the registry. */
  function schedule(): void {
    if (stopping) return;
    scheduler.update(registry.schedules());
    for (const name of drifts.keys()) if (!registry.names().has(name)) drifts.delete(name);
    lanes = new Set(registry.accounts().map(({ settings }) => settings?.baseUrl)).size;
    options.onConfigured(
      registry.service(),
      registry.names(),
      registry.accounts().map(({ file }) => file),
    );
    metrics.schedules(
      registry.accounts().map(({ name }) => ({
        account: name,
        nextRunMs: () => scheduler.nextRunMs(name),
        longestGapMs: scheduler.longestGapMs(name),
      })),
    );
  }

  async function reload(): Promise<void> {
    try {
      const reading = await configuration.read();
      if (!stopping && registry.take(reading)) schedule();
    } catch (error) {
      const { code, message } = describeFailure(error);
      log.error({ event: 'reload_failed', code, error: message }, 'the configuration could not be read');
    }
  }

  await reload();
  const api = createDaemonApi({
    ...options,
    clock,
    registry,
    queue,
    scheduler,
    isStopping: () => stopping,
    troubleOf: () => trouble,
    driftOf: (account) => drifts.get(account),
    onOperator: (account) => void showOperatorsWord(account),
  });

  /** The gauges follow what an operator said at once, not at the next run. */
  async function showOperatorsWord(account: string): Promise<void> {
    const [record] = await reader.accounts(account).catch(() => []);
    if (record === undefined) return;
    const { paused, pending } = record.state;
    metrics.account(account, { paused, pending: pending?.digest ?? null });
  }

  let journalWatch: JournalWatch | null = null;
  let background: Promise<void> = Promise.resolve();

  function isAlive(): boolean {
    return clock.nowMs() - scheduler.lastBeatMs() < STUCK_MS;
  }

  /** Whether a run can use an approval of the account now. */
  function requestApproved(account: string): boolean {
    const { settings = null, errors = [] } = registry.account(account) ?? {};
    if (settings === null || settings.mode === 'plan' || errors.length > 0) return false;
    return queue.request(account, 'approval');
  }

  return {
    api,
    reload,
    async start() {
      scheduler.start();
      ({ background } = await startUp({
        ...options,
        registry,
        scheduler,
        request: (account, trigger) => queue.request(account, trigger),
      }));
      journalWatch = watchJournal({ reader, clock, log, request: requestApproved, scheduler });
    },
    problems() {
      if (stopping) return ['the daemon is stopping'];
      if (!isAlive()) return ['the scheduler is not running'];
      if (registry.accounts().length > 0) return [];
      // Whoever may read this without a token need not learn what the files say.
      return registry.serviceErrors().length > 0
        ? ['the configuration is not loaded, because it is invalid: see `config_invalid` in the log']
        : ['no account is configured'];
    },
    isAlive,
    async stop() {
      stopping = true;
      await Promise.all([scheduler.stop(), journalWatch?.stop(), queue.stop(), background]);
    },
  };
}
