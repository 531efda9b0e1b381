// The clock of the machine. Everything else receives a Clock, so that tests control the time.
import type { Clock } from '../core/ports/clock.ts';

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  steadyMs: () => performance.now(),
  sleep,
};

/** Resolves after `ms`, or as soon as the signal aborts. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) return resolve();
    const timer = setTimeout(end, ms);
    signal?.addEventListener('abort', end, { once: true });
    function end(): void {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    }
  });
}

const ENDED = new Error('the call has ended');

/** The time limit of a call, together with the signal that aborts all calls. */
export interface Deadline {
  readonly signal: AbortSignal;
  /** Whether the time limit ended the call. */
  isOver(): boolean;
  /** Releases the timer and the listener on `kill`; must be called after the call. */
  release(): void;
}

/**
 * Starts a deadline of `timeoutMs` from now. If `kill` is already aborted, the signal is aborted immediately.
 * AbortSignal.any is not used because, up to Node.js 22, each of its signals leaks memory on a source signal that stays alive,
 * which a daemon has.
 */
export function startDeadline(
  timeoutMs: number,
  kill: AbortSignal,
  clock: Pick<Clock, 'sleep'> = systemClock,
): Deadline {
  const ending = new AbortController();
  const done = new AbortController();
  let isOver = false;
  // With a reason of our own, since the default one captures a stack.
  const abort = (): void => ending.abort(ENDED);
  void clock.sleep(timeoutMs, done.signal).then(() => {
    if (done.signal.aborted) return;
    isOver = !ending.signal.aborted;
    abort();
  });
  kill.addEventListener('abort', abort, { once: true });
  if (kill.aborted) abort();
  return {
    signal: ending.signal,
    isOver: () => isOver,
    release() {
      done.abort(ENDED);
      kill.removeEventListener('abort', abort);
    },
  };
}
