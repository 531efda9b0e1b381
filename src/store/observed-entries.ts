// Journals the entries that the lists showed: the rows of `entries`, the history of each entry.
import { type RawBuilder, sql } from 'kysely';
import { type Kind, KINDS } from '../core/catalog.ts';
import { nearKey } from '../core/names.ts';
import type { RecordedObservation } from '../core/ports/journal.ts';
import { type EntryKey, entryKey, idsInUse } from '../core/usage.ts';
import { jsonRows, toIso } from './row-values.ts';
import type { Database } from './tables.ts';

/** What a list shows of one entry. */
export interface EntryRow {
  readonly kind: Kind;
  readonly id: string;
  readonly name: string;
  readonly usedAt: string | null;
}

/** The entries of all lists, with the time of the lists where somebody has them. */
export function entryRows({ observed, takenAtMs }: RecordedObservation): EntryRow[] {
  const used = idsInUse(observed.resources);
  const takenAt = toIso(takenAtMs);
  return KINDS.flatMap((kind) =>
    observed[kind].map(({ id, name }): EntryRow => ({
      kind,
      id,
      name,
      usedAt: used[kind].has(id) ? takenAt : null,
    })),
  );
}

/** Uses one statement over a JSON array, because lists have thousands of entries. */
export async function writeEntries(
  connection: Database,
  { runId, account, remoteAccountId, phase }: RecordedObservation,
  entries: readonly EntryRow[],
): Promise<void> {
  const requested = await requestedNames(connection, account, remoteAccountId, entries);
  const rows = jsonRows(
    entries.map((entry) => ({ ...entry, requested: requested.get(entryKey(entry.kind, entry.id)) ?? null })),
  );
  // An entry whose name changed after a list showed it was renamed by somebody, or has the reused id of a deleted entry:
  // rolecall did not create it.
  const unlessRenamed = (column: string): RawBuilder<unknown> =>
    sql`case when entries.name = excluded.name or entries.last_seen_run is null then ${sql.ref(`entries.${column}`)} end`;
  await sql`
    insert into entries
      (account, remote_account_id, kind, remote_id, name, first_seen_run, first_seen_after, last_seen_run, last_used_at,
        requested_name)
    select ${account}, ${remoteAccountId ?? ''}, value ->> 'kind', value ->> 'id', value ->> 'name', ${runId},
      ${sql.lit(phase === 'after' ? 1 : 0)}, ${runId}, value ->> 'usedAt', value ->> 'requested'
    from ${rows} where true
    on conflict (account, remote_account_id, kind, remote_id) do update set
      -- Any other name means that somebody renamed the entry.
      requested_name = case when entries.name = excluded.name then entries.requested_name else excluded.requested_name end,
      name = excluded.name,
      created_by_run = ${unlessRenamed('created_by_run')}, adopted_by_run = ${unlessRenamed('adopted_by_run')},
      deleted_by_run = ${unlessRenamed('deleted_by_run')},
      first_seen_after = case when entries.first_seen_run is null then excluded.first_seen_after
        else entries.first_seen_after end,
      first_seen_run = coalesce(entries.first_seen_run, excluded.first_seen_run),
      last_seen_run = excluded.last_seen_run,
      last_used_at = coalesce(excluded.last_used_at, entries.last_used_at)`.execute(connection);
}

/**
 * The names that rolecall requested for entries that the service stored under a near name. The first list that shows an
 * entry that rolecall created shows it.
 */
async function requestedNames(
  connection: Database,
  account: string,
  remoteAccountId: string | null,
  listed: readonly EntryRow[],
): Promise<ReadonlyMap<EntryKey, string>> {
  const created = await connection
    .selectFrom('entries')
    .select(['kind', 'remote_id', 'name', 'requested_name'])
    .where('account', '=', account)
    .where('remote_account_id', '=', remoteAccountId ?? '')
    .where('last_seen_run', 'is', null)
    .where('created_by_run', 'is not', null)
    .execute();
  if (created.length === 0) return new Map();
  const names = new Map(listed.map(({ kind, id, name }) => [entryKey(kind, id), name]));
  return new Map(
    created.flatMap((row) => {
      const key = entryKey(row.kind, row.remote_id);
      const name = names.get(key);
      const requested = row.requested_name ?? row.name;
      return name !== undefined && name !== requested && nearKey(name) === nearKey(requested)
        ? [[key, requested] as const]
        : [];
    }),
  );
}
