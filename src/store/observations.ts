// Journals what the lists showed: snapshots, the history of every entry, and the last good lists.
import { sql } from 'kysely';
import { type Kind, KINDS, type ObservedCatalog } from '../core/catalog.ts';
import { DAY_MS } from '../core/durations-and-sizes.ts';
import type { Journal, LastGood, RecordedObservation } from '../core/ports.ts';
import { type EntryKey, entryKey, holdingsOf, type MissingHolding, usageOf } from '../core/usage.ts';
import { nearKey } from '../core/names.ts';
import { sleep } from '../platform/clock.ts';
import {
  compressJson,
  type DigestedLists,
  digestLists,
  entriesOf,
  LISTS,
  resourcesOf,
} from './compressed-json.ts';
import { jsonRows } from './json-rows.ts';
import type { Database } from './tables.ts';
import { requireOwnRun } from './locks.ts';
import { immediately } from './transactions.ts';
import { PAUSE_MS, ROWS_AT_A_TIME } from './small-transactions.ts';
import { toIso, toMs } from './times.ts';

export function observationsJournal(db: Database): Pick<Journal, 'lastGood' | 'recordObservation'> {
  // Lists are first compared and later written, but their JSON and digests are made only once.
  const digested = new WeakMap<ObservedCatalog, DigestedLists>();
  function digestOnce(observed: ObservedCatalog): DigestedLists {
    const lists = digested.get(observed) ?? digestLists(observed);
    digested.set(observed, lists);
    return lists;
  }

  return {
    async lastGood(account, remoteAccountId, observed): Promise<LastGood | null> {
      const row = await db
        .selectFrom('accounts')
        .select(['last_good_run', 'last_good_phase', 'remote_account_id'])
        .where('name', '=', account)
        .executeTakeFirst();
      if (typeof row?.last_good_run !== 'string' || row.last_good_phase === null) return null;
      if (row.remote_account_id !== null && row.remote_account_id !== remoteAccountId) return null;
      const snapshots = await db
        .selectFrom('snapshots')
        .select(['kind', 'digest', 'taken_at'])
        .where('run_id', '=', row.last_good_run)
        .where('phase', '=', row.last_good_phase === 'after' ? 'after' : 'before')
        .execute();
      const lists = digestOnce(observed);
      const same = snapshots.every(({ kind, digest }) => lists[kind].digest === digest);
      const takenAt = snapshots[0]?.taken_at;
      if (takenAt === undefined) return null;
      const gone = await deletedSince(db, account, remoteAccountId, takenAt);
      const created = await createdSince(db, account, remoteAccountId, takenAt);
      return {
        observed: same ? observed : await readLists(db, snapshots),
        missing: await readMissing(db, account),
        deletedSince: gone,
        createdSince: new Set([...created].filter((key) => !gone.has(key))),
      };
    },

    async recordObservation(observation) {
      const lists = digestOnce(observation.observed);
      const bodies = await newBodies(db, lists);
      const rows = entryRows(observation);
      // Most rows of a large list are written first, in several transactions, so that others can write in between. If the
      // process is killed, the written rows are still true: the entries were listed.
      for (let at = 0; at + ROWS_AT_A_TIME < rows.length; at += ROWS_AT_A_TIME) {
        const piece = rows.slice(at, at + ROWS_AT_A_TIME);
        await immediately(db, observation.account, async (connection) => {
          await requireOwnRun(connection, observation.runId);
          await writeEntries(connection, observation, piece);
        });
        await sleep(PAUSE_MS);
      }
      const written = Math.floor(Math.max(0, rows.length - 1) / ROWS_AT_A_TIME) * ROWS_AT_A_TIME;
      await immediately(db, observation.account, async (connection) => {
        await requireOwnRun(connection, observation.runId);
        await writeSnapshots(connection, observation, lists, bodies);
        await writeEntries(connection, observation, rows.slice(written));
        if (observation.good) await writeLastGood(connection, observation);
      });
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

async function readMissing(db: Database, account: string): Promise<MissingHolding[]> {
  const rows = await db.selectFrom('missing_holdings').selectAll().where('account', '=', account).execute();
  return rows.map((row) => ({
    resourceId: row.resource_id,
    kind: row.kind,
    remoteId: row.remote_id,
    sinceMs: toMs(row.since),
  }));
}

/**
 * The entries that rolecall deleted, or may have deleted, since a snapshot was taken. Includes the day before the snapshot,
 * because a stale list may have shown the entries then.
 */
async function deletedSince(
  db: Database,
  account: string,
  remoteAccountId: string | null,
  since: string,
): Promise<Set<EntryKey>> {
  const rows = await operationsOf(db, account, remoteAccountId, toIso(toMs(since) - DAY_MS))
    .where('operations.action', '=', 'delete')
    .where('operations.status', 'in', ['done', 'unknown', 'sent'])
    .execute();
  return keysOf(rows);
}

/** The entries that rolecall has certainly created since a snapshot was taken. */
async function createdSince(
  db: Database,
  account: string,
  remoteAccountId: string | null,
  since: string,
): Promise<Set<EntryKey>> {
  const rows = await operationsOf(db, account, remoteAccountId, since)
    // No run takes a day, so older runs need not be read.
    .where('runs.started_at', '>=', toIso(toMs(since) - DAY_MS))
    .where('operations.action', '=', 'create')
    .where('operations.status', '=', 'done')
    .execute();
  return keysOf(rows);
}

/** The operations of an account's runs that were sent since a moment. */
function operationsOf(db: Database, account: string, remoteAccountId: string | null, since: string) {
  return db
    .selectFrom('operations')
    .innerJoin('runs', 'runs.id', 'operations.run_id')
    .select(['operations.kind', 'operations.remote_id'])
    .where('runs.account', '=', account)
    .where('runs.remote_account_id', 'is not distinct from', remoteAccountId)
    .where('operations.started_at', '>=', since);
}

function keysOf(rows: readonly { readonly kind: Kind; readonly remote_id: string | null }[]): Set<EntryKey> {
  return new Set(rows.flatMap((row) => (row.remote_id === null ? [] : [entryKey(row.kind, row.remote_id)])));
}

async function writeSnapshots(
  connection: Database,
  { runId, account, phase, takenAtMs }: RecordedObservation,
  lists: DigestedLists,
  bodies: ReadonlyMap<string, Uint8Array>,
): Promise<void> {
  for (const kind of LISTS) {
    const { digest, json, entries } = lists[kind];
    const known = await connection
      .selectFrom('snapshot_bodies')
      .select('digest')
      .where('digest', '=', digest)
      .executeTakeFirst();
    if (known === undefined) {
      await connection
        .insertInto('snapshot_bodies')
        .values({ digest, body: bodies.get(digest) ?? compressJson(json) })
        .onConflict((conflict) => conflict.column('digest').doNothing())
        .execute();
    }
    await connection
      .insertInto('snapshots')
      .values({ run_id: runId, account, phase, kind, taken_at: toIso(takenAtMs), digest, entries })
      .execute();
  }
}

/** The bodies that no snapshot has yet, compressed before the transaction. */
async function newBodies(db: Database, lists: DigestedLists): Promise<ReadonlyMap<string, Uint8Array>> {
  const digests = LISTS.map((kind) => lists[kind].digest);
  const rows = await db
    .selectFrom('snapshot_bodies')
    .select('digest')
    .where('digest', 'in', digests)
    .execute();
  const known = new Set(rows.map(({ digest }) => digest));
  return new Map(
    LISTS.map((kind) => lists[kind])
      .filter(({ digest }) => !known.has(digest))
      .map(({ digest, json }) => [digest, compressJson(json)]),
  );
}

type EntryRow = readonly [kind: Kind, id: string, name: string, unusedSince: string | null];

function entryRows({ observed, missing, takenAtMs }: RecordedObservation): EntryRow[] {
  const used = usageOf([...observed.resources.flatMap(holdingsOf), ...missing]);
  const takenAt = toIso(takenAtMs);
  return KINDS.flatMap((kind) =>
    observed[kind].map((entry): EntryRow => [
      kind,
      entry.id,
      entry.name,
      used.has(entryKey(kind, entry.id)) ? null : takenAt,
    ]),
  );
}

/** Uses one statement over a JSON array, because lists have thousands of entries. */
async function writeEntries(
  connection: Database,
  { runId, account, remoteAccountId, phase }: RecordedObservation,
  entries: readonly EntryRow[],
): Promise<void> {
  const requested = await requestedNames(connection, account, remoteAccountId, entries);
  const rows = jsonRows(
    entries.map((entry) => [...entry, requested.get(entryKey(entry[0], entry[1])) ?? null]),
  );
  await sql`
    insert into entries
      (account, remote_account_id, kind, remote_id, name, first_seen_run, first_seen_after, last_seen_run, unused_since,
        requested_name)
    select ${account}, ${remoteAccountId ?? ''}, value ->> 0, value ->> 1, value ->> 2, ${runId},
      ${sql.lit(phase === 'after' ? 1 : 0)}, ${runId}, value ->> 3, value ->> 4
    from ${rows} where true
    on conflict (account, remote_account_id, kind, remote_id) do update set
      -- Any other name means that somebody renamed the entry.
      requested_name = case when entries.name = excluded.name then entries.requested_name else excluded.requested_name end,
      name = excluded.name,
      first_seen_after = case when entries.first_seen_run is null then excluded.first_seen_after
        else entries.first_seen_after end,
      first_seen_run = coalesce(entries.first_seen_run, excluded.first_seen_run),
      last_seen_run = excluded.last_seen_run,
      unused_since = case when excluded.unused_since is not null
        then coalesce(entries.unused_since, excluded.unused_since) end`.execute(connection);
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
  const names = new Map(listed.map(([kind, id, name]) => [entryKey(kind, id), name]));
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

async function writeLastGood(
  connection: Database,
  { runId, account, phase, missing }: RecordedObservation,
): Promise<void> {
  await connection
    .updateTable('accounts')
    .set({ last_good_run: runId, last_good_phase: phase })
    .where('name', '=', account)
    .execute();
  await connection.deleteFrom('missing_holdings').where('account', '=', account).execute();
  const rows = jsonRows(
    missing.map((holding) => [holding.resourceId, holding.kind, holding.remoteId, toIso(holding.sinceMs)]),
  );
  await sql`
    insert into missing_holdings (account, resource_id, kind, remote_id, since)
    select ${account}, value ->> 0, value ->> 1, value ->> 2, value ->> 3 from ${rows} where true
    on conflict do nothing`.execute(connection);
}
