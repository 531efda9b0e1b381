// Journals what the lists showed: snapshots, the history of every entry, and the last good lists.
import { type Selectable, sql } from 'kysely';
import type { Kind, ObservedCatalog } from '../core/catalog.ts';
import type { RecordedObservation } from '../core/ports/journal.ts';
import {
  compressJson,
  type DigestedLists,
  digestLists,
  entriesOf,
  LISTS,
  resourcesOf,
} from './compressed-json.ts';
import { toIso } from './row-values.ts';
import { entryRows, markSeen, writeEntries } from './observed-entries.ts';
import type { Database, Tables } from './tables.ts';
import { isOwnRun, ownRun } from './fence.ts';

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
