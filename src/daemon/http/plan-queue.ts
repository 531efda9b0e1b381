// How many posted plans are made at a time, and how many wait: each holds its body in memory and works a processor.

const AT_ONCE = 2;
const MOST_WAITING = 4;

export interface PlanTicket {
  /** Resolves when the plan may be made. */
  readonly turn: Promise<void>;
  /** Lets the next one have its turn; may be called again. */
  leave(): void;
}

export interface PlanQueue {
  isFull(): boolean;
  /** null when too many wait already. */
  enter(): PlanTicket | null;
}

export function createPlanQueue(): PlanQueue {
  const waiting: { readonly ticket: PlanTicket; readonly begin: () => void }[] = [];
  const working = new Set<PlanTicket>();

  function startNext(): void {
    while (working.size < AT_ONCE) {
      const next = waiting.shift();
      if (next === undefined) return;
      working.add(next.ticket);
      next.begin();
    }
  }

  const isFull = (): boolean => working.size >= AT_ONCE && waiting.length >= MOST_WAITING;

  return {
    isFull,
    enter() {
      if (isFull()) return null;
      let begin = (): void => undefined;
      const turn = new Promise<void>((resolve) => (begin = resolve));
      const ticket: PlanTicket = {
        turn,
        leave() {
          working.delete(ticket);
          const index = waiting.findIndex((each) => each.ticket === ticket);
          if (index !== -1) waiting.splice(index, 1);
          startNext();
        },
      };
      waiting.push({ ticket, begin });
      startNext();
      return ticket;
    },
  };
}
