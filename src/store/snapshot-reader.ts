// Reads snapshots: their list, and the stored lists themselves.
import { NOT_SHOWN_YET } from '../core/plan.ts';
import { sql } from 'kysely';
import type { Kind } from '../core/catalog.ts';
import type { SnapshotFilter, SnapshotReader, SnapshotRecord } from '../core/ports/journal-reader.ts';
import { entriesOf, LISTS, resourcesOf } from './compressed-json.ts';
import { isOf, jsonList, toIso } from './row-values.ts';
import type { Database } from './tables.ts';

export function snapshotReader(db: Database): SnapshotReader {
  return {
    async snapshots(filter) {
      const heads = await snapshotHeads(db, filter);
      const lists = await listsOf(
        db,
        heads.map(({ run_id: runId }) => runId),
      );
      return heads.map((head): SnapshotRecord => {
        const own = lists.filter(({ run_id, phase }) => run_id === head.run_id && phase === head.phase);
        return {
          id: head.id,
          account: head.account,
          remoteAccountId: head.remote_account_id,
          runId: head.run_id,
          runStatus: head.status,
          phase: head.phase,
          takenAt: head.taken_at,
          lists: LISTS.flatMap((kind) =>
            own.flatMap((list) =>
              list.kind === kind ? [{ kind, entries: list.entries, digest: list.digest }] : [],
            ),
          ),
        };
      });
    },

    async snapshotEntries(snapshot) {
      const [skill, role] = await Promise.all([
        readBody(db, snapshot, 'skill'),
        readBody(db, snapshot, 'role'),
      ]);
      return skill === null || role === null ? null : { skill: entriesOf(skill), role: entriesOf(role) };
    },

    async snapshotPeople(snapshot) {
      const body = await readBody(db, snapshot, 'resource');
      return body === null ? null : resourcesOf(body);
    },
  };
}

/**
 * One row for each snapshot. Reads runs in the order of their index and stops at the limit, since the table of snapshots has
 * no index by account or time.
 */
async function snapshotHeads(db: Database, { account, runId, id, untilMs, isGood, limit }: SnapshotFilter) {
  let query = db
    .selectFrom('runs')
    .innerJoin('snapshots', 'snapshots.run_id', 'runs.id')
    .select([
      'snapshots.id',
      'snapshots.run_id',
      'snapshots.phase',
      'snapshots.taken_at',
      'runs.account',
      'runs.remote_account_id',
      'runs.status',
    ])
    // Every snapshot has this list, which is written first and so has the smallest id.
    .where('snapshots.kind', '=', LISTS[0])
    .orderBy('runs.started_at', 'desc')
    .orderBy('runs.id', 'desc')
    // `before` follows `after`, which is newer.
    .orderBy('snapshots.phase', 'asc')
    .limit(limit);
  if (account !== undefined) query = query.where(isOf('runs.account', account));
  if (runId !== undefined) query = query.where('runs.id', '=', runId);
  if (id !== undefined) {
    query = query.where(
      sql<boolean>`(snapshots.run_id, snapshots.phase) = (select run_id, phase from snapshots where id = ${id})`,
    );
  }
  if (untilMs !== undefined) {
    query = query
      .where('runs.started_at', '<=', toIso(untilMs))
      .where('snapshots.taken_at', '<=', toIso(untilMs));
  }
  if (isGood === true) {
    // A guard stops a run because its lists are implausible. A stale list of the phase `after` leads to a warning.
    query = query
      .where('runs.status', '!=', 'blocked')
      .where(
        sql<boolean>`not (snapshots.phase = 'after' and coalesce(runs.warnings, '') like ${`%"code":"${NOT_SHOWN_YET}"%`})`,
      );
  }
  return await query.execute();
}

async function listsOf(db: Database, runIds: readonly string[]) {
  return await db
    .selectFrom('snapshots')
    .select(['run_id', 'phase', 'kind', 'entries', 'digest'])
    .where('run_id', 'in', jsonList(runIds))
    .execute();
}

/** The compressed list; null when it, or the snapshot, is no longer stored. A kind that the snapshot lacks is empty. */
async function readBody(
  db: Database,
  { lists }: SnapshotRecord,
  wanted: Kind | 'resource',
): Promise<Uint8Array | null> {
  const digest = lists.find(({ kind }) => kind === wanted)?.digest;
  if (digest === undefined) return null;
  const row = await db
    .selectFrom('snapshot_bodies')
    .select('body')
    .where('digest', '=', digest)
    .executeTakeFirst();
  return row?.body ?? null;
}
