// Waits for a store that another program keeps locked, or that is unavailable for a moment, without blocking this process.
import { sleep } from '../system/clock.ts';
import type { Engine } from './engine.ts';

/** How long a run waits, and how long a command or a page waits. */
export const RUN_PATIENCE_MS = 30_000;
export const PERSON_PATIENCE_MS = 3000;
const PAUSE_MS = 20;

/** Repeats the work while the engine allows it. */
export async function whileBusy<T>(
  engine: Pick<Engine, 'isRepeatable'>,
  patienceMs: number,
  work: () => Promise<T>,
): Promise<T> {
  const deadline = performance.now() + patienceMs;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (!engine.isRepeatable(error) || performance.now() > deadline) throw error;
    }
    // Longer pauses later: otherwise every run would send an unavailable database fifty requests a second.
    await sleep(PAUSE_MS * Math.min(attempt, 10) * (1 + Math.random()));
  }
}
