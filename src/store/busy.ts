// Waits for a store that another program keeps locked, without blocking this process.
import { sleep } from '../platform/clock.ts';
import { SQLite } from '../platform/sqlite.ts';

/** How long a run waits, and how long a command or a page waits. */
export const RUN_PATIENCE_MS = 30_000;
export const PERSON_PATIENCE_MS = 3000;
const PAUSE_MS = 20;

/** Repeats the work while the store is locked. The work must be safe to repeat. */
export async function whileBusy<T>(patienceMs: number, work: () => Promise<T>): Promise<T> {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isBusy(error) || performance.now() > deadline) throw error;
    }
    await sleep(PAUSE_MS * (1 + Math.random()));
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof SQLite.SqliteError && /^SQLITE_(BUSY|LOCKED)/.test(error.code);
}
