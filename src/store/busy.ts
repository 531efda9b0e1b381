// How a store that another program keeps locked is waited for; others of this process go on meanwhile.
import { SQLite } from '../platform/sqlite.ts';

/** How long runs wait, and people. */
export const RUN_PATIENCE_MS = 30_000;
export const PERSON_PATIENCE_MS = 3000;
const PAUSE_MS = 20;

/** Does the work again while the store is locked. What fails for that reason must be safe to repeat. */
export async function whileBusy<T>(patienceMs: number, work: () => Promise<T>): Promise<T> {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isBusy(error) || performance.now() > deadline) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS * (1 + Math.random())));
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof SQLite.SqliteError && /^SQLITE_(BUSY|LOCKED)/.test(error.code);
}
