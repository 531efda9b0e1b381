// A clock for the whole process, the client and the sandbox alike: it stands still while anything travels or computes,
// and jumps to the next timer when everybody waits for one. Sockets, files and SQLite stay real.
import { vi } from 'vitest';

const turn = setImmediate;
const realNowMs = performance.now.bind(performance);
const realTimeout = AbortSignal.timeout.bind(AbortSignal);

/** So many turns of the event loop in which nothing happens mean that nothing will. */
const QUIET_TURNS = 4;
/** When something is under way for so long in real time, the clock goes on all the same. */
const PATIENCE_MS = 250;
const LONGEST_REAL_MS = 20_000;

export interface Watched {
  readonly activity: number;
  isQuiet(): boolean;
}

export class VirtualTime {
  /** How often the clock had to be moved while something was under way. */
  forced = 0;
  /** How often the event loop went round. */
  turns = 0;

  constructor(startMs: number) {
    vi.useFakeTimers({
      now: startMs,
      toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date', 'performance'],
    });
    AbortSignal.timeout = (ms) => {
      const controller = new AbortController();
      setTimeout(() => controller.abort(new DOMException('the time is over', 'TimeoutError')), ms).unref();
      return controller.signal;
    };
  }

  /** Lets time pass in which nothing is under way. */
  pass(ms: number): void {
    vi.setSystemTime(Date.now() + ms);
  }

  /** Lets time pass, and everything that was to happen by itself until then. */
  advance(ms: number): void {
    vi.advanceTimersByTime(ms);
  }

  /** Moves the clock until the work is done. Rejects with what it rejects with, or when it does not end. */
  async drive<T>(work: Promise<T>, watched: Watched): Promise<T> {
    let settled = false;
    void work.then(
      () => (settled = true),
      () => (settled = true),
    );
    const startedMs = realNowMs();
    let quiet = 0;
    let activity = watched.activity;
    let quietSinceMs = realNowMs();
    while (!settled) {
      await new Promise((resolve) => turn(resolve));
      this.turns += 1;
      const nowMs = realNowMs();
      if (watched.activity !== activity) {
        activity = watched.activity;
        quiet = 0;
        quietSinceMs = nowMs;
        continue;
      }
      if (nowMs - startedMs > LONGEST_REAL_MS) throw new Error('the run does not end');
      if (!watched.isQuiet()) {
        quiet = 0;
        if (nowMs - quietSinceMs < PATIENCE_MS) continue;
        this.forced += 1;
      } else if ((quiet += 1) < QUIET_TURNS) continue;
      quiet = 0;
      quietSinceMs = nowMs;
      vi.advanceTimersToNextTimer();
    }
    return await work;
  }

  close(): void {
    AbortSignal.timeout = realTimeout;
    vi.useRealTimers();
  }
}
