// The Prometheus metrics of the daemon. No label contains the name of an entry.
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { type Kind, ACTIONS, KINDS } from '../core/catalog.ts';
import type { AccountRecord } from '../core/ports/journal-reader.ts';
import type { RunOutcome } from '../core/run-outcome.ts';

export interface Metrics {
  /** The results of a run of an earlier process: sets the gauges, unless a run of this process has set or removed them. */
  found(outcome: RunOutcome, entryCounts: ReadonlyMap<Kind, number>): void;
  /** The results of a run that has ended. */
  run(outcome: RunOutcome, entryCounts: ReadonlyMap<Kind, number>, durationSeconds: number): void;
  /** A run that could not even be journaled. */
  runFailed(account: string): void;
  request(account: string, event: { method: string; status: number | 'error'; durationMs: number }): void;
  retry(account: string): void;
  configValid(account: string, valid: boolean): void;
  /** Whether the service file is valid. */
  configurationValid(valid: boolean): void;
  /** Whether the newest commit of the daemon's own checkout was refused. */
  sourceRefused(refused: boolean): void;
  /** Whether this process can use the store. */
  storeAvailable(isAvailable: boolean): void;
  /** The git source was fetched successfully just now. */
  sourceFetched(): void;
  /** Whether the account is paused, and the digest of the plan that waits for approval. */
  account(account: string, state: { readonly isPaused: boolean; readonly pending: string | null }): void;
  /** What the store has of an account. Drops the results of a run of this process when another one has run it since. */
  known(record: AccountRecord): void;
  /** Replaces the schedules; the next run times are read at each scrape. */
  schedules(schedules: readonly ScheduleGauge[]): void;
  /** A connection was closed because there were too many. */
  connectionDropped(): void;
  /** A request had a wrong token. */
  wrongToken(): void;
  notification(target: string, result: 'delivered' | 'undelivered'): void;
  skippedTick(account: string): void;
  /** Drops the metrics of an account that was removed from the configuration. */
  forget(account: string): void;
  contentType: string;
  /** The text of a scrape. */
  text(): Promise<string>;
}

/** An account's schedule, for the gauges. Times are epoch milliseconds. */
export interface ScheduleGauge {
  readonly account: string;
  readonly nextRunMs: () => number | null;
  readonly longestGapMs: number | null;
}

/**
 * Upper bounds. The library keeps an object with the bounds as keys for each account. V8 stores it as an array up to the
 * largest bound (12 KB), unless a gap between two bounds is above 1,024. So keep 3600.
 */
const RUN_SECONDS = [0.1, 0.3, 1, 3, 10, 30, 100, 300, 1000, 3600];

export function createMetrics(version: string): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry, prefix: 'rolecall_' });
  const counter = <L extends string>(name: string, help: string, labelNames: L[]): Counter<L> =>
    new Counter({ name: `rolecall_${name}`, help, labelNames, registers });
  const gauge = <L extends string>(name: string, help: string, labelNames: L[]): Gauge<L> =>
    new Gauge({ name: `rolecall_${name}`, help, labelNames, registers });

  const runs = counter('runs_total', 'Runs by status.', ['account', 'status']);
  const durations = new Histogram({
    name: 'rolecall_run_duration_seconds',
    help: 'Duration of runs.',
    labelNames: ['account'],
    buckets: RUN_SECONDS,
    registers,
  });
  const success = gauge(
    'last_success_timestamp_seconds',
    'When a run last ended converged, held or, in a mode that does not write, planned.',
    ['account'],
  );
  const drift = gauge('drift', 'Operations that a plan would apply now.', ['account', 'kind', 'action']);
  const held = gauge('held', 'Changes that are held, by each rule that holds them.', [
    'account',
    'kind',
    'rule',
  ]);
  const entries = gauge('entries', 'Entries that the service listed in the last run.', ['account', 'kind']);
  const operations = counter('operations_total', 'Operations by result.', [
    'account',
    'kind',
    'action',
    'result',
  ]);
  const requests = counter('api_requests_total', 'Requests to the service.', ['account', 'method', 'status']);
  const requestDuration = new Histogram({
    name: 'rolecall_api_request_duration_seconds',
    help: 'Duration of requests to the service.',
    labelNames: ['method'],
    buckets: [0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30],
    registers,
  });
  const retries = counter('api_retries_total', 'Requests that were sent again.', ['account']);
  const valid = gauge('config_valid', 'Whether the account’s configuration is valid.', ['account']);
  const skipped = counter('skipped_ticks_total', 'Ticks that found the account still running.', ['account']);
  const configuration = gauge('configuration_valid', 'Whether the service file is valid.', []);
  const refused = gauge('source_refused', 'Whether the newest commit of the git source was refused.', []);
  const fetched = gauge(
    'source_fetch_timestamp_seconds',
    'When the git source was last fetched successfully.',
    [],
  );
  const storeAvailable = gauge('store_available', 'Whether this process can use the store.', []);
  storeAvailable.set(1);
  const paused = gauge(
    'paused',
    'Whether scheduled runs of the account are stopped. Account *: whether all accounts, or their deletes, are paused.',
    ['account'],
  );
  const pending = gauge('approval_pending', 'A plan that waits for approval.', ['account', 'digest']);
  const notifications = counter('notifications_total', 'Notifications by result.', ['target', 'result']);
  const wrongTokens = counter('http_wrong_tokens_total', 'HTTP requests with a wrong token.', []);
  const droppedConnections = counter(
    'http_connections_dropped_total',
    'Connections that were closed, because there were too many.',
    [],
  );
  let gauges: readonly ScheduleGauge[] = [];
  const interval = gauge(
    'schedule_interval_seconds',
    'The longest time between two of the account’s next ticks.',
    ['account'],
  );
  new Gauge({
    name: 'rolecall_next_run_timestamp_seconds',
    help: 'When the account runs next.',
    labelNames: ['account'],
    registers,
    collect() {
      this.reset();
      for (const { account, nextRunMs } of gauges) {
        const ms = nextRunMs();
        if (ms !== null) this.set({ account }, ms / 1000);
      }
    },
  });
  const pendingDigests = new Map<string, string>();
  gauge('build_info', 'The version that runs.', ['version']).set({ version }, 1);

  function forgetGauges(account: string): void {
    for (const forgetOne of shown.get(account)?.forget ?? []) forgetOne();
    shown.delete(account);
  }
  /** The run of each account whose results the gauges show. */
  const shown = new Map<string, { readonly runId: string; readonly forget: readonly (() => void)[] }>();

  /** Otherwise the counters of a removed account would remain. */
  async function forgetCounters(account: string): Promise<void> {
    for (const metric of [runs, operations, requests, retries, skipped]) {
      for (const { labels } of (await metric.get()).values) {
        if (labels.account === account) metric.remove({ ...labels });
      }
    }
    durations.remove({ account });
  }

  function showFound({ run, plan }: RunOutcome, entryCounts: ReadonlyMap<Kind, number>): void {
    const { account, id: runId } = run;
    if (plan === null) return;
    forgetGauges(account);
    const forget: (() => void)[] = [];
    for (const kind of KINDS) {
      entries.set({ account, kind }, entryCounts.get(kind) ?? 0);
      forget.push(() => entries.remove({ account, kind }));
      for (const action of ACTIONS) {
        const found = plan.drift.find((each) => each.kind === kind && each.action === action);
        drift.set({ account, kind, action }, found?.count ?? 0);
        forget.push(() => drift.remove({ account, kind, action }));
      }
    }
    for (const { kind, rule, count } of plan.held) {
      held.set({ account, kind, rule }, count);
      forget.push(() => held.remove({ account, kind, rule }));
    }
    shown.set(account, { runId, forget });
  }

  function showAccount(
    account: string,
    state: { readonly isPaused: boolean; readonly pending: string | null },
  ): void {
    paused.set({ account }, state.isPaused ? 1 : 0);
    const before = pendingDigests.get(account);
    if (before !== undefined && before !== state.pending) {
      pending.remove({ account, digest: before });
      pendingDigests.delete(account);
    }
    if (state.pending === null) return;
    pending.set({ account, digest: state.pending }, 1);
    pendingDigests.set(account, state.pending);
  }

  return {
    found(outcome, entryCounts) {
      if (!shown.has(outcome.run.account)) showFound(outcome, entryCounts);
    },
    run(outcome, entryCounts, durationSeconds) {
      const { run } = outcome;
      const { account, status } = run;
      runs.inc({ account, status });
      durations.observe({ account }, durationSeconds);
      if (status === 'converged' || status === 'held' || status === 'planned') {
        success.set({ account }, Date.parse(run.finishedAt ?? run.startedAt) / 1000);
      }
      for (const { kind, action, status: result, count } of outcome.operations) {
        if (result !== 'held' && result !== 'pending')
          operations.inc({ account, kind, action, result }, count);
      }
      showFound(outcome, entryCounts);
    },
    runFailed: (account) => runs.inc({ account, status: 'failed' }),
    request(account, { method, status, durationMs }) {
      requests.inc({ account, method, status: String(status) });
      requestDuration.observe({ method }, durationMs / 1000);
    },
    retry: (account) => retries.inc({ account }),
    configValid: (account, isValid) => valid.set({ account }, isValid ? 1 : 0),
    configurationValid: (isValid) => configuration.set(isValid ? 1 : 0),
    storeAvailable: (isAvailable) => storeAvailable.set(isAvailable ? 1 : 0),
    sourceFetched: () => fetched.setToCurrentTime(),
    sourceRefused: (isRefused) => refused.set(isRefused ? 1 : 0),
    account: showAccount,
    known({ name, state, lastRun, lastSuccessAt }) {
      showAccount(name, { isPaused: state.pause !== null, pending: state.pending?.digest ?? null });
      if (lastSuccessAt !== null) success.set({ account: name }, Date.parse(lastSuccessAt) / 1000);
      // Their ids are in the order of time. A run without a plan has no results.
      const isElsewhere =
        lastRun !== null &&
        lastRun.planDigest !== null &&
        lastRun.status !== 'running' &&
        lastRun.id > (shown.get(name)?.runId ?? '~');
      if (isElsewhere) forgetGauges(name);
    },
    schedules(next) {
      gauges = next;
      interval.reset();
      for (const { account, longestGapMs } of next) {
        if (longestGapMs !== null) interval.set({ account }, longestGapMs / 1000);
      }
    },
    connectionDropped: () => droppedConnections.inc(),
    wrongToken: () => wrongTokens.inc(),
    notification: (target, result) => notifications.inc({ target, result }),
    skippedTick: (account) => skipped.inc({ account }),
    forget(account) {
      forgetGauges(account);
      valid.remove({ account });
      success.remove({ account });
      paused.remove({ account });
      const digest = pendingDigests.get(account);
      if (digest !== undefined) pending.remove({ account, digest });
      pendingDigests.delete(account);
      void forgetCounters(account);
    },
    contentType: registry.contentType,
    text: () => registry.metrics(),
  };
}
