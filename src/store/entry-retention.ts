// Deletes the rows of entries that others created and that disappeared long ago. Without this, a service that lists new ids
// at each reading would fill the store. Entries that rolecall created, adopted, renamed or deleted are kept.
import { type RawBuilder, sql } from 'kysely';
import type { Database } from './tables.ts';
import { jsonRows } from './json-rows.ts';
import { PAGE, deleteRows, inSteps, pages } from './small-transactions.ts';

interface EntryRow {
  readonly remote_account_id: string;
  readonly kind: string;
  readonly remote_id: string;
  readonly is_prunable: number;
}

/** Deletes the entries of one account that no list has shown since. Resolves with the number of deleted rows. */
export async function pruneEntries(db: Database, account: string, beforeMs: number): Promise<number> {
  const prunable = prunableEntry(account, beforeMs);
  let pruned = 0;
  const first = { remote_account_id: '', kind: '', remote_id: '' };
  const read = (last: typeof first) =>
    sql<EntryRow>`
      select remote_account_id, kind, remote_id, case when ${prunable} then 1 else 0 end as is_prunable from entries
      where account = ${account}
        and (remote_account_id, kind, remote_id) > (${last.remote_account_id}, ${last.kind}, ${last.remote_id})
      order by remote_account_id, kind, remote_id limit ${PAGE}`.execute(db);
  for await (const rows of pages(first, read)) {
    const old = rows.filter(({ is_prunable }) => is_prunable === 1);
    // The delete checks each entry again, because a new list may show it now.
    pruned += await inSteps(old, (some) => {
      const keys = jsonRows(some.map((row) => [row.remote_account_id, row.kind, row.remote_id]));
      return deleteRows(
        db,
        sql`delete from entries where account = ${account} and (remote_account_id, kind, remote_id) in (
          select value ->> 0, value ->> 1, value ->> 2 from ${keys}) and ${prunable}`,
      );
    });
  }
  return pruned;
}

/**
 * Only entries that the last good lists did not show, because `unusedFor` counts from when a listed entry was first unused.
 * Entries of a former remote account are kept, because they identify its token. While the outcome of a create is unknown,
 * all entries are kept, because every earlier id is needed to find the new one.
 */
function prunableEntry(account: string, beforeMs: number): RawBuilder<unknown> {
  return sql`(
    created_by_run is null and adopted_by_run is null and requested_name is null and deleted_by_run is null
    and released_as is null
    and last_seen_run is not null and last_seen_run < ${firstRunIdAt(beforeMs)}
    and exists (
      select 1 from accounts where name = ${account} and last_seen_run < last_good_run
        and entries.remote_account_id in ('', coalesce(accounts.remote_account_id, '')))
    and not exists (
      select 1 from operations join runs on runs.id = operations.run_id
      where operations.status in ('sent', 'unknown') and settled_by is null and runs.account = ${account}))`;
}

/** The smallest id of a run that began at this moment. Ids are UUIDv7, which begin with the time. */
function firstRunIdAt(epochMs: number): string {
  const time = Math.max(0, Math.trunc(epochMs)).toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000000`;
}
