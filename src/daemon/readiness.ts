// Readiness: why the process must not be used now, and how long a stopping process answers, so that a load balancer learns
// of it before the port closes.
import type { Clock, RunSignals } from '../core/ports/clock.ts';
import type { StoreHealth } from './store-health.ts';

export interface ReadinessOptions {
  /** What keeps the daemon from its work; empty when nothing does. */
  readonly problems: () => readonly string[];
  readonly store: Pick<StoreHealth, 'problem'>;
  readonly signals: Pick<RunSignals, 'stop' | 'kill'>;
  readonly clock: Pick<Clock, 'steadyMs' | 'sleep'>;
}

export interface Readiness {
  /** Answers a probe: why the process is not ready; empty when it is. */
  probe(): Promise<readonly string[]>;
  /**
   * Resolves when the port may close: at once if nobody probes, otherwise when the probes have had time since the stop to
   * see that the process is not ready. A second signal ends the wait.
   */
  drained(): Promise<void>;
}

/** Load balancers probe every few seconds. */
const DRAIN_MS = 5000;
/** A probe before this time was not made by a load balancer that still uses the process. */
const RECENT_MS = 30_000;

export function createReadiness(options: ReadinessOptions): Readiness {
  const { signals, clock, store } = options;
  let probedMs = Number.NEGATIVE_INFINITY;
  let stoppedMs: number | null = null;
  signals.stop.addEventListener('abort', () => (stoppedMs = clock.steadyMs()), { once: true });

  return {
    async probe() {
      probedMs = clock.steadyMs();
      // A stopping process reports that at once, whatever the state of its store.
      const storeProblem = signals.stop.aborted ? null : await store.problem();
      return [...new Set([...options.problems(), ...(storeProblem === null ? [] : [storeProblem])])];
    },
    async drained() {
      const fromMs = stoppedMs ?? clock.steadyMs();
      if (probedMs < fromMs - RECENT_MS) return;
      await clock.sleep(Math.max(0, fromMs + DRAIN_MS - clock.steadyMs()), signals.kill);
    },
  };
}
