// A clock for the complete process, for the client and the sandbox alike: it stops while a request is in flight or code
// runs, and jumps to the next timer when everything waits. Sockets, files and SQLite stay real.
import { vi } from 'vitest';

const turn = setImmediate;
const realNowMs = performance.now.bind(performance);
const realTimeout = AbortSignal.timeout.bind(AbortSignal);

/** After this many turns of the event loop without an event, none is expected. */
const QUIET_TURNS = 4;
/** If something is in flight for this long in real time, the clock moves nevertheless. */
const PATIENCE_MS = 250;
const LONGEST_REAL_MS = 20_000;

export interface Watched {
  readonly activity: number;
  isQuiet(): boolean;
  /** Resolves when no work proceeds that ends without the clock, such as statements of a database. */
  rest?(): Promise<void>;
}

export class VirtualTime {
  /** How often the clock was moved while something was in flight. */
  forced = 0;
  /** The number of turns of the event loop. */
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

  /** Lets time pass while nothing is in flight. */
  pass(ms: number): void {
    vi.setSystemTime(Date.now() + ms);
  }

  /** Lets time pass and runs the timers that are due until then. */
  advance(ms: number): void {
    vi.advanceTimersByTime(ms);
  }

  /** Moves the clock until the work is done. Rejects if the work rejects or does not end. */
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
      await watched.rest?.();
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
