// Limits the requests of an account: by its own concurrency and rate, and by the concurrency of its host.
import PQueue from 'p-queue';
import type { ApiSettings } from '../core/settings.ts';
import { sleep } from '../system/clock.ts';

/** A little over a second, because clocks differ. */
const RATE_WINDOW_MS = 1020;

/** How soon to check again when running calls use the complete rate. */
const UNTIL_AN_ANSWER_MS = 5;

/** Makes calls at the rate of an account. */
export interface Pace {
  /**
   * Makes the call when the limits allow it. If `stop` aborts, waiting calls are made immediately and must end
   * themselves.
   */
  run<T>(call: () => Promise<T>, stop: AbortSignal): Promise<T>;
  /** Delays every call that is not running yet by this time. */
  pauseFor(ms: number): void;
}

/** A pace for one account; `host` is the queue that all accounts of one base address share. */
export function createPace(api: ApiSettings, host: PQueue): Pace {
  const queue = new PQueue({ concurrency: api.concurrency });
  // A call counts from its start until a second after its end, because the time of its arrival is unknown.
  const cooling: number[] = [];
  let underWay = 0;
  let pausedUntilMs = 0;

  function waitMs(): number {
    const nowMs = performance.now();
    while ((cooling[0] ?? Infinity) <= nowMs) cooling.shift();
    const hasRoom = underWay + cooling.length < api.requestsPerSecond;
    const rateMs = hasRoom ? 0 : (cooling[0] ?? nowMs + UNTIL_AN_ANSWER_MS) - nowMs;
    return Math.max(0, rateMs, pausedUntilMs - nowMs);
  }

  /** Makes the call if the rate still allows it after the wait in the host's queue; otherwise returns null. */
  async function tryCall<T>(
    call: () => Promise<T>,
    stop: AbortSignal,
  ): Promise<{ readonly value: T } | null> {
    if (!stop.aborted && waitMs() > 0) return null;
    underWay += 1;
    try {
      return { value: await call() };
    } finally {
      underWay -= 1;
      cooling.push(performance.now() + RATE_WINDOW_MS);
    }
  }

  return {
    run: (call, stop) =>
      queue.add(async () => {
        for (;;) {
          // Waits for the account's own rate first, so that it does not use a slot of the host while it waits.
          while (waitMs() > 0 && !stop.aborted) await sleep(waitMs(), stop);
          const result = await host.add(() => tryCall(call, stop));
          if (result !== null) return result.value;
        }
      }),
    pauseFor(ms) {
      pausedUntilMs = Math.max(pausedUntilMs, performance.now() + ms);
    },
  };
}
