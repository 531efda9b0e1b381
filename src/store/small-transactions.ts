// How large lists are read and written: in pieces, so that nobody else who wants to work or to write waits for long.
import { type RawBuilder, sql } from 'kysely';
import type { Database } from './tables.ts';
import { immediately } from './transactions.ts';

/** So many rows are written in some 20 ms. */
export const ROWS_AT_A_TIME = 2000;
/** So many are changed or deleted in some 50 ms, and counted in less. */
const RANGE = 5000;

/** Long enough for another process or thread that waits for its turn to write. */
export const PAUSE_MS = 25;

/** Deletes the operations of the large ones of these runs before the runs, with which they would be deleted at once. */
export async function deleteLargeOperations(db: Database, runs: readonly string[]): Promise<void> {
  const { rows } = await sql<{ id: string }>`
    select id from runs
    where id in (${sql.join(runs)})
      and exists (select 1 from operations where run_id = runs.id and seq > ${ROWS_AT_A_TIME})`.execute(db);
  for (const { id } of rows) {
    await inRanges(db, id, async (range) => {
      await immediately(db, (connection) =>
        sql`delete from operations where run_id = ${id} and ${range}`.execute(connection),
      );
    });
  }
}

/** Works on a run's operations in pieces, each given as a condition on their `seq`; others work in between. */
export async function inRanges(
  db: Database,
  runId: string,
  work: (range: RawBuilder<unknown>) => Promise<void>,
): Promise<void> {
  const row = await db
    .selectFrom('operations')
    .select(({ fn }) => fn.max<number | null>('seq').as('last'))
    .where('run_id', '=', runId)
    .executeTakeFirst();
  const last = row?.last ?? 0;
  for (let from = 0; from < last; from += RANGE) {
    if (from > 0) await new Promise((resolve) => setImmediate(resolve));
    await work(sql`operations.seq between ${from + 1} and ${from + RANGE}`);
  }
}

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
