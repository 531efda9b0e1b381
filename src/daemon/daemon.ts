// The daemon: while it leads, it keeps schedules and runs accounts with their current configuration. Built in the order in
// which a tick becomes a run and its notifications.
import type { PostedOutcome } from '../run/posted-plan.ts';
import type { ApplyDeps } from '../run/request.ts';
import type { JournalReader } from '../core/ports/journal-reader.ts';
import type { OperatorCommands } from '../core/operator.ts';
import type { Clock, RunSignals } from '../core/ports/clock.ts';
import type { ApiSettings } from '../core/settings.ts';
import type { AccountRegistry } from './account-registry.ts';
import { createAccountRuns } from './account-run.ts';
import { createDaemonApi } from './create-daemon-api.ts';
import type { DaemonApi } from './daemon-api.ts';
import { createJournalWatch, type JournalWatch } from './journal-watch.ts';
import { createLeadership, type LeaderLock, type LeadershipOptions } from './leadership.ts';
import { nextTickMs } from './cron.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';
import type { Fleet } from './notify/commit-status.ts';
import type { Notifier } from './notify/notifier.ts';
import { startUp } from './start-up.ts';
import { createTerm, type Term } from './term.ts';

export interface DaemonOptions {
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
  readonly lock: LeaderLock & {
    /** The signals of a run, which also abort when the lease of this process has ended. */
    signals(of: RunSignals): RunSignals;
  };
  /** The clock of this machine, for the schedules. That of `deps` is the clock of the store. */
  readonly clock: Clock;
  readonly compareCommits: LeadershipOptions['compareCommits'];
  readonly onStoreClock: LeadershipOptions['onStoreClock'];
  readonly signals: RunSignals;
  readonly planPosted: (body: Uint8Array) => Promise<PostedOutcome>;
  /** Fetches the configuration; never rejects. */
  readonly fetchSource: () => Promise<void>;
}

export interface Daemon {
  readonly api: DaemonApi;
  /** The commit in use; null while another process leads, and while the files differ from the commit. */
  fleet(): Promise<Fleet | null>;
  /** Leads if no other process does, and otherwise when the one that does has stopped. */
  start(): Promise<void>;
  /** What keeps the daemon from doing its work, as messages; empty when nothing does. */
  problems(): readonly string[];
  /** Resolves when the runs have ended; a second call has no effect. The API answers meanwhile, and afterwards. */
  stop(): Promise<void>;
}

/** What exists while this process leads. */
interface Leading {
  readonly term: Term;
  readonly watch: JournalWatch;
  background: Promise<void>;
}

/** Makes a daemon that does nothing before `start`. */
export function createDaemon(options: DaemonOptions): Daemon {
  const { registry, notifier, log, metrics, signals, lock, clock } = options;
  let leading: Leading | null = null;
  let isStarted = false;
  let stopping: Promise<unknown> | null = null;

  const leadership = createLeadership({
    ...options,
    newEpoch: options.deps.newRunId,
    readCommit: () => registry.commit(),
    onChange: (isLeading) => metrics.leads(isLeading),
    onLead: beginTerm,
    onEnd: endTerm,
  });
  const runs = createAccountRuns({ ...options, leadership });

  async function beginTerm(epoch: string, isStart: boolean): Promise<void> {
    const term = createTerm({
      epoch,
      clock,
      log,
      signals: () => lock.signals(signals),
      addressOf: (account) => registry.addressOf(account),
      addressCount: () => registry.addressCount(),
      maxRuns: () => registry.service().daemon.maxRuns,
      onSkipped(account) {
        metrics.skippedTick(account);
        log.warn({ event: 'tick_skipped', account }, 'the account still runs, so this tick is skipped');
      },
    });
    const watch = createJournalWatch({ ...options, term });
    const begun: Leading = { term, watch, background: Promise.resolve() };
    leading = begun;
    applyConfiguration();
    const { sha256 } = options.deps;
    ({ background: begun.background } = await startUp({ ...options, term, isStart, sha256 }));
    term.start((due) => runs.run(due));
    watch.start();
    notifier.start();
  }

  async function endTerm(): Promise<void> {
    const ended = leading;
    if (ended === null) return;
    await Promise.all([ended.term.stop(), ended.watch.stop(), ended.background]);
    // The next leader sends what is open, so nothing may be under way here.
    await notifier.stop();
    leading = null;
  }

  /** The schedules while this process does not lead, for the pages: when the leader runs an account next. */
  function followedRunMs(account: string): number | null {
    const settings = registry.account(account)?.settings ?? null;
    return settings === null ? null : nextTickMs(settings.schedule, settings.timezone);
  }

  function applyConfiguration(): void {
    const { term } = leading ?? {};
    term?.update(registry.schedules());
    notifier.update(registry.service().notify);
    metrics.schedules(
      registry.accounts().map(({ name }) => ({
        account: name,
        nextRunMs: () => leading?.term.nextRunMs(name) ?? null,
        longestGapMs: term?.longestGapMs(name) ?? null,
      })),
    );
  }

  const api = createDaemonApi({
    ...options,
    runs,
    leadership,
    schedule: {
      activity: (account) =>
        leading?.term.activity(account) ?? { ...IDLE, nextRunMs: followedRunMs(account) },
      active: () => leading?.term.active() ?? null,
    },
    isStopped: () => stopping !== null,
    onRequest: () => leading?.watch.lookNow(),
  });
  registry.onChange(applyConfiguration);
  applyConfiguration();

  return {
    api,
    async fleet() {
      if (leading === null) return null;
      const commit = await registry.commit();
      if (commit === null || commit.dirty || !(await leadership.mayRun(commit))) return null;
      const facts = await api.accountFacts();
      return {
        commit: commit.sha,
        accounts: facts.filter(({ pause }) => pause === null).map(({ name }) => name),
      };
    },
    async start() {
      isStarted = true;
      metrics.leads(false);
      leadership.start();
    },
    problems() {
      if (api.isStopping()) return ['the daemon is stopping'];
      if (!isStarted) return ['the daemon is starting'];
      if (registry.accounts().length > 0) return [];
      // This can be read without a token, so it does not quote the files.
      return registry.serviceErrors().length > 0
        ? ['the configuration is not loaded, because it is invalid: see `config_invalid` in the log']
        : ['no account is configured'];
    },
    async stop() {
      registry.close();
      await (stopping ??= leadership.stop());
    },
  };
}

const IDLE = { activity: 'idle', nextRunMs: null } as const;
