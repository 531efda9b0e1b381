// The composition root of the daemon: joins its rooms, starts them in order and unwinds them in the reverse order.
import path from 'node:path';
import { pino } from 'pino';
import type { Logger } from 'pino';
import { UsageError, ConfigError } from './core/errors.ts';
import { DAY_MS } from './core/history.ts';
import type { RunSignals } from './core/ports.ts';
import type { Secret } from './core/secret.ts';
import type { ServiceSettings } from './core/settings.ts';
import { loadConfiguration } from './config/load-configuration.ts';
import { resolveSecret } from './config/secrets.ts';
import { createDaemon } from './daemon/daemon.ts';
import type { HttpOptions, HttpServer } from './daemon/http/server.ts';
import { startHttp } from './daemon/http/server.ts';
import { createMetrics } from './daemon/metrics.ts';
import { createNotifier } from './daemon/notify/notifier.ts';
import { createSystemd } from './daemon/systemd.ts';
import { createWatch } from './daemon/watch.ts';
import { planPosted } from './wire-preview.ts';
import { openSession } from './wire-session.ts';
import { openSource } from './wire-source.ts';

const PRUNE_EVERY_MS = 3_600_000;

/** A token that is shorter can be guessed by trying. */
const SHORTEST_TOKEN = 16;

/** Runs the daemon until SIGTERM or SIGINT. Resolves with its exit status. */
export async function serve(version: string, configFile: string): Promise<number> {
  const bootstrap = await loadConfiguration(configFile);
  const service = soundService(bootstrap);
  const httpToken = await tokenOf(service);
  const log = createLog(service);
  const metrics = createMetrics(version);
  const signals = createSignals();
  const releasers: (() => Promise<void>)[] = [];
  log.info(
    { event: 'starting', version, pid: process.pid, config: path.resolve(configFile), store: service.store },
    'rolecall starts',
  );
  try {
    const source = await openSource(configFile, service, log, metrics);
    releasers.unshift(() => source.close());
    const session = await openSession(version, bootstrap, service, {
      observer: (account) => ({
        request: (event) => metrics.request(account, event),
        retry: () => metrics.retry(account),
      }),
      compareCommits: (a, b) => source.configuration.compareCommits(a, b),
    });
    releasers.unshift(() => session.close());
    const { clock } = session.applying;
    const notifier = createNotifier({
      targets: service.notify,
      version,
      outbox: session.outbox,
      clock,
      log,
      resolveSecret,
      onResult({ format, result }) {
        if (result !== 'retry') metrics.notification(format, result);
      },
    });
    let current = service;
    const watch = createWatch(() => void daemon.reload(), log);
    const daemon = await createDaemon({
      version,
      service,
      configuration: source.reader,
      log,
      metrics,
      deps: session.applying,
      reader: session.reader,
      desk: session.desk,
      signals,
      onConfigured(settings, accounts, files) {
        current = settings;
        session.setConfigured(accounts);
        notifier.update(settings.notify);
        watch.follow([path.resolve(configFile), ...files]);
      },
      onRunEnded: (detail, context) => notifier.runEnded(detail, context),
      planPosted: (posted) =>
        planPosted(posted, {
          deps: { ...session.applying, claimant: (claim) => session.reader.claimant(claim) },
          signals,
          own: async () => {
            const { accounts } = await source.configuration.read();
            return { accounts, api: service.api };
          },
        }),
      undelivered: () => session.outbox.undeliveredCount(clock.nowMs() - DAY_MS),
    });
    releasers.unshift(() => watch.close());
    // Stops after the daemon, so that notices of the last runs still leave.
    releasers.unshift(() => notifier.stop());
    releasers.unshift(() => daemon.stop());
    source.onUpdate(() => void daemon.reload());

    warnOfShortToken(httpToken, log);
    const http = await listen(service, {
      token: httpToken,
      panel: daemon.panel,
      metrics,
      log,
      notReady: async () => [...daemon.problems(), ...(await storeProblems(session.checkStore()))],
    });
    releasers.unshift(() => http.close());
    log.info({ event: 'listening', url: http.url, writing: httpToken !== null }, 'rolecall listens');

    // Nothing is written before it is certain that this daemon can be looked at.
    notifier.start();
    await daemon.start();
    const systemd = createSystemd({ env: process.env, log, isAlive: () => daemon.isAlive() });
    systemd.ready(`listens at ${http.url}`);
    const pruning = setInterval(() => {
      session.prune(current.retention).catch((error: unknown) => {
        const reason = error instanceof Error ? error.message : 'unknown';
        log.warn({ event: 'prune_failed', reason }, 'old runs could not be pruned');
      });
    }, PRUNE_EVERY_MS);
    process.on('SIGHUP', () => {
      log.info({ event: 'reloading' }, 'the configuration is read anew');
      systemd.reloading();
      void source
        .refresh()
        .then(() => daemon.reload())
        .finally(() => systemd.ready(`listens at ${http.url}`));
    });

    const signal = await signals.received;
    clearInterval(pruning);
    systemd.stopping();
    log.info({ event: 'stopping', signal }, 'rolecall stops: nothing new is started');
    setTimeout(() => signals.giveUp(), current.daemon.shutdownGraceMs).unref();
    return 0;
  } finally {
    for (const release of releasers) await release();
    log.info({ event: 'stopped' }, 'rolecall has stopped');
  }
}

function soundService({ service, issues }: Awaited<ReturnType<typeof loadConfiguration>>): ServiceSettings {
  if (service !== undefined) return service;
  throw new ConfigError(issues.filter(({ severity }) => severity === 'error'));
}

async function tokenOf({ http }: ServiceSettings): Promise<Secret | null> {
  return http.token === undefined ? null : await resolveSecret(http.token, 'http.token');
}

function warnOfShortToken(token: Secret | null, log: Logger): void {
  if (token === null || token.reveal().length >= SHORTEST_TOKEN) return;
  log.warn({ event: 'short_token', atLeast: SHORTEST_TOKEN }, 'http.token is short enough to be guessed');
}

async function storeProblems(check: Promise<void>): Promise<string[]> {
  return await check.then(
    () => [],
    (error: unknown) => [error instanceof Error ? error.message : 'the store cannot be written'],
  );
}

async function listen(
  { http }: ServiceSettings,
  options: Omit<HttpOptions, 'host' | 'port'>,
): Promise<HttpServer> {
  try {
    return await startHttp({ ...options, host: http.host, port: http.port });
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    throw new UsageError(
      `cannot listen on ${http.host}:${http.port} (${reason}); choose another http.listen`,
    );
  }
}

function createSignals(): RunSignals & { readonly received: Promise<string>; giveUp(): void } {
  const stop = new AbortController();
  const kill = new AbortController();
  const received = new Promise<string>((resolve) => {
    for (const name of ['SIGTERM', 'SIGINT'] as const) {
      process.on(name, () => {
        if (stop.signal.aborted) kill.abort();
        stop.abort();
        resolve(name);
      });
    }
  });
  return { stop: stop.signal, kill: kill.signal, received, giveUp: () => kill.abort() };
}

function createLog({ log }: ServiceSettings): Logger {
  const pretty = log.format === 'pretty' || (log.format === 'auto' && process.stderr.isTTY);
  const options = { level: log.level, base: null, timestamp: pino.stdTimeFunctions.isoTime };
  return pretty
    ? pino({ ...options, transport: { target: 'pino-pretty', options: { destination: 2 } } })
    : pino(options, pino.destination({ dest: 2, sync: true }));
}
