// The daemon: keeps schedules, runs accounts with their current configuration, and stops in order. Built in the order in
// which a tick becomes a run and its notifications.
import type { PostedOutcome } from '../app/posted-plan.ts';
import type { ApplyDeps } from '../app/request.ts';
import { describeFailure } from '../app/run-result.ts';
import type { JournalReader } from '../core/journal-reader.ts';
import type { OperatorCommands } from '../core/operator.ts';
import type { RunSignals } from '../core/ports.ts';
import type { ApiSettings } from '../core/settings.ts';
import type { Turns } from '../core/turns.ts';
import type { AccountRegistry } from './account-registry.ts';
import { createAccountRuns } from './account-run.ts';
import { createDaemonApi } from './create-daemon-api.ts';
import type { DaemonApi } from './daemon-api.ts';
import { createEmbeddedTurns, type EmbeddedTurnsOptions } from './embedded-turns.ts';
import { createJournalWatch } from './journal-watch.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';
import type { Notifier } from './notify/notifier.ts';
import { createRunEnding } from './run-ending.ts';
import { createSharedGauges } from './shared-gauges.ts';
import { startUp } from './start-up.ts';

export interface DaemonOptions {
  readonly version: string;
  /** Has read the configuration. */
  readonly registry: AccountRegistry;
  readonly notifier: Pick<Notifier, 'runEnded' | 'start' | 'update'>;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly deps: ApplyDeps;
  /** The settings that the connections were opened with. */
  readonly api: ApiSettings;
  readonly reader: JournalReader;
  readonly operator: OperatorCommands;
  /** Makes the turns of several replicas. By default this process is the only one that keeps schedules. */
  readonly createTurns?: (options: EmbeddedTurnsOptions) => Turns;
  readonly signals: RunSignals;
  readonly planPosted: (body: Uint8Array) => Promise<PostedOutcome>;
  /** The number of notifications that could not be delivered lately. */
  readonly undelivered: () => Promise<number>;
}

export interface Daemon {
  readonly api: DaemonApi;
  /** Requests the first runs and starts the schedules. */
  start(): Promise<void>;
  /** What keeps the daemon from doing its work, as messages; empty when nothing does. Before `start` the store is checked. */
  problems(): readonly string[];
  /** Whether the scheduler works. A daemon that is not alive must be restarted. */
  isAlive(): boolean;
  /** Resolves when the runs have ended; a second call has no effect. The API answers meanwhile, and afterwards. */
  stop(): Promise<void>;
}

/** A scheduler that has not looked at the clock for this long is stuck. */
const STUCK_MS = 15_000;

/** Makes a daemon that does nothing before `start`. */
export function createDaemon(options: DaemonOptions): Daemon {
  const { registry, notifier, log, metrics, reader, signals } = options;
  const { clock, sha256 } = options.deps;

  const createTurns = options.createTurns ?? createEmbeddedTurns;
  const turns = createTurns({
    clock,
    log,
    signals,
    journal: options.deps.journal,
    reader,
    addressOf: (account) => registry.addressOf(account),
    addressCount: () => registry.addressCount(),
    maxRuns: () => registry.service().daemon.maxRuns,
    onSkipped(account) {
      metrics.skippedTick(account);
      log.warn({ event: 'tick_skipped', account }, 'the account still runs, so this tick is skipped');
    },
  });
  const ending = createRunEnding({ registry, turns, deps: options.deps, log, metrics, notifier });
  const runs = createAccountRuns({ ...options, turns, ending });
  const journalWatch = createJournalWatch({ registry, turns, reader, clock, log });
  const gauges =
    options.createTurns === undefined ? null : createSharedGauges({ registry, reader, metrics, clock });
  const api = createDaemonApi({ ...options, clock, turns, runs, onApproved: () => journalWatch.lookNow() });
  let background: Promise<void> = Promise.resolve();
  let isStarted = false;
  let stopping: Promise<unknown> | null = null;

  function applyConfiguration(): void {
    turns.update(registry.schedules());
    notifier.update(registry.service().notify);
    metrics.schedules(
      registry.accounts().map(({ name }) => ({
        account: name,
        nextRunMs: () => turns.nextRunMs(name),
        longestGapMs: turns.longestGapMs(name),
      })),
    );
  }

  registry.onChange(applyConfiguration);
  applyConfiguration();

  function isAlive(): boolean {
    return clock.nowMs() - turns.lastBeatMs() < STUCK_MS;
  }

  /** Otherwise a killed run of an account that does not run soon would be shown as if it still worked. */
  async function endBrokenRuns(): Promise<void> {
    try {
      await options.deps.journal.interruptBrokenRuns(clock.nowMs());
    } catch (error) {
      // The next run of each account ends them.
      const { code, message } = describeFailure(error);
      log.warn({ event: 'runs_not_ended', code, error: message }, 'killed runs could not be ended');
    }
  }

  return {
    api,
    async start() {
      isStarted = true;
      await endBrokenRuns();
      notifier.start();
      turns.start((turn) => runs.run(turn));
      ({ background } = await startUp({ registry, turns, reader, sha256, log, metrics, signals }));
      journalWatch.start();
      gauges?.start();
    },
    problems() {
      if (api.isStopping()) return ['the daemon is stopping'];
      if (!isStarted) return ['the daemon is starting'];
      if (!isAlive()) return ['the scheduler is not running'];
      if (turns.problems().length > 0) return turns.problems();
      if (registry.accounts().length > 0) return [];
      // This can be read without a token, so it does not quote the files.
      return registry.serviceErrors().length > 0
        ? ['the configuration is not loaded, because it is invalid: see `config_invalid` in the log']
        : ['no account is configured'];
    },
    isAlive,
    async stop() {
      registry.close();
      await (stopping ??= Promise.all([turns.stop(), journalWatch.stop(), gauges?.stop(), background]));
    },
  };
}
