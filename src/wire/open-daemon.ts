// The daemon's rooms, joined: what it reads from, writes to, tells and watches. Each is released by who opened it.
import path from 'node:path';
import { DAY_MS } from '../core/history.ts';
import type { RunSignals } from '../core/ports.ts';
import type { ServiceSettings } from '../core/settings.ts';
import { LARGE_FROM } from '../core/settings.ts';
import { resolveSecret } from '../config/secrets.ts';
import type { Daemon } from '../daemon/daemon.ts';
import { createDaemon } from '../daemon/daemon.ts';
import type { Log } from '../daemon/log.ts';
import type { Metrics } from '../daemon/metrics.ts';
import { createNotifier } from '../daemon/notify/notifier.ts';
import type { RequestObserver } from '../service/requests.ts';
import { createWatch } from '../daemon/watch.ts';
import { createLargeRuns } from '../workers/large-runs.ts';
import { planPosted } from '../app/posted-plan.ts';
import { createStoredRuns } from '../workers/stored-runs.ts';
import type { OpenSession } from './session.ts';
import { openSession } from './session.ts';
import { realPathOf } from '../platform/regular-file.ts';
import { resolveToken } from '../config/secrets.ts';
import { trustPosted } from '../config/trust.ts';
import type { OpenSource } from './source.ts';

/** What to let go of, the latest first. */
export type Releasers = (() => Promise<void>)[];

export interface OpenDaemonOptions {
  readonly version: string;
  readonly configFile: string;
  readonly source: OpenSource;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly signals: RunSignals;
  readonly releasers: Releasers;
  readonly ignoreRetryAfter: boolean;
}

export interface OpenedDaemon {
  readonly daemon: Daemon;
  readonly session: OpenSession;
  /** The service's settings as they were read last. */
  readonly settings: () => ServiceSettings;
  /** Starts to run, to tell and to watch. */
  start(): Promise<void>;
}

/** Joins the rooms; nothing runs before `start`. What is opened is among the releasers, also when a later step fails. */
export async function openDaemon(options: OpenDaemonOptions): Promise<OpenedDaemon> {
  const { version, configFile, source, log, metrics, signals, releasers } = options;
  const { service } = source;
  let settings = service;
  const { ignoreRetryAfter } = options;
  const observer = (account: string): RequestObserver => ({
    request: (event) => metrics.request(account, event),
    retry: () => metrics.retry(account),
  });
  const compareCommits = (a: string, b: string) => source.configuration.compareCommits(a, b);
  const session = await openSession(version, await source.configuration.read(), service, {
    observer,
    compareCommits,
    ignoreRetryAfter,
    largeFrom: LARGE_FROM,
  });
  releasers.unshift(() => session.close());
  const { clock, journal } = session.applying;
  const large = createLargeRuns({
    version,
    storeFile: service.store,
    ignoreRetryAfter,
    async token(settings, signals) {
      // Of the daemon's own accounts, no two have one token, wherever they run.
      await session.applying.service.tokenKey(settings, signals);
      return await resolveToken(settings);
    },
    observer,
    compareCommits,
    journal,
    atHost: (baseUrl, call) => session.atHost(baseUrl, call),
  });
  const storedRuns = createStoredRuns({ reader: session.reader, storeFile: service.store, signals, log });
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
  // Stops after the daemon, so that notices of the last runs still leave.
  releasers.unshift(() => notifier.stop());
  const watch = createWatch(() => void daemon.reload(), log);
  releasers.unshift(() => watch.close());
  let files: readonly string[] = [];
  let isWatching = false;

  function follow(): void {
    if (isWatching) watch.follow([path.resolve(configFile), ...files]);
  }

  const daemon = await createDaemon({
    version,
    service,
    configuration: source.reader,
    log,
    metrics,
    deps: session.applying,
    large,
    reader: session.reader,
    operator: session.operator,
    signals,
    onConfigured(now, accounts, accountFiles) {
      settings = now;
      files = accountFiles;
      session.setConfigured(accounts);
      notifier.update(now.notify);
      follow();
    },
    ...storedRuns,
    onRunEnded: (outcome, mode) => notifier.runEnded(outcome, mode),
    planPosted: (body) =>
      planPosted(body, {
        deps: { ...session.applying, claimant: (claim) => session.reader.claimant(claim) },
        signals,
        previewLarge: (request) => large.preview(request),
        async own() {
          const { accounts, trust } = await source.configuration.read();
          return {
            accounts,
            api: service.api,
            trustPosted: (settings) => trustPosted(settings, trust, realPathOf),
          };
        },
      }),
    undelivered: () => session.outbox.undeliveredCount(clock.nowMs() - DAY_MS),
  });
  releasers.unshift(() => daemon.stop());

  return {
    daemon,
    session,
    settings: () => settings,
    async start() {
      notifier.start();
      await daemon.start();
      isWatching = true;
      follow();
      source.onUpdate(() => void daemon.reload());
    },
  };
}
