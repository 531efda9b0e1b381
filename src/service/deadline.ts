// When a call has to end: its time is up, or everything in flight is given up. Not AbortSignal.any: up to Node 22 each of
// its signals leaves something behind on a source that lives on, which a daemon would pay for with every request.

export interface Deadline {
  readonly signal: AbortSignal;
  /** Whether it was the time that ended the call. */
  isOver(): boolean;
  /** Lets go of the timer and of `kill`; has to be called once the call has ended. */
  release(): void;
}

/** Starts a deadline of `timeoutMs` from now; it is over at once when `kill` has aborted. */
export function startDeadline(timeoutMs: number, kill: AbortSignal): Deadline {
  const ending = new AbortController();
  let isOver = false;
  const giveUp = (): void => ending.abort();
  const timer = setTimeout(() => {
    isOver = !ending.signal.aborted;
    giveUp();
  }, timeoutMs);
  kill.addEventListener('abort', giveUp, { once: true });
  if (kill.aborted) giveUp();
  return {
    signal: ending.signal,
    isOver: () => isOver,
    release() {
      clearTimeout(timer);
      kill.removeEventListener('abort', giveUp);
    },
  };
}
