// How fast an account may be asked: its own concurrency and rate, and its host's concurrency (contract, section 2, api).
import PQueue from 'p-queue';
import type { ApiSettings } from '../core/settings.ts';

/** A little over a second, since clocks differ. */
const RATE_WINDOW_MS = 1020;

/** How soon to look again when every place of the rate is taken by a call that is under way. */
const UNTIL_AN_ANSWER_MS = 5;

/** Lets calls through at an account's pace. */
export interface Pace {
  /** Calls when there is room. When `stop` aborts, waiting calls are made at once and must end by themselves. */
  run<T>(call: () => Promise<T>, stop: AbortSignal): Promise<T>;
  /** Holds back every call that has not been made for so long. */
  pauseFor(ms: number): void;
}

/** What all accounts of one base address share: at most `hostConcurrency` calls at once. */
export interface HostQueue {
  add<T>(call: () => Promise<T>): Promise<T>;
}

export function createHostQueue(api: ApiSettings): HostQueue {
  return new PQueue({ concurrency: api.hostConcurrency });
}

/** A pace for one account; `host` is shared by all accounts of one base address. */
export function createPace(api: ApiSettings, host: HostQueue): Pace {
  const queue = new PQueue({ concurrency: api.concurrency });
  // A call counts from its beginning until a second after its end, since nobody here knows when it arrives there.
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

  /** Makes the call if it may be made at this moment, which is asked once it has its place at the host. */
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
          // A place at the host is not asked for before the account's own rate has one.
          while (waitMs() > 0 && !stop.aborted) await pause(waitMs(), stop);
          const result = await host.add(() => tryCall(call, stop));
          if (result !== null) return result.value;
        }
      }),
    pauseFor(ms) {
      pausedUntilMs = Math.max(pausedUntilMs, performance.now() + ms);
    },
  };
}

/** Resolves after `ms`, or at once when the signal aborts. */
export function pause(ms: number, stop: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (ms <= 0 || stop.aborted) return resolve();
    const timer = setTimeout(end, ms);
    stop.addEventListener('abort', end, { once: true });
    function end(): void {
      clearTimeout(timer);
      stop.removeEventListener('abort', end);
      resolve();
    }
  });
}
