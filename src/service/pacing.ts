// How fast an account may be asked: its own concurrency and rate, and its host's concurrency (contract, section 2, api).
import PQueue from 'p-queue';
import type { ApiSettings } from '../core/settings.ts';

/** A little over a second, so that no second as the service measures it sees more than the rate allows. */
const RATE_WINDOW_MS = 1020;

/** Lets calls through at an account's pace; pausing holds every call that has not started. */
export interface Pace {
  run<T>(call: () => Promise<T>): Promise<T>;
  /** Holds calls back for so long, or until the signal aborts. */
  pauseFor(ms: number, stop: AbortSignal): void;
  /** Lets everything through at once, so that no timer keeps the process alive. */
  close(): void;
}

export function createHostQueue(api: ApiSettings): PQueue {
  return new PQueue({ concurrency: api.hostConcurrency });
}

/** A pace for one account; `host` is shared by all accounts of one base address. */
export function createPace(api: ApiSettings, host: PQueue): Pace {
  const queue = new PQueue({
    concurrency: api.concurrency,
    interval: RATE_WINDOW_MS,
    intervalCap: api.requestsPerSecond,
    strict: true,
  });
  let pausedUntilMs = 0;
  let timer: NodeJS.Timeout | undefined;
  function resume(): void {
    clearTimeout(timer);
    pausedUntilMs = 0;
    queue.start();
  }
  return {
    run: (call) => queue.add(() => host.add(call)),
    pauseFor(ms, stop) {
      const untilMs = Date.now() + ms;
      if (untilMs <= pausedUntilMs || stop.aborted) return;
      pausedUntilMs = untilMs;
      queue.pause();
      clearTimeout(timer);
      timer = setTimeout(resume, ms);
      stop.addEventListener('abort', resume, { once: true });
    },
    close: resume,
  };
}
