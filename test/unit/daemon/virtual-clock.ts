// A clock that a test moves: sleepers wake in the order of their times; the wall clock can also be set.
import type { Clock } from '../../../src/core/ports/clock.ts';

export interface VirtualClock extends Clock {
  /** Lets time pass and wakes each sleeper at its time. */
  pass(ms: number): Promise<void>;
  /** Sets the wall clock without time passing: sleepers continue to sleep, as timers do. */
  set(nowMs: number): void;
}

/**
 * A clock at `startMs`. `afterOthers` calls back when everything that is ready has run; without I/O,
 * `process.nextTick` is enough, which comes after all promises and costs no turn of the event loop.
 */
export function virtualClock(
  startMs: number,
  afterOthers: (resume: () => void) => void = setImmediate,
): VirtualClock {
  let nowMs = startMs;
  // Timers run on a separate clock that cannot be set.
  let timerMs = 0;
  const sleepers = new Set<{ readonly wakeMs: number; readonly wake: () => void }>();

  async function settle(): Promise<void> {
    await new Promise<void>((resolve) => afterOthers(resolve));
  }

  return {
    nowMs: () => nowMs,
    steadyMs: () => timerMs,
    sleep(ms, signal) {
      return new Promise((resolve) => {
        if (signal?.aborted === true) return resolve();
        const sleeper = { wakeMs: timerMs + ms, wake };
        sleepers.add(sleeper);
        signal?.addEventListener('abort', wake, { once: true });
        function wake(): void {
          sleepers.delete(sleeper);
          signal?.removeEventListener('abort', wake);
          resolve();
        }
      });
    },
    set(ms) {
      nowMs = ms;
    },
    async pass(ms) {
      const endMs = timerMs + ms;
      await settle();
      for (;;) {
        const next = [...sleepers].toSorted((a, b) => a.wakeMs - b.wakeMs)[0];
        if (next === undefined || next.wakeMs > endMs) break;
        nowMs += next.wakeMs - timerMs;
        timerMs = next.wakeMs;
        next.wake();
        await settle();
      }
      nowMs += endMs - timerMs;
      timerMs = endMs;
      await settle();
    },
  };
}
