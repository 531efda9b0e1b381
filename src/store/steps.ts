// How a long job changes the store: in transactions of a few milliseconds, with a turn for everybody else in between.
import type { RawBuilder } from 'kysely';
import type { Database } from './database.ts';
import { immediately } from './database.ts';

/** Rows that one transaction deletes, with all that belongs to them: some 10 ms. */
const ROWS = 20;
/** Bytes of bodies that one transaction deletes. */
const BYTES = 4 * 1024 ** 2;
/** Rows that one query reads: some 5 ms. */
export const PAGE = 200;

/** Resolves when timers and requests of others have had their turn. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Does the work with a few of the items at a time. Resolves with the sum of what it resolved with. */
export async function inSteps<T>(
  items: readonly T[],
  work: (items: readonly T[]) => Promise<number>,
  bytesOf: (item: T) => number = () => 0,
): Promise<number> {
  let sum = 0;
  for (let at = 0; at < items.length;) {
    const from = at;
    for (let bytes = 0; at < items.length && at - from < ROWS && bytes < BYTES; at += 1) {
      const item = items[at];
      if (item !== undefined) bytes += bytesOf(item);
    }
    sum += await work(items.slice(from, at));
    await nextTurn();
  }
  return sum;
}

/** Deletes in a transaction of its own. Resolves with how many rows went. */
export async function deleted(db: Database, statement: RawBuilder<unknown>): Promise<number> {
  const { numAffectedRows } = await immediately(db, (connection) => statement.execute(connection));
  return Number(numAffectedRows ?? 0);
}
