// Gives long computations their turns on the event loop, so that timers and requests of others are served in between.

/** Waiting computations of this process; of all of them together one has its turn in each round of the event loop. */
const waiting: (() => void)[] = [];
let isScheduled = false;

/** Resolves when it is the caller's turn. A turn lasts until the caller waits again and should take at most 10 ms. */
export function turn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    schedule();
  });
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

const LONGEST_TURN_MS = 10;

/** The turns of one computation: between two small steps it asks whether the present turn is over. */
export interface Turns {
  isOver(): boolean;
  next(): Promise<void>;
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
