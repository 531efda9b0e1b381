// How fast an account may be asked: its own concurrency and rate, and its host's concurrency (contract, section 2, api).
import PQueue from 'p-queue';
import type { ApiSettings } from '../core/settings.ts';

/** A little over a second, so that no second as the service measures it sees more than the rate allows. */
const RATE_WINDOW_MS = 1020;

/** Lets calls through at an account's pace. */
export interface Pace {
  /** Calls when there is room. When `stop` aborts, waiting calls are made at once and must end by themselves. */
  run<T>(call: () => Promise<T>, stop: AbortSignal): Promise<T>;
  /** Holds back every call that has not been made for so long. */
  pauseFor(ms: number): void;
}

export function createHostQueue(api: ApiSettings): PQueue {
  return new PQueue({ concurrency: api.hostConcurrency });
}

/** A pace for one account; `host` is shared by all accounts of one base address. */
export function createPace(api: ApiSettings, host: PQueue): Pace {
  const queue = new PQueue({ concurrency: api.concurrency });
  // When the latest calls were made, oldest first; as many as the rate allows in one window.
  const made: number[] = [];
  let pausedUntilMs = 0;

  function waitMs(): number {
    const nowMs = performance.now();
    const [oldest = 0] = made;
    const rateMs = made.length < api.requestsPerSecond ? 0 : oldest + RATE_WINDOW_MS - nowMs;
    return Math.max(0, rateMs, pausedUntilMs - nowMs);
  }

  /** Makes the call if it may be made at this moment, which is asked once it has its place at the host. */
  async function tryCall<T>(
    call: () => Promise<T>,
    stop: AbortSignal,
  ): Promise<{ readonly value: T } | null> {
    if (!stop.aborted && waitMs() > 0) return null;
    made.push(performance.now());
    if (made.length > api.requestsPerSecond) made.shift();
    return { value: await call() };
  }

  return {
    run: (call, stop) =>
      queue.add(async () => {
        for (;;) {
          await pause(waitMs(), stop);
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
