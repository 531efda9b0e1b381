// A clock for a complete daemon: its sleeps, `Date.now`, `performance.now`, `setTimeout` and random numbers. The wall
// clock can be set, and idle hours can pass as for a process that was suspended.
import { vi } from 'vitest';
import type { Clock } from '../../../src/core/ports.ts';
import { randomNumbers } from '../../support/random.ts';

interface Sleeper {
  readonly wakeMs: number;
  readonly owner: string;
  readonly wake: () => void;
}

const realSetImmediate = setImmediate;

export class ProcessTime {
  private wallMs: number;
  private timer = 0;
  private readonly sleepers = new Set<Sleeper>();
  /** The number of operations that take longer than one turn of the loop. */
  private busy = 0;
  /** The number of calls in the next turn of the loop. */
  private immediates = 0;

  constructor(startMs: number) {
    this.wallMs = startMs;
  }

  nowMs(): number {
    return this.wallMs;
  }

  /** The steady time, which nobody sets. */
  timerMs(): number {
    return this.timer;
  }

  /** A clock whose sleepers are counted separately. */
  clockOf(owner: string): Clock {
    return {
      nowMs: () => this.wallMs,
      steadyMs: () => this.timer,
      pause: async () => undefined,
      sleep: (ms, signal) => this.sleep(ms, owner, signal),
    };
  }

  /** How many sleepers use a clock of this owner. */
  sleeping(owner: string): number {
    return [...this.sleepers].filter((sleeper) => sleeper.owner === owner).length;
  }

  /** Sets the wall clock; sleepers go on sleeping. */
  set(wallMs: number): void {
    this.wallMs = wallMs;
  }

  /** Counts work as running until it has ended. */
  async follow<T>(work: Promise<T>): Promise<T> {
    this.busy += 1;
    try {
      return await work;
    } finally {
      this.busy -= 1;
    }
  }

  /** Resolves when everybody waits for time to pass. */
  async settle(): Promise<void> {
    do {
      await new Promise((resolve) => realSetImmediate(resolve));
    } while (this.busy > 0 || this.immediates > 0);
  }

  /** Lets time pass until `endMs` of the timers' time, and wakes each sleeper at its moment. */
  async runTo(endMs: number): Promise<void> {
    await this.settle();
    for (;;) {
      const next = this.first();
      if (next === undefined || next.wakeMs > endMs) break;
      this.goTo(Math.max(this.timer, next.wakeMs));
      next.wake();
      await this.settle();
    }
    this.goTo(endMs);
    await this.settle();
  }

  /** The same in one leap: sleepers that are due meanwhile are woken once, at its end. */
  async leapTo(endMs: number): Promise<void> {
    this.goTo(endMs);
    const late = [...this.sleepers].filter(({ wakeMs }) => wakeMs <= endMs);
    for (const sleeper of late.toSorted((a, b) => a.wakeMs - b.wakeMs)) {
      sleeper.wake();
      await this.settle();
    }
  }

  /**
   * Makes this the time of the process, with random numbers from the seed. Returns a function that restores the real
   * ones.
   */
  install(seed: number): () => void {
    const random = randomNumbers(seed);
    const spies = [
      vi.spyOn(globalThis, 'setImmediate').mockImplementation(((
        call: (...args: unknown[]) => void,
        ...args: unknown[]
      ) => {
        this.immediates += 1;
        return realSetImmediate(() => {
          this.immediates -= 1;
          call(...args);
        });
      }) as typeof setImmediate),
      vi.spyOn(Date, 'now').mockImplementation(() => this.wallMs),
      vi.spyOn(performance, 'now').mockImplementation(() => this.timer),
      vi.spyOn(Math, 'random').mockImplementation(random),
      vi
        .spyOn(globalThis, 'setTimeout')
        // The program passes its timers only to `clearTimeout`, which this model does not need.
        .mockImplementation(((call: () => void, ms: number) => {
          void this.sleep(ms, 'timeout').then(call);
        }) as unknown as typeof setTimeout),
    ];
    return () => {
      for (const spy of spies) spy.mockRestore();
    };
  }

  private sleep(ms: number, owner: string, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal?.aborted === true) return resolve();
      const wake = (): void => {
        this.sleepers.delete(sleeper);
        signal?.removeEventListener('abort', wake);
        resolve();
      };
      // Like real timers: whole milliseconds, and at least one.
      const sleeper = { wakeMs: this.timer + Math.max(1, Math.trunc(ms)), owner, wake };
      this.sleepers.add(sleeper);
      signal?.addEventListener('abort', wake, { once: true });
    });
  }

  private first(): Sleeper | undefined {
    let first: Sleeper | undefined;
    for (const sleeper of this.sleepers) {
      if (first === undefined || sleeper.wakeMs < first.wakeMs) first = sleeper;
    }
    return first;
  }

  private goTo(timerMs: number): void {
    this.wallMs += timerMs - this.timer;
    this.timer = timerMs;
  }
}
