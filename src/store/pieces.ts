// How large lists are read and written: in pieces, so that nobody else who wants to work or to write waits for long.
import type { RawBuilder } from 'kysely';
import { sql } from 'kysely';
import type { Database } from './database.ts';
import { immediately } from './database.ts';

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
