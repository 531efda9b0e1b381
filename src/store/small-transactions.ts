// Splits long work on the store into small transactions and queries, so that other work and other writers wait only a few
// milliseconds.
import { type RawBuilder, sql } from 'kysely';
import { sleep } from '../platform/clock.ts';
import { turn } from '../platform/turns.ts';
import type { Database } from './tables.ts';
import { immediately } from './transactions.ts';

/** Writing this many rows takes about 20 ms. */
export const ROWS_AT_A_TIME = 2000;
/** Changing or deleting this many rows takes about 50 ms; counting them takes less. */
const RANGE = 5000;

/** Other writers wait for the transactions of at most this many rows: about 0.1 s. */
const ROWS_IN_A_ROW = 5 * ROWS_AT_A_TIME;
/** Long enough for another process or thread to take the write lock. */
const PAUSE_MS = 25;

/** Lets other work run after a transaction, and in time another writer. `written`: the rows until now. */
export async function afterRows(written: number): Promise<void> {
  await (written % ROWS_IN_A_ROW === 0 ? sleep(PAUSE_MS) : turn());
}

/**
 * Deletes the operations of the large runs among these. Otherwise the delete of a run would delete all of them in one
 * transaction.
 */
export async function deleteLargeOperations(db: Database, runs: readonly string[]): Promise<void> {
  if (runs.length === 0) return;
  const { rows } = await sql<{ id: string }>`
    select id from runs
    where id in (${sql.join(runs)})
      and exists (select 1 from operations where run_id = runs.id and seq > ${ROWS_AT_A_TIME})`.execute(db);
  for (const { id } of rows) {
    await inRanges(db, id, async (range) => {
      await immediately(db, id, (connection) =>
        sql`delete from operations where run_id = ${id} and ${range}`.execute(connection),
      );
    });
  }
}

/** Calls `work` for each part of a run's operations, with a condition on their `seq`. Other work runs in between. */
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
    if (from > 0) await turn();
    await work(sql`operations.seq between ${from + 1} and ${from + RANGE}`);
  }
}

/** The rows that one transaction deletes, with their dependent rows: about 10 ms. */
const ROWS = 20;
/** The bytes of bodies that one transaction deletes. */
const BYTES = 4 * 1024 ** 2;
/** The rows that one query reads: about 5 ms. */
export const PAGE = 200;

/** Calls `work` with a few of the items at a time. Resolves with the sum of its results. */
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
    await turn();
  }
  return sum;
}

/** Deletes in a separate transaction. Resolves with the number of deleted rows. */
export async function deleteRows(db: Database, statement: RawBuilder<unknown>): Promise<number> {
  const { numAffectedRows } = await immediately(db, 'pruning', (connection) => statement.execute(connection));
  return Number(numAffectedRows ?? 0);
}

/** Reads rows in pages, in the order of their keys. Pending timers and requests are handled between two pages. */
export async function* pages<Key, Row extends Key>(
  first: Key,
  readAfter: (key: Key) => Promise<{ readonly rows: readonly Row[] }>,
): AsyncGenerator<readonly Row[], void> {
  for (let last = first; ;) {
    const { rows } = await readAfter(last);
    await turn();
    yield rows;
    const end = rows.at(-1);
    if (end === undefined || rows.length < PAGE) return;
    last = end;
  }
}
