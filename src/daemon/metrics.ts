// The Prometheus metrics of the daemon. No label contains the name of an entry.
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { RequestAttempt } from '../core/ports/progress.ts';
import { type Kind, ACTIONS, KINDS } from '../core/catalog.ts';
import type { AccountRecord } from '../core/ports/journal-reader.ts';
import type { RunOutcome } from '../core/run-outcome.ts';

export type Metrics = ReturnType<typeof createMetrics>;

/** What the gauges show of an account at each scrape. Times are epoch milliseconds. */
interface AccountGauges {
  isValid?: boolean;
  isPaused?: boolean;
  /** The digest of the plan that waits for approval. */
  pending?: string | null;
  successMs?: number;
  nextRunMs?: () => number | null;
  longestGapMs?: number | null;
  /** Of the last run that planned. */
  results?: {
    readonly runId: string;
    readonly plan: NonNullable<RunOutcome['plan']>;
    readonly entryCounts: ReadonlyMap<Kind, number>;
  };
}

type Sample = readonly [labels: Readonly<Record<string, string>>, value: number];

/**
 * Upper bounds. The library keeps an object with the bounds as keys for each account. V8 stores it as an array up to the
 * largest bound (12 KB), unless a gap between two bounds is above 1,024. So keep 3600.
 */
const RUN_SECONDS = [0.1, 0.3, 1, 3, 10, 30, 100, 300, 1000, 3600];

export function createMetrics(version: string) {
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
  const accounts = new Map<string, AccountGauges>();
  function gaugesOf(account: string): AccountGauges {
    const known = accounts.get(account) ?? {};
    accounts.set(account, known);
    return known;
  }
  /** A gauge with the label `account` and these, which is read at each scrape. */
  function accountGauge(
    name: string,
    help: string,
    labels: readonly string[],
    read: (gauges: AccountGauges) => readonly Sample[],
  ): void {
    new Gauge({
      name: `rolecall_${name}`,
      help,
      labelNames: ['account', ...labels],
      registers,
      collect() {
        this.reset();
        for (const [account, gauges] of accounts)
          for (const [own, value] of read(gauges)) this.set({ account, ...own }, value);
      },
    });
  }
  accountGauge(
    'last_success_timestamp_seconds',
    'When a run last ended converged, held or, in a mode that does not write, planned.',
    [],
    ({ successMs }) => seconds(successMs),
  );
  accountGauge('drift', 'Operations that a plan would apply now.', ['kind', 'action'], ({ results }) =>
    results === undefined ? [] : driftSamples(results.plan),
  );
  accountGauge('held', 'Changes that are held, by each rule that holds them.', ['kind', 'rule'], (gauges) =>
    (gauges.results?.plan.held ?? []).map(({ kind, rule, count }) => [{ kind, rule }, count]),
  );
  accountGauge('entries', 'Entries that the service listed in the last run.', ['kind'], ({ results }) =>
    results === undefined ? [] : KINDS.map((kind) => [{ kind }, results.entryCounts.get(kind) ?? 0]),
  );
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
  accountGauge('config_valid', 'Whether the account’s configuration is valid.', [], ({ isValid }) =>
    flag(isValid),
  );
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
  accountGauge(
    'paused',
    'Whether scheduled runs of the account are stopped. Account *: whether all accounts, or their deletes, are paused.',
    [],
    ({ isPaused }) => flag(isPaused),
  );
  accountGauge('approval_pending', 'A plan that waits for approval.', ['digest'], ({ pending: digest }) =>
    digest ? [[{ digest }, 1]] : [],
  );
  const notifications = counter('notifications_total', 'Notifications by result.', ['target', 'result']);
  const wrongTokens = counter('http_wrong_tokens_total', 'HTTP requests with a wrong token.', []);
  const droppedConnections = counter(
    'http_connections_dropped_total',
    'Connections that were closed, because there were too many.',
    [],
  );
  accountGauge(
    'schedule_interval_seconds',
    'The longest time between two of the account’s next ticks.',
    [],
    ({ longestGapMs }) => seconds(longestGapMs),
  );
  accountGauge('next_run_timestamp_seconds', 'When the account runs next.', [], ({ nextRunMs }) =>
    seconds(nextRunMs?.()),
  );
  gauge('build_info', 'The version that runs.', ['version']).set({ version }, 1);

  /** Otherwise the counters of a removed account would remain. */
  async function forgetCounters(account: string): Promise<void> {
    for (const metric of [runs, operations, requests, retries, skipped]) {
      for (const { labels } of (await metric.get()).values) {
        if (labels.account === account) metric.remove({ ...labels });
      }
    }
    durations.remove({ account });
  }

  function showResults({ run, plan }: RunOutcome, entryCounts: ReadonlyMap<Kind, number>): void {
    if (plan !== null) gaugesOf(run.account).results = { runId: run.id, plan, entryCounts };
  }

  return {
    /** The results of a run of an earlier process: sets the gauges, unless a run of this process has set or removed them. */
    found(outcome: RunOutcome, entryCounts: ReadonlyMap<Kind, number>): void {
      if (accounts.get(outcome.run.account)?.results === undefined) showResults(outcome, entryCounts);
    },
    /** The results of a run that has ended. */
    run(outcome: RunOutcome, entryCounts: ReadonlyMap<Kind, number>, durationSeconds: number): void {
      const { run } = outcome;
      const { account, status } = run;
      runs.inc({ account, status });
      durations.observe({ account }, durationSeconds);
      if (status === 'converged' || status === 'held' || status === 'planned') {
        gaugesOf(account).successMs = Date.parse(run.finishedAt ?? run.startedAt);
      }
      for (const { kind, action, status: result, count } of outcome.operations) {
        if (result !== 'held' && result !== 'pending')
          operations.inc({ account, kind, action, result }, count);
      }
      showResults(outcome, entryCounts);
    },
    /** A run that could not even be journaled. */
    runFailed: (account: string) => runs.inc({ account, status: 'failed' }),
    request(account: string, { method, status, durationMs, isRetry }: RequestAttempt): void {
      requests.inc({ account, method, status: String(status) });
      requestDuration.observe({ method }, durationMs / 1000);
      if (isRetry) retries.inc({ account });
    },
    /** Whether the service file is valid. */
    configurationValid: (isValid: boolean) => configuration.set(isValid ? 1 : 0),
    /** Whether this process can use the store. */
    storeAvailable: (isAvailable: boolean) => storeAvailable.set(isAvailable ? 1 : 0),
    /** The git source was fetched successfully just now. */
    sourceFetched: () => fetched.setToCurrentTime(),
    /** Whether the newest commit of the daemon's own checkout was refused. */
    sourceRefused: (isRefused: boolean) => refused.set(isRefused ? 1 : 0),
    /** Replaces what these gauges of the account show. */
    account: (account: string, gauges: Omit<AccountGauges, 'results' | 'successMs'>) =>
      void Object.assign(gaugesOf(account), gauges),
    /** What the store has of an account. Drops the results of a run of this process when another one has run it since. */
    known({ name, state, lastRun, lastSuccessAt }: AccountRecord): void {
      const gauges = gaugesOf(name);
      gauges.isPaused = state.pause !== null;
      gauges.pending = state.pending?.digest ?? null;
      if (lastSuccessAt !== null) gauges.successMs = Date.parse(lastSuccessAt);
      // Their ids are in the order of time. A run without a plan has no results.
      const isElsewhere =
        lastRun !== null &&
        lastRun.planDigest !== null &&
        lastRun.status !== 'running' &&
        lastRun.id > (gauges.results?.runId ?? '~');
      if (isElsewhere) delete gauges.results;
    },
    /** A connection was closed because there were too many. */
    connectionDropped: () => droppedConnections.inc(),
    /** A request had a wrong token. */
    wrongToken: () => wrongTokens.inc(),
    notification: (target: string, result: 'delivered' | 'undelivered') =>
      notifications.inc({ target, result }),
    skippedTick: (account: string) => skipped.inc({ account }),
    /** Drops the metrics of an account that was removed from the configuration. */
    forget(account: string): void {
      accounts.delete(account);
      void forgetCounters(account);
    },
    contentType: registry.contentType as string,
    /** The text of a scrape. */
    text: () => registry.metrics(),
  };
}

function driftSamples({ drift }: NonNullable<RunOutcome['plan']>): Sample[] {
  return KINDS.flatMap((kind) =>
    ACTIONS.map((action): Sample => {
      const found = drift.find((each) => each.kind === kind && each.action === action);
      return [{ kind, action }, found?.count ?? 0];
    }),
  );
}

function seconds(ms: number | null = null): readonly Sample[] {
  return ms === null ? [] : [[{}, ms / 1000]];
}

function flag(isTrue: boolean | undefined): readonly Sample[] {
  return isTrue === undefined ? [] : [[{}, isTrue ? 1 : 0]];
}
