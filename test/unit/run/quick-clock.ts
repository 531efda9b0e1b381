// A clock that advances by itself during a wait, so that a wait of half a minute takes no time.
import type { Clock } from '../../../src/core/ports/clock.ts';

/** Never really waits: a sleep advances the clock. */
export class QuickClock implements Clock {
  private now = Date.now();
  private steady = 1_000_000_000;

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
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted === true) return;
    this.pass(ms);
    await new Promise((resolve) => setImmediate(resolve));
  }
}
