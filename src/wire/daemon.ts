// The composition root of the daemon: joins its rooms, starts them in order and unwinds them in the reverse order.
import { setMaxListeners } from 'node:events';
import path from 'node:path';
import { pino } from 'pino';
import type { Logger } from 'pino';
import type { RetryAfterOptions, Session } from '../cli/environment.ts';
import type { RunSignals } from '../core/ports.ts';
import type { ServiceSettings } from '../core/settings.ts';
import { exitNow } from '../platform/regular-file.ts';
import type { Log } from '../daemon/log.ts';
import { createLogSink, type LogSink, openWithoutBlocking } from '../daemon/log-sink.ts';
import { createMetrics } from '../daemon/metrics.ts';
import { createSystemd } from '../daemon/systemd.ts';
import { inVisibleJson, visibleData } from '../report/escape-invisible.ts';
import { openHttp, readTokens } from '../daemon/http/listen.ts';
import type { Releasers } from './open-daemon.ts';
import { openDaemon } from './open-daemon.ts';
import { startStoreCheck } from '../daemon/store-check.ts';
import { openSource, readBootstrap } from './source.ts';

/** Files are looked at this often at least: not every file system tells of changes. */
const READ_EVERY_MS = 60_000;
/** How much longer than the grace a stop may take, to journal what came of it. */
const LAST_STEPS_MS = 5000;

/** How long the end waits for the reader of the log; a stalled one must not prevent it. */
const LAST_LOG_MS = 2000;

const PRUNE_EVERY_MS = 3_600_000;

/** The store is checked before anything listens, unless it is large: then probes are answered meanwhile. */
const QUICK_CHECK_MS = 2000;
/** A larger store, or one on a slow disk, is checked beside the runs. */
const CHECK_MS = 30_000;

/** Runs the daemon until SIGTERM or SIGINT. Resolves with its exit status. */
export async function serve(
  version: string,
  configFile: string,
  { ignoreRetryAfter = false }: RetryAfterOptions = {},
): Promise<number> {
  const signals = createSignals();
  const bootstrap = await readBootstrap(configFile);
  const tokens = await readTokens(bootstrap.service);
  const { log, sink } = await createLog(bootstrap.service);
  const releasers: Releasers = [];
  const { store } = bootstrap.service;
  log.info(
    { event: 'starting', version, pid: process.pid, config: path.resolve(configFile), store },
    'rolecall starts',
  );
  try {
    const metrics = createMetrics(version, { droppedLogLines: () => sink.droppedTotal() });
    const source = await openSource(configFile, bootstrap, log, metrics);
    releasers.unshift(() => source.close());
    const opened = await openDaemon({
      version,
      configFile,
      source,
      log,
      metrics,
      signals,
      releasers,
      ignoreRetryAfter,
    });
    const { daemon, session, settings } = opened;
    const check = startStoreCheck((signal) => session.verifyStore(signal), signals.stop, log);
    let isChecked = await check.endsWithin(QUICK_CHECK_MS);
    const http = await openHttp(source.service, {
      tokens,
      daemon: daemon.api,
      metrics,
      log,
      notReady: async () => [
        ...(isChecked ? [] : ['the store is being checked for damage']),
        ...daemon.problems(),
        ...(await storeProblems(session.checkStore())),
      ],
    });
    releasers.unshift(() => http.close());
    const writing = tokens.some(({ role }) => role === 'operate');
    log.info({ event: 'listening', url: http.url, writing }, 'rolecall listens');

    if (!isChecked && !(await check.endsWithin(CHECK_MS))) {
      log.warn({ event: 'store_check_slow', waitedMs: CHECK_MS }, 'the store is still being checked');
    }
    isChecked = true;
    // Nothing is written before it is certain that this daemon can be looked at.
    if (!signals.stop.aborted) await opened.start();
    const systemd = createSystemd({ env: process.env, log, isAlive: () => daemon.isAlive() });
    const status = `listens at ${http.url}`;
    systemd.ready(status);
    signals.onHangup(async () => {
      log.info({ event: 'reloading' }, 'the configuration is read anew');
      systemd.reloading();
      await http.reloadTls();
      await source.refresh();
      await daemon.reload();
      systemd.ready(status);
    });
    releasers.unshift(repeat(READ_EVERY_MS, () => daemon.reload()));
    releasers.unshift(repeat(PRUNE_EVERY_MS, () => prune(session, settings().retention, log)));

    const signal = await signals.received;
    systemd.stopping();
    log.info({ event: 'stopping', signal }, 'rolecall stops: nothing new is started');
    const { shutdownGraceMs } = settings().daemon;
    setTimeout(() => signals.giveUp(), shutdownGraceMs).unref();
    setTimeout(() => forceExit(log), shutdownGraceMs + LAST_STEPS_MS).unref();
    return 0;
  } finally {
    // Also where it could not start: runs that are under way end soon.
    signals.stopNow();
    for (const release of releasers) await release();
    log.info({ event: 'stopped' }, 'rolecall has stopped');
    await sink.flush(LAST_LOG_MS);
  }
}

/** Something keeps the last steps from ending, as a store that another program keeps locked. The next run heals it. */
function forceExit(log: Log): void {
  log.error({ event: 'stop_forced' }, 'the daemon ends although not everything could be journaled');
  exitNow(0);
}

/** Does something again and again; resolves when it is to stop. */
function repeat(everyMs: number, work: () => Promise<void>): () => Promise<void> {
  const timer = setInterval(() => void work(), everyMs);
  return async () => clearInterval(timer);
}

async function prune(session: Session, retention: ServiceSettings['retention'], log: Log): Promise<void> {
  try {
    await session.prune(retention);
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'unknown';
    log.warn({ event: 'prune_failed', reason }, 'old runs could not be pruned');
  }
}

async function storeProblems(check: Promise<void>): Promise<string[]> {
  return await check.then(
    () => [],
    (error: unknown) => [error instanceof Error ? error.message : 'the store cannot be written'],
  );
}

interface DaemonSignals extends RunSignals {
  /** The name of the signal that asks the process to stop. */
  readonly received: Promise<string>;
  /** What SIGHUP does from now on; before that it does nothing. */
  onHangup(call: () => Promise<void>): void;
  stopNow(): void;
  /** Gives up what is in flight. */
  giveUp(): void;
}

function createSignals(): DaemonSignals {
  const stop = new AbortController();
  const kill = new AbortController();
  // As many wait at once as the service keeps waiting; each lets go of the signal when its wait ends.
  setMaxListeners(0, stop.signal, kill.signal);
  let hangup = async (): Promise<void> => undefined;
  process.on('SIGHUP', () => {
    if (!stop.signal.aborted) void hangup();
  });
  const received = new Promise<string>((resolve) => {
    for (const name of ['SIGTERM', 'SIGINT'] as const) {
      process.on(name, () => {
        if (stop.signal.aborted) kill.abort();
        stop.abort();
        resolve(name);
      });
    }
  });
  return {
    stop: stop.signal,
    kill: kill.signal,
    received,
    onHangup(call) {
      hangup = call;
    },
    stopNow: () => stop.abort(),
    giveUp: () => kill.abort(),
  };
}

async function createLog({ log }: ServiceSettings): Promise<{ log: Logger; sink: LogSink }> {
  const sink: LogSink = createLogSink(openWithoutBlocking(process.stderr), {
    onDropped: (lines) =>
      logger.warn(
        { event: 'log_dropped', lines },
        'log lines were dropped, because stderr was not read for a while',
      ),
  });
  const options = { level: log.level, base: null, timestamp: pino.stdTimeFunctions.isoTime };
  const logger = await createLogger();
  return { log: logger, sink };

  async function createLogger(): Promise<Logger> {
    if (log.format === 'json' || (log.format === 'auto' && !process.stderr.isTTY)) {
      return pino(options, { write: (line: string) => sink.write(inVisibleJson(line)) });
    }
    // In this thread: the transport of pino would write in a worker, whose end a stalled terminal could prevent.
    const { default: pretty } = await import('pino-pretty');
    const format = pretty.prettyFactory({});
    return pino(
      { ...options, formatters: { log: visibleData } },
      { write: (line: string) => sink.write(format(line)) },
    );
  }
}
