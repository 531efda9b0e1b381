// Write transactions, each of which locks what it changes at its start, and small parts of long work. The store repeats a
// method while another writer holds a lock, so a method of several transactions may begin again after some of them.
import { type RawBuilder, sql } from 'kysely';
import { sleep } from '../system/clock.ts';
import { turn } from '../system/turns.ts';
import { engineOf } from './engine.ts';
import type { Database } from './tables.ts';

type Work<T> = (connection: Database) => Promise<T>;

/** Runs `work` in a transaction. `key` names what no other transaction may change meanwhile, usually the account. */
export async function immediately<T>(db: Database, key: string, work: Work<T>): Promise<T> {
  return await db
    .connection()
    .execute((connection) => engineOf(db).transact(connection, { key, isDurable: false }, work));
}

/**
 * Does the same, and resolves when this commit and all earlier ones are on the disk. Used for `sent` rows, for results and
 * for approvals.
 */
export async function durably<T>(db: Database, key: string, work: Work<T>): Promise<T> {
  return await db
    .connection()
    .execute((connection) => engineOf(db).transact(connection, { key, isDurable: true }, work));
}

/** Writing this many rows takes about 20 ms. */
export const ROWS_AT_A_TIME = 2000;
/** Changing this many rows takes about 50 ms; counting them takes less. */
const RANGE = 5000;

/** Other writers wait for the transactions of at most this many rows: about 0.1 s. */
const ROWS_IN_A_ROW = 5 * ROWS_AT_A_TIME;
/** Long enough for another process or thread to take the write lock. */
const PAUSE_MS = 25;

/** Lets other work run after a transaction, and in time another writer. `written`: the rows until now. */
export async function afterRows(written: number): Promise<void> {
  await (written % ROWS_IN_A_ROW === 0 ? sleep(PAUSE_MS) : turn());
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
