// A clock that advances by itself during a wait, so that a wait of half a minute takes no time.
import type { Clock } from '../../../src/core/ports/clock.ts';

/** Never really waits: a short sleep advances the clock. Long sleeps (the renewal of a lock) follow the short ones. */
export class QuickClock implements Clock {
  private now = Date.now();
  private steady = 1_000_000_000;
  private readonly long = new Set<{ readonly dueMs: number; readonly wake: () => void }>();

  nowMs(): number {
    return this.now;
  }

  steadyMs(): number {
    return this.steady;
  }

  /** Sets the wall clock by this much; no time passes. */
  setBy(ms: number): void {
    this.now += ms;
  }

  /** Lets time pass. */
  pass(ms: number): void {
    this.now += ms;
    this.steady += ms;
    for (const sleeper of this.long) if (sleeper.dueMs <= this.steady) sleeper.wake();
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted === true) return;
    if (ms < 5000) {
      this.pass(ms);
      return await new Promise((resolve) => setImmediate(resolve));
    }
    await new Promise<void>((resolve) => {
      const sleeper = {
        dueMs: this.steady + ms,
        wake: () => {
          this.long.delete(sleeper);
          signal?.removeEventListener('abort', sleeper.wake);
          resolve();
        },
      };
      this.long.add(sleeper);
      signal?.addEventListener('abort', sleeper.wake, { once: true });
    });
  }
}
