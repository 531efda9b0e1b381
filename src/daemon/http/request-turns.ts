// Handles requests one after another, so that many pages at once do not delay probes.
import { sleep } from '../../platform/clock.ts';
import { turn } from '../../platform/turns.ts';
import type { HttpMiddleware } from './context.ts';

/** The event loop accepts one connection in each iteration. In this time it accepts all that wait. */
const PAUSE_MS = 2;

/** A request that comes alone is handled at once. What it waits for itself, such as a large run, delays no other. */
export function takeTurns(probes: ReadonlySet<string>): HttpMiddleware {
  const waiting: (() => void)[] = [];
  let isBusy = false;

  async function endTurn(): Promise<void> {
    // After what the handler does at once.
    await turn();
    await sleep(PAUSE_MS);
    const next = waiting.shift();
    isBusy = next !== undefined;
    if (next === undefined) return;
    next();
    void endTurn();
  }

  return async (context, next) => {
    if (!probes.has(context.req.path)) {
      if (isBusy) await new Promise<void>((resolve) => waiting.push(resolve));
      else {
        isBusy = true;
        void endTurn();
      }
    }
    return await next();
  };
}
