// The deadline of a call: a timeout combined with the signal that aborts all calls. AbortSignal.any is not used
// because, up to Node.js 22, each of its signals leaks memory on a source signal that stays alive, which a daemon has.

export interface Deadline {
  readonly signal: AbortSignal;
  /** Whether the timeout ended the call. */
  isOver(): boolean;
  /** Releases the timer and the listener on `kill`; must be called after the call. */
  release(): void;
}

/** Starts a deadline of `timeoutMs` from now. If `kill` is already aborted, the signal is aborted immediately. */
export function startDeadline(timeoutMs: number, kill: AbortSignal): Deadline {
  const ending = new AbortController();
  let isOver = false;
  const abort = (): void => ending.abort();
  const timer = setTimeout(() => {
    isOver = !ending.signal.aborted;
    abort();
  }, timeoutMs);
  kill.addEventListener('abort', abort, { once: true });
  if (kill.aborted) abort();
  return {
    signal: ending.signal,
    isOver: () => isOver,
    release() {
      clearTimeout(timer);
      kill.removeEventListener('abort', abort);
    },
  };
}
