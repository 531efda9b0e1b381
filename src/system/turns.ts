// Lets long computations yield to the event loop, so that timers and other requests are served in between.

const LONGEST_TURN_MS = 10;

/** The computations that wait; in each iteration of the event loop one of them continues. */
const waiting: (() => void)[] = [];
let isScheduled = false;

/** The turns of one computation, which checks between its steps whether it must yield. */
export interface Turns {
  isOver(): boolean;
  next(): Promise<void>;
}

/** Yields to the event loop. The caller should wait again after at most 10 ms. */
export function turn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    schedule();
  });
}

export function startTurns(): Turns {
  let startedAt = performance.now();
  return {
    isOver: () => performance.now() - startedAt > LONGEST_TURN_MS,
    async next() {
      await turn();
      startedAt = performance.now();
    },
  };
}

function schedule(): void {
  if (isScheduled) return;
  isScheduled = true;
  setImmediate(() => {
    isScheduled = false;
    waiting.shift()?.();
    if (waiting.length > 0) schedule();
  });
}
