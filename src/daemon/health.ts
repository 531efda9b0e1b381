// Whether the store can be used, for readiness, the metrics and the log, by its own checks. An outage is logged once, when it
// begins and when it ends. And why the process must not be used now, and how long a stopping process answers, so that a load
// balancer learns of it before the port closes.
import { setMaxListeners } from 'node:events';
import { describeFailure } from '../run/run-result.ts';
import { StoreError } from '../core/errors.ts';
import type { Clock, RunSignals } from '../core/ports/clock.ts';
import type { Log } from './log.ts';

export interface HealthOptions {
  /** Writes to the store without a change. */
  readonly check: () => Promise<void>;
  /** The time between two checks while the store works. */
  readonly everyMs: number;
  readonly clock: Clock;
  readonly log: Pick<Log, 'info' | 'error'>;
  readonly onChange: (isAvailable: boolean) => void;
  /** What keeps the daemon from its work; empty when nothing does. */
  readonly problems: () => readonly string[];
  readonly signals: Pick<RunSignals, 'stop' | 'kill'>;
}

/** How long a probe waits for a check. */
const ANSWER_MS = 400;
/** Load balancers probe every few seconds. */
const DRAIN_MS = 5000;
/** A probe before this time was not made by a load balancer that still uses the process. */
const RECENT_MS = 30_000;
/** The time between two checks while the store cannot be used. */
const RETRY_MS = 1000;
/** Longer than a check waits for a lock: after this time the database is not available. */
const SILENT_MS = 4000;

export function createHealth(options: HealthOptions) {
  const { clock, log, onChange, signals } = options;
  const stopping = new AbortController();
  let outage = oneOutage();
  let problem: string | null = null;
  let checking: Promise<string | null> | null = null;
  let loop: Promise<void> | null = null;
  let probedMs = Number.NEGATIVE_INFINITY;
  let stoppedMs: number | null = null;
  signals.stop.addEventListener('abort', () => (stoppedMs = clock.steadyMs()), { once: true });

  function checked(error: unknown): void {
    if (stopping.signal.aborted) return;
    const { code, message } = describeFailure(error);
    const wasAvailable = problem === null;
    problem = error === null ? null : message;
    if (wasAvailable !== (problem === null)) {
      if (problem === null) log.info({ event: 'store_available' }, 'the store can be used again');
      else log.error({ event: 'store_unavailable', code, error: message }, 'the store cannot be used');
      onChange(problem === null);
    }
    const isOutage = error instanceof StoreError && error.code === 'store_unavailable';
    if (isOutage) outage.abort(error);
    else if (outage.signal.aborted) outage = oneOutage();
  }

  /** Calls that come during a check share its result. */
  function check(): Promise<string | null> {
    checking ??= checkNow().finally(() => (checking = null));
    return checking;
  }

  async function checkNow(): Promise<string | null> {
    const answered = new AbortController();
    void clock.sleep(SILENT_MS, answered.signal).then(() => {
      if (!answered.signal.aborted) checked(new StoreError('store_unavailable', SILENT));
    });
    try {
      await options.check();
      checked(null);
    } catch (error) {
      checked(error);
    } finally {
      answered.abort();
    }
    return problem;
  }

  async function watch(): Promise<void> {
    const stopped = new Promise((resolve) => stopping.signal.addEventListener('abort', resolve));
    while (!stopping.signal.aborted) {
      // A check of a database that does not answer may last longer than the stop.
      await Promise.race([check(), stopped]);
      await clock.sleep(problem === null ? options.everyMs : RETRY_MS, stopping.signal);
    }
  }

  /** Why the store cannot be used now; null when it can. Resolves within half a second. */
  async function storeProblem(): Promise<string | null> {
    const answered = new AbortController();
    const late = clock.sleep(ANSWER_MS, answered.signal).then(() => problem ?? NOT_YET);
    return await Promise.race([check(), late]).finally(() => answered.abort());
  }

  return {
    start(): void {
      loop ??= watch();
    },
    /** Answers a probe: why the process is not ready; empty when it is. */
    async probe(): Promise<readonly string[]> {
      probedMs = clock.steadyMs();
      // A stopping process reports that at once, whatever the state of its store.
      const found = signals.stop.aborted ? null : await storeProblem();
      return [...new Set([...options.problems(), ...(found === null ? [] : [found])])];
    },
    /**
     * Resolves when the port may close: at once if nobody probes, otherwise when the probes have had time since the stop to
     * see that the process is not ready. A second signal ends the wait.
     */
    async drained(): Promise<void> {
      const fromMs = stoppedMs ?? clock.steadyMs();
      if (probedMs < fromMs - RECENT_MS) return;
      await clock.sleep(Math.max(0, fromMs + DRAIN_MS - clock.steadyMs()), signals.kill);
    },
    /** Aborts when the database cannot be reached, with the StoreError as its reason. */
    outage: () => outage.signal,
    async stop(): Promise<void> {
      stopping.abort();
      await loop;
    },
  };
}

function oneOutage(): AbortController {
  const outage = new AbortController();
  // Each request that reads has a listener, and removes it when it ends.
  setMaxListeners(0, outage.signal);
  return outage;
}

const NOT_YET = `the store has not answered within ${ANSWER_MS} ms: another program keeps it locked, or the database is not available`;
const SILENT = 'the database has not answered for several seconds; check that it runs and can be reached';
