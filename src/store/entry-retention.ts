// Forgets entries of other parties that are long gone: a service that shows new ids at each reading would else fill the
// store. What rolecall created, adopted, renamed or deleted is never forgotten.
import { sql } from 'kysely';
import type { Database } from './database.ts';
import { immediately } from './database.ts';

/** How many rows one transaction deletes, so that others can write in between. */
const BATCH = 2000;

/** Removes the entries that no list has shown since. Resolves with how many. */
export async function pruneEntries(db: Database, beforeMs: number): Promise<number> {
  const accounts = await db
    .selectFrom('accounts')
    .select(['name', 'remote_account_id', 'last_good_run'])
    .where('last_good_run', 'is not', null)
    .execute();
  let pruned = 0;
  for (const account of accounts) {
    for (let batch = BATCH; batch === BATCH; pruned += batch) {
      batch = await immediately(db, (connection) => pruneBatch(connection, account, beforeMs));
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
  return pruned;
}

interface AccountRow {
  readonly name: string;
  readonly remote_account_id: string | null;
  readonly last_good_run: string | null;
}

/**
 * Only what the last good lists no longer showed: `too_new` counts from when a listed entry was first seen unused.
 * What is known of a former remote account stays, since it is how its token is recognised. While it is not known
 * whether a create happened, every id that was seen before counts.
 */
async function pruneBatch(connection: Database, account: AccountRow, beforeMs: number): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from entries where account = ${account.name} and (remote_account_id, kind, remote_id) in (
      select remote_account_id, kind, remote_id from entries
      where account = ${account.name} and remote_account_id in ('', ${account.remote_account_id ?? ''})
        and created_by_run is null and adopted_by_run is null and requested_name is null and deleted_by_run is null
        and last_seen_run < ${firstRunIdAt(beforeMs)} and last_seen_run < ${account.last_good_run}
        and not exists (
          select 1 from operations join runs on runs.id = operations.run_id
          where operations.status in ('sent', 'unknown') and settled_by is null and runs.account = ${account.name})
      limit ${BATCH})`.execute(connection);
  return Number(numAffectedRows ?? 0);
}

/** The smallest id of a run that began at this moment: ids are UUIDv7, and begin with the time. */
function firstRunIdAt(epochMs: number): string {
  const time = Math.max(0, Math.trunc(epochMs)).toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000000`;
}
