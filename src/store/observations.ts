// Journals what the lists showed: snapshots, the history of every entry, and the last good lists.
import { setImmediate } from 'node:timers/promises';
import { type Selectable, sql } from 'kysely';
import type { Kind, ObservedCatalog } from '../core/catalog.ts';
import { DAY_MS } from '../core/durations-and-sizes.ts';
import type { Journal, LastGood, RecordedObservation } from '../core/ports/journal.ts';
import { type EntryKey, entryKey } from '../core/usage.ts';
import {
  compressJson,
  type DigestedLists,
  digestLists,
  entriesOf,
  LISTS,
  resourcesOf,
} from './compressed-json.ts';
import { toIso, toMs } from './row-values.ts';
import { entryRows, markSeen, writeEntries } from './observed-entries.ts';
import type { Database, OperationsTable, Tables } from './tables.ts';
import { lockLost, ownRun, requireOwnRun } from './fence.ts';
import { immediately } from './transactions.ts';

type GoodSnapshot = Selectable<Tables['snapshots']> &
  Pick<Selectable<Tables['accounts']>, 'remote_account_id'>;

export function observationsJournal(db: Database): Pick<Journal, 'lastGood' | 'recordObservation'> {
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
    async lastGood(account, remoteAccountId, observed): Promise<LastGood | null> {
      // Here and below: SQLite answers at once, and the daemon keeps answering between the steps of a large run.
      await setImmediate();
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
      const { gone, created } = await changesSince(db, account, remoteAccountId, row.taken_at);
      return {
        observed: same ? observed : await readLists(db, snapshots),
        deletedSince: gone,
        createdSince: new Map([...created].filter(([key]) => !gone.has(key))),
      };
    },

    async recordObservation(observation) {
      await setImmediate();
      const lists = digestOnce(observation.observed);
      // Once: when the method begins again, the store may lack a body after all.
      const bodies = unchanged.delete(observation.observed)
        ? new Map<string, Uint8Array>()
        : await newBodies(db, lists);
      const isKnown = observation.good && bodies.size === 0 && (await markSeen(db, observation, lists));
      const rows = isKnown ? [] : entryRows(observation);
      await immediately(db, observation.account, async (connection) => {
        if (!observation.good) await requireOwnRun(connection, observation.runId);
        else if (!(await writeLastGood(connection, observation))) throw lockLost();
        if (rows.length > 0) await writeEntries(connection, observation, rows);
        await writeSnapshots(connection, observation, lists, bodies);
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

/**
 * The entries that rolecall deleted, or may have deleted, since a snapshot was taken, and those that it certainly created.
 * Deletes include the day before the snapshot, because a stale list may have shown the entries then.
 */
async function changesSince(
  db: Database,
  account: string,
  remoteAccountId: string | null,
  since: string,
): Promise<{ readonly gone: Set<EntryKey>; readonly created: Map<EntryKey, string> }> {
  const { rows } = await sql<Selectable<OperationsTable>>`
    select operations.* from runs join operations on run_id = id
    where account = ${account} and remote_account_id is not distinct from ${remoteAccountId}
      and operations.started_at >= ${toIso(toMs(since) - DAY_MS)}
      and operations.status in ('done', 'unknown', 'sent')`.execute(db);
  const namesOf = (of: typeof rows): Map<EntryKey, string> =>
    new Map(of.flatMap(({ kind, remote_id: id, name }) => (id === null ? [] : [[entryKey(kind, id), name]])));
  return {
    gone: new Set(namesOf(rows.filter(({ action }) => action === 'delete')).keys()),
    created: namesOf(
      rows.filter(
        ({ action, status, started_at: startedAt }) =>
          action === 'create' && status === 'done' && (startedAt ?? '') >= since,
      ),
    ),
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
