// Joins the rooms of the daemon, starts them in order, and closes them in the reverse order.
import path from 'node:path';
import { planPosted } from '../run/posted-plan.ts';
import { type CommandContext, linksOf, openSession, type Session } from './compose.ts';
import { createConfigurationSource, settledConfiguration } from '../config/configuration-source.ts';
import { resolveSecret } from '../config/secrets.ts';
import { storeName } from '../config/store-location.ts';
import { ConfigError, errorsOf } from '../core/errors.ts';
import type { Links } from '../core/settings.ts';
import { type AccountRegistry, createAccountRegistry } from '../daemon/account-registry.ts';
import { createDaemon } from '../daemon/daemon.ts';
import { type HttpToken, readTokens } from '../daemon/http/access.ts';
import { startHttp } from '../daemon/http/server.ts';
import { sessionKeyIn } from '../daemon/http/sign-in.tsx';
import { createMetrics } from '../daemon/metrics.ts';
import { createNotifier } from '../daemon/notify/notifier.ts';
import { type Log, openLog } from '../daemon/log.ts';
import { listenForSignals, type ProcessSignals } from '../daemon/process-signals.ts';
import { createHealth } from '../daemon/health.ts';
import { createCommitReader } from '../git/commit.ts';
import { systemClock } from '../system/clock.ts';
import { keepHeapSmall } from '../system/runtime.ts';
import { type Opened, openSource, type Source, watchFiles } from './daemon-source.ts';

/** The longest time between two readings of the files: not every file system reports changes. */
const RELOAD_MS = 60_000;
const PRUNE_MS = 900_000;
/** Each check of a file writes a page of it. A database is lost more often. */
const FILE_CHECK_MS = 60_000;
const DATABASE_CHECK_MS = 2000;
/** How long the end waits for the reader of the log. */
const FLUSH_MS = 2000;

interface Process extends CommandContext, Opened {
  readonly onListening: (url: string) => void;
  readonly tokens: readonly HttpToken[];
  readonly signals: ProcessSignals;
}

/** Runs the daemon until SIGTERM or SIGINT. `onListening` receives the address of the pages. Resolves with its exit status. */
export async function serve(
  context: CommandContext,
  onListening: (url: string) => void = () => undefined,
): Promise<number> {
  const { version, configFile } = context;
  const signals = listenForSignals();
  const own = createConfigurationSource(configFile, createCommitReader());
  const files = settledConfiguration(own, signals.stop);
  const { service, issues } = await files.read();
  if (service === undefined) throw new ConfigError(errorsOf(issues));
  const tokens = await readTokens(service, resolveSecret);
  const { log, close: closeLog } = openLog(service.log);
  const metrics = createMetrics(version);
  const closers: Opened['closers'] = [];
  const store = await storeName(service);
  const started = { version, pid: process.pid, config: path.resolve(configFile), store };
  log.info({ event: 'starting', ...started }, 'rolecall starts');
  try {
    await run({ ...context, onListening, service, files, tokens, signals, log, metrics, closers });
    return 0;
  } finally {
    // Also after a failed start: the runs in progress end soon.
    signals.stopNow();
    for (const close of closers.toReversed()) await close();
    log.info({ event: 'stopped' }, 'rolecall has stopped');
    await closeLog(FLUSH_MS);
  }
}

async function run(own: Process): Promise<void> {
  const { tokens, signals, log, metrics, closers } = own;
  const source = await openSource(own);
  const registry = createAccountRegistry({
    service: source.service,
    configuration: {
      ...source.configuration,
      sourceProblem: () => source.git.problem() ?? source.configuration.problem(),
    },
    log,
    metrics,
  });
  await registry.reload();
  // Not earlier, because reading many accounts would take longer.
  keepHeapSmall(false);
  const session = await openDaemonSession(own, source);
  const health = createHealth({
    check: () => session.store.check(),
    everyMs: 'file' in source.service.store ? FILE_CHECK_MS : DATABASE_CHECK_MS,
    clock: systemClock,
    log,
    onChange: (isAvailable) => metrics.storeAvailable(isAvailable),
    problems: () => daemon.problems(),
    signals,
  });
  closers.push(() => health.stop());
  const { commitsAt } = await linksOf(source.service);
  const daemon = openDaemon(own, source, registry, { session, commitsAt });
  health.start();
  const http = await startHttp({
    ...source.service.http,
    tokens,
    commitsAt,
    sessionKey: sessionKeyIn(session.store.settings),
    daemon: daemon.api,
    metrics,
    log,
    notReady: () => health.probe(),
    outage: () => health.outage(),
  });
  // The last function is called first: the port stays open until the runs have ended and the probes have noticed.
  closers.push(
    () => http.close(),
    () => health.drained(),
    () => daemon.stop(),
  );
  const operators = source.service.http.identity?.operators ?? [];
  const writing = operators.length > 0 || tokens.some(({ role }) => role === 'operate');
  log.info({ event: 'listening', url: http.url, writing }, 'rolecall listens');

  // Nothing is written before the daemon can be watched over HTTP.
  if (!signals.stop.aborted) daemon.start();
  own.onListening(http.url);
  watchFiles(own, source, registry);
  signals.onHangup(async () => {
    log.info({ event: 'reloading' }, 'the configuration is read again');
    await source.git.refresh();
    await registry.reload();
  });
  closers.push(
    repeat(RELOAD_MS, async () => {
      await registry.reload();
      const problem = source.configuration.problem();
      if (problem !== null) log.warn({ event: 'config_unsettled' }, problem);
    }),
    repeat(PRUNE_MS, async () => {
      const isFirst = () => session.store.settings.claimTime('pruned_at', PRUNE_MS / 2, systemClock.nowMs());
      await pruneStore(async () => {
        if (await isFirst()) await session.prune(registry.service().retentionMs);
      }, log);
    }),
  );

  const signal = await signals.received;
  log.info({ event: 'stopping', signal }, 'rolecall stops: no new run starts');
  signals.limitStop(log);
}

async function openDaemonSession(own: Process, { configuration, service }: Source): Promise<Session> {
  const { metrics, closers } = own;
  const session = await openSession(own, await configuration.read(), service, {
    observer: (account) => (attempt) => metrics.request(account, attempt),
    compareCommits: (a, b) => configuration.compareCommits(a, b),
    // A change binds a run that is under way at once: its deletes stop.
    readFor: (account) => configuration.latestFor(account),
    isPatient: true,
  });
  closers.push(() => session.close());
  return session;
}

function openDaemon(
  { version, signals, log, metrics }: Process,
  { configuration, service, git }: Source,
  registry: AccountRegistry,
  { session, commitsAt }: Pick<Links, 'commitsAt'> & { session: Session },
) {
  const { applying, store } = session;
  const { reader, operator, outbox } = store;
  const { clock } = applying;
  const notifier = createNotifier({
    targets: service.notify,
    commitsAt,
    version,
    outbox,
    clock,
    log,
    resolveSecret,
    fleet: () => daemon.fleet(),
    compareCommits: (a, b) => configuration.compareCommits(a, b),
    onResult({ format, result }) {
      if (result !== 'retry') metrics.notification(format, result);
    },
  });
  const daemon = createDaemon({
    version,
    registry,
    notifier,
    log,
    metrics,
    deps: applying,
    api: service.api,
    reader,
    operator,
    signals,
    fetchSource: () => git.refresh(),
    planPosted: async (posted) => {
      const { accounts } = await configuration.read();
      return await planPosted(posted, {
        deps: {
          ...applying,
          journal: { ...applying.journal, claimant: (claim) => reader.claimant(claim) },
        },
        signals,
        api: service.api,
        accounts: new Map(accounts.map(({ name, settings }) => [name, settings])),
      });
    },
    due: store.due,
    locks: session.lock,
    clock,
    onStoreClock: session.setStoreClock,
  });
  return daemon;
}

/**
 * Starts `work` each time after `intervalMs`, unless it still runs. `work` never rejects. Returns the function that stops
 * this and resolves when `work` does not run.
 */
function repeat(intervalMs: number, work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | null = null;
  const timer = setInterval(() => {
    running ??= work().finally(() => (running = null));
  }, intervalMs);
  return async () => {
    clearInterval(timer);
    await running;
  };
}

/** Deletes old runs and snapshots, unless another process has just done it. A failure is logged, and the next call tries again. */
async function pruneStore(prune: () => Promise<void>, log: Log): Promise<void> {
  try {
    await prune();
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'unknown';
    log.warn({ event: 'prune_failed', reason }, 'old runs could not be pruned');
  }
}
