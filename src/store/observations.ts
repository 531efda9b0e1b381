// Journals what the lists showed: snapshots, the history of every entry, and the last good lists.
import { type Selectable, sql, type RawBuilder } from 'kysely';
import { type Kind, type ObservedCatalog, KINDS } from '../core/catalog.ts';
import type { RecordedObservation } from '../core/ports/journal.ts';
import {
  compressJson,
  type DigestedLists,
  digestLists,
  entriesOf,
  LISTS,
  resourcesOf,
} from './compressed-json.ts';
import { toIso, jsonRows } from './row-values.ts';
import type { Database, Tables } from './tables.ts';
import { isOwnRun, ownRun } from './fence.ts';
import { type EntryKey, entryKey, idsInUse } from '../core/usage.ts';

type GoodSnapshot = Selectable<Tables['snapshots']> &
  Pick<Selectable<Tables['accounts']>, 'remote_account_id'>;

/** The last good lists, and when they were read. */
export interface GoodLists {
  readonly observed: ObservedCatalog;
  readonly takenAt: string;
}

/** Writes what was observed, within a transaction; false when the run may not write any more. */
export type WriteObservation = (connection: Database) => Promise<boolean>;

export interface Observations {
  /** Compresses what the store does not have yet, before the transaction. */
  prepare(observation: RecordedObservation): Promise<WriteObservation>;
  /** The account's last good lists: `observed` itself when they are the same; null when there are none. */
  lastGoodLists(
    account: string,
    remoteAccountId: string | null,
    observed: ObservedCatalog,
  ): Promise<GoodLists | null>;
}

export function observationsJournal(db: Database): Observations {
  // The lists of an unchanged account, whose bodies the store has.
  const unchanged = new WeakSet<ObservedCatalog>();
  // Lists are first compared and later written, but their JSON and digests are made only once.
  const digested = new WeakMap<ObservedCatalog, DigestedLists>();
  function digestOnce(observed: ObservedCatalog): DigestedLists {
    const lists = digested.get(observed) ?? digestLists(observed);
    digested.set(observed, lists);
    return lists;
  }

  return {
    async lastGoodLists(account, remoteAccountId, observed) {
      const { rows: snapshots } = await sql<GoodSnapshot>`
        select snapshots.*, remote_account_id
        from accounts join snapshots on run_id = last_good_run and phase = last_good_phase
        where name = ${account}`.execute(db);
      const [row] = snapshots;
      if (row === undefined) return null;
      if (row.remote_account_id !== null && row.remote_account_id !== remoteAccountId) return null;
      const lists = digestOnce(observed);
      const same = snapshots.every(({ kind, digest }) => lists[kind].digest === digest);
      if (same) unchanged.add(observed);
      return { observed: same ? observed : await readLists(db, snapshots), takenAt: row.taken_at };
    },

    async prepare(observation) {
      const lists = digestOnce(observation.observed);
      // Once: when the method begins again, the store may lack a body after all.
      const bodies = unchanged.delete(observation.observed)
        ? new Map<string, Uint8Array>()
        : await newBodies(db, lists);
      return async (connection) => {
        const { good, runId } = observation;
        const isKnown = good && bodies.size === 0 && (await markSeen(connection, observation, lists));
        const mayWrite = good
          ? await writeLastGood(connection, observation)
          : await isOwnRun(connection, runId);
        if (!mayWrite) return false;
        if (!isKnown) await writeEntries(connection, observation, entryRows(observation));
        await writeSnapshots(connection, observation, lists, bodies);
        return true;
      };
    },
  };
}

async function readLists(
  db: Database,
  snapshots: readonly { kind: Kind | 'resource'; digest: string }[],
): Promise<ObservedCatalog> {
  const bodies = await db
    .selectFrom('snapshot_bodies')
    .selectAll()
    .where(
      'digest',
      'in',
      snapshots.map(({ digest }) => digest),
    )
    .execute();
  const body = (kind: Kind | 'resource'): Uint8Array | undefined => {
    const digest = snapshots.find((snapshot) => snapshot.kind === kind)?.digest;
    return bodies.find((candidate) => candidate.digest === digest)?.body;
  };
  const [skill, role, resource] = LISTS.map(body);
  return {
    skill: skill === undefined ? [] : entriesOf(skill),
    role: role === undefined ? [] : entriesOf(role),
    resources: resource === undefined ? [] : resourcesOf(resource),
    warnings: [],
  };
}

async function writeSnapshots(
  connection: Database,
  { runId, account, phase, takenAtMs }: RecordedObservation,
  lists: DigestedLists,
  bodies: ReadonlyMap<string, Uint8Array>,
): Promise<void> {
  for (const [digest, body] of bodies) {
    await connection
      .insertInto('snapshot_bodies')
      .values({ digest, body })
      .onConflict((conflict) => conflict.column('digest').doNothing())
      .execute();
  }
  // Where a body was pruned meanwhile, this violates its reference, and the store calls the method again.
  const taken_at = toIso(takenAtMs);
  await connection
    .insertInto('snapshots')
    .values(
      LISTS.map((kind) => {
        const { digest, entries } = lists[kind];
        return { run_id: runId, account, phase, kind, taken_at, digest, entries };
      }),
    )
    .execute();
}

/** The bodies that no snapshot has yet, compressed before the transaction. */
async function newBodies(db: Database, lists: DigestedLists): Promise<ReadonlyMap<string, Uint8Array>> {
  const digests = LISTS.map((kind) => lists[kind].digest);
  const { rows } = await sql<{ digest: string }>`
    select digest from snapshot_bodies where digest in (${sql.join(digests)})`.execute(db);
  const known = new Set(rows.map(({ digest }) => digest));
  const bodies = new Map<string, Uint8Array>();
  for (const { digest, json } of LISTS.map((kind) => lists[kind]))
    if (!known.has(digest)) bodies.set(digest, compressJson(json));
  return bodies;
}

/** Resolves with false when the run may not write any more. */
async function writeLastGood(
  connection: Database,
  { runId, account, phase }: RecordedObservation,
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update accounts set last_good_run = ${runId}, last_good_phase = ${phase}
    where name = ${account} and exists (${ownRun(connection, runId)})`.execute(connection);
  return (numAffectedRows ?? 0n) > 0n;
}

/** What a list shows of one entry. */
interface EntryRow {
  readonly kind: Kind;
  readonly id: string;
  readonly name: string;
  readonly usedAt: string | null;
}

/** The entries of all lists, with the time of the lists where somebody has them, or may have them. */
function entryRows({ observed, takenAtMs, missingUse }: RecordedObservation): EntryRow[] {
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
async function markSeen(
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
async function writeEntries(
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
