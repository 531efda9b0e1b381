// Journals the entries that the lists showed: the rows of `entries`, the history of each entry.
import { type RawBuilder, type Selectable, sql } from 'kysely';
import { type Kind, KINDS } from '../core/catalog.ts';
import type { RecordedObservation } from '../core/ports/journal.ts';
import { type EntryKey, entryKey, idsInUse } from '../core/usage.ts';
import type { DigestedLists } from './compressed-json.ts';
import { ownRun } from './fence.ts';
import { jsonRows, toIso } from './row-values.ts';
import type { Database, Tables } from './tables.ts';

/** What a list shows of one entry. */
export interface EntryRow {
  readonly kind: Kind;
  readonly id: string;
  readonly name: string;
  readonly usedAt: string | null;
}

/** The entries of all lists, with the time of the lists where somebody has them, or may have them. */
export function entryRows({ observed, takenAtMs, missingUse }: RecordedObservation): EntryRow[] {
  const used = idsInUse(observed.resources);
  const takenAt = toIso(takenAtMs);
  return KINDS.flatMap((kind) =>
    observed[kind].map(({ id, name }): EntryRow => {
      const usedAt = used[kind].has(id) || missingUse.has(entryKey(kind, id)) ? takenAt : null;
      return { kind, id, name, usedAt };
    }),
  );
}

/**
 * Marks all entries as seen by this run, and those that somebody has as used. Only for lists that equal those of the last good
 * snapshot; otherwise, or when other runs have read other lists since, the result is false, and each entry must be written.
 */
export async function markSeen(
  db: Database,
  { runId, account, remoteAccountId, observed, takenAtMs }: RecordedObservation,
  { skill, role, resource }: DigestedLists,
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    with good as (
      select run_id, max(taken_at) as taken_at from snapshots
      where (run_id, phase) = (select last_good_run, last_good_phase from accounts where name = ${account})
        and digest = case kind when 'skill' then ${skill.digest} when 'role' then ${role.digest} else ${resource.digest} end
      group by run_id having count(*) = 3),
    -- After a run that deleted something, its last lists lack entries that it had seen before.
    seen as (
      select good.taken_at, entries.last_seen_run from entries join good on good.run_id = entries.last_seen_run
      where account = ${account} and remote_account_id = ${remoteAccountId ?? ''}
      group by good.taken_at, entries.last_seen_run having count(*) = ${observed.skill.length + observed.role.length})
    update entries set last_seen_run = ${runId},
      last_used_at = case when last_used_at = seen.taken_at then ${toIso(takenAtMs)} else last_used_at end
    from seen
    where account = ${account} and remote_account_id = ${remoteAccountId ?? ''}
      and entries.last_seen_run = seen.last_seen_run and exists (${ownRun(db, runId)})`.execute(db);
  return (numAffectedRows ?? 0n) > 0n;
}

/** Uses one statement over a JSON array, because lists have thousands of entries. */
export async function writeEntries(
  connection: Database,
  { runId, account, remoteAccountId, phase, good }: RecordedObservation,
  entries: readonly EntryRow[],
): Promise<void> {
  if (entries.length === 0) return;
  const requested = await requestedNames(connection, account, remoteAccountId, entries);
  const rows = jsonRows(
    entries.map((entry) => ({ ...entry, requested: requested.get(entryKey(entry.kind, entry.id)) ?? null })),
  );
  // Lists that are not good may be garbled: they rename nothing that a list has shown before.
  const name = good
    ? sql`excluded.name`
    : sql`case when entries.last_seen_run is null then excluded.name else entries.name end`;
  // An entry whose name changed after a list showed it was renamed by somebody, or has the reused id of a deleted entry:
  // rolecall did not create it.
  const unlessRenamed = (column: string): RawBuilder<unknown> =>
    sql`case when entries.name = ${name} or entries.last_seen_run is null then ${sql.ref(`entries.${column}`)} end`;
  await sql`
    insert into entries
      (account, remote_account_id, kind, remote_id, name, first_seen_run, first_seen_after, last_seen_run, last_used_at,
        requested_name)
    select ${account}, ${remoteAccountId ?? ''}, value ->> 'kind', value ->> 'id', value ->> 'name', ${runId},
      ${sql.lit(phase === 'after' ? 1 : 0)}, ${runId}, value ->> 'usedAt', value ->> 'requested'
    from ${rows} where true
    on conflict (account, remote_account_id, kind, remote_id) do update set
      -- Any other name means that somebody renamed the entry.
      requested_name = case when entries.name = ${name} then entries.requested_name else excluded.requested_name end,
      name = ${name},
      created_by_run = ${unlessRenamed('created_by_run')}, adopted_by_run = ${unlessRenamed('adopted_by_run')},
      deleted_by_run = ${unlessRenamed('deleted_by_run')},
      first_seen_after = case when entries.first_seen_run is null then excluded.first_seen_after
        else entries.first_seen_after end,
      first_seen_run = coalesce(entries.first_seen_run, excluded.first_seen_run),
      last_seen_run = excluded.last_seen_run,
      last_used_at = coalesce(excluded.last_used_at, entries.last_used_at)`.execute(connection);
}

/**
 * The names that rolecall requested for entries that the service stored under another name. The first list that shows an
 * entry that rolecall created shows it.
 */
async function requestedNames(
  connection: Database,
  account: string,
  remoteAccountId: string | null,
  listed: readonly EntryRow[],
): Promise<ReadonlyMap<EntryKey, string>> {
  const { rows: created } = await sql<
    Pick<Selectable<Tables['entries']>, 'kind' | 'remote_id' | 'name' | 'requested_name'>
  >`
    select kind, remote_id, name, requested_name from entries
    where account = ${account} and remote_account_id = ${remoteAccountId ?? ''}
      and last_seen_run is null and created_by_run is not null`.execute(connection);
  if (created.length === 0) return new Map();
  const names = new Map(listed.map(({ kind, id, name }) => [entryKey(kind, id), name]));
  return new Map(
    created.flatMap((row) => {
      const key = entryKey(row.kind, row.remote_id);
      const name = names.get(key);
      const requested = row.requested_name ?? row.name;
      return name !== undefined && name !== requested ? [[key, requested] as const] : [];
    }),
  );
}
