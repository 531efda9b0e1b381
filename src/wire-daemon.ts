// The composition root of the daemon: joins its rooms, starts them in order and unwinds them in the reverse order.
import { pino } from 'pino';
import type { Logger } from 'pino';
import { UsageError, ConfigError } from './core/errors.ts';
import type { JournalReader, RunSignals } from './core/ports.ts';
import type { ServiceSettings } from './core/settings.ts';
import { loadConfiguration } from './config/load-configuration.ts';
import { resolveSecret } from './config/secrets.ts';
import { startDaemon } from './daemon/daemon.ts';
import { startHttp } from './daemon/http/server.ts';
import { createMetrics } from './daemon/metrics.ts';
import type { Panel } from './daemon/panel.ts';
import { commitOf, openSession } from './wire-session.ts';

/** Runs the daemon until SIGTERM or SIGINT. Resolves with its exit status. */
export async function serve(version: string, configFile: string): Promise<number> {
  const configuration = await loadConfiguration(configFile);
  const { service } = configuration;
  if (service === undefined) {
    throw new ConfigError(configuration.issues.filter(({ severity }) => severity === 'error'));
  }
  const log = createLog(service);
  const metrics = createMetrics(version);
  const signals = createSignals();
  const session = await openSession(version, configuration, service, (account) => ({
    request: (event) => metrics.request(account, event),
    retry: () => metrics.retry(account),
  }));
  const releasers: (() => Promise<void>)[] = [() => session.close()];
  try {
    const accountNames = configuration.accounts.map(({ name }) => name);
    log.info({ event: 'starting', version, store: service.store, accounts: accountNames }, 'rolecall starts');
    const daemon = await startDaemon({
      maxRuns: service.daemon.maxRuns,
      runOnStart: service.daemon.runOnStart,
      log,
      metrics,
      deps: session.applying,
      reader: session.reader,
      signals,
      async readAccounts() {
        const { service: sound, accounts, issues } = await loadConfiguration(configFile);
        return sound === undefined ? { broken: issues } : { accounts };
      },
      async requestFor(settings, trigger) {
        const loaded = await loadConfiguration(configFile);
        const current = loaded.service ?? service;
        const configured = new Set(loaded.accounts.map(({ name }) => name));
        session.setConfigured(configured);
        return {
          settings,
          api: current.api,
          commit: await commitOf(loaded, current),
          configured,
          trigger,
          // A new object for each run: what a run was told by the service (a refused token) binds no other run.
          signals: { stop: signals.stop, kill: signals.kill },
        };
      },
    });
    releasers.unshift(() => daemon.stop());
    const http = await listen(service, {
      metrics,
      log,
      panel: journalPanel(version, session.reader),
      notReady: async () => [
        ...(daemon.isReady() ? [] : ['the scheduler is not running']),
        ...(await session.checkStore().then(
          () => [],
          (error: unknown) => [error instanceof Error ? error.message : 'the store cannot be written'],
        )),
      ],
    });
    releasers.unshift(() => http.close());
    log.info({ event: 'listening', url: http.url }, 'rolecall listens');
    const pruning = setInterval(() => void session.prune().catch(() => undefined), 3_600_000);
    process.on('SIGHUP', () => void daemon.reload());

    const signal = await signals.received;
    clearInterval(pruning);
    log.info({ event: 'stopping', signal }, 'rolecall stops: nothing new is started');
    setTimeout(() => signals.giveUp(), service.daemon.shutdownGraceMs).unref();
    return 0;
  } finally {
    for (const release of releasers) await release();
    log.info({ event: 'stopped' }, 'rolecall has stopped');
  }
}

async function listen(
  { http }: ServiceSettings,
  options: Pick<Parameters<typeof startHttp>[0], 'metrics' | 'notReady' | 'log' | 'panel'>,
): ReturnType<typeof startHttp> {
  const token = http.token === undefined ? null : await resolveSecret(http.token, 'http.token');
  try {
    return await startHttp({
      ...options,
      host: http.host,
      port: http.port,
      token,
    });
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    throw new UsageError(
      `cannot listen on ${http.host}:${http.port} (${reason}); choose another http.listen`,
    );
  }
}

/** What the journal alone can tell; no account is known by it, so none can be told to do anything. */
function journalPanel(version: string, reader: JournalReader): Panel {
  const startedAt = new Date().toISOString();
  return {
    overview: async () => ({ version, startedAt, issues: [], commit: null, undelivered: 0 }),
    accounts: async () => [],
    account: async () => null,
    runs: (filter) => reader.runs(filter),
    run: (id) => reader.run(id),
    sync: () => 'unknown',
    approve: async () => ({ type: 'unknown' }),
    setPaused: async () => false,
    plan: async () => [],
  };
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
