// Reads snapshots: their list, the stored lists themselves, and who had an entry by earlier ones.
import { NOT_SHOWN_YET } from '../core/plan.ts';
import { sql } from 'kysely';
import type { Kind } from '../core/catalog.ts';
import type { SnapshotFilter, SnapshotReader, RunDetail } from '../core/ports/journal-reader.ts';
import type { SnapshotRecord } from '../core/command-schemas.ts';
import { entriesOf, LISTS, resourcesOf } from './compressed-json.ts';
import { isOf, jsonList, toIso } from './row-values.ts';
import type { Database } from './tables.ts';
import { compareCodePoints } from '../core/names.ts';
import { mayHaveDeleted } from '../core/restoration.ts';
import { type EntryKey, entryKey, usageOf } from '../core/usage.ts';

export function snapshotReader(db: Database): SnapshotReader {
  return {
    async snapshots(filter) {
      const heads = await snapshotHeads(db, filter);
      const runIds = jsonList(heads.map(({ runId }) => runId));
      const rows = await db
        .selectFrom('snapshots')
        .select(['run_id', 'phase', 'kind', 'entries', 'digest'])
        .where('run_id', 'in', runIds)
        .execute();
      return heads.map((head): SnapshotRecord => {
        const own = rows.filter(({ run_id, phase }) => run_id === head.runId && phase === head.phase);
        const sorted = LISTS.flatMap((wanted) => own.filter(({ kind }) => kind === wanted));
        return { ...head, lists: sorted.map(({ kind, entries, digest }) => ({ kind, entries, digest })) };
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
      'snapshots.run_id as runId',
      'snapshots.phase',
      'snapshots.taken_at as takenAt',
      'runs.account',
      'runs.remote_account_id as remoteAccountId',
      'runs.status as runStatus',
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

/** The compressed list; null when it, or the snapshot, is no longer stored. A kind that the snapshot lacks is empty. */
async function readBody(
  db: Database,
  { lists }: SnapshotRecord,
  wanted: Kind | 'resource',
): Promise<Uint8Array | null> {
  const digest = lists.find(({ kind }) => kind === wanted)?.digest;
  return digest === undefined ? null : await storedBody(db, digest);
}

/** null when the list is no longer stored. */
async function storedBody(db: Database, digest: string): Promise<Uint8Array | null> {
  const bodies = db.selectFrom('snapshot_bodies').select('body').where('digest', '=', digest);
  return (await bodies.executeTakeFirst())?.body ?? null;
}

type EarlierHolders = NonNullable<RunDetail['earlierHolders']>;

/**
 * For each delete that was sent, the newest earlier list that shows people with the entry who do not have it by the run's
 * own list. Goes back through the different lists of people until it has found them for every entry that a list ever showed
 * in use, or to the first list.
 */
export async function readEarlierHolders(
  db: Database,
  { run, operations }: Pick<RunDetail, 'run' | 'operations'>,
): Promise<EarlierHolders> {
  const deletes = operations.flatMap((operation) =>
    mayHaveDeleted(operation) && operation.remoteId !== null
      ? [{ seq: operation.seq, key: entryKey(operation.kind, operation.remoteId) }]
      : [],
  );
  if (deletes.length === 0) return [];
  const used = await everUsed(db, run);
  const open = new Set(deletes.flatMap(({ key }) => (used.has(key) ? key : [])));
  const own = new Map<EntryKey, ReadonlySet<string>>();
  const found = new Map<EntryKey, Omit<EarlierHolders[number], 'seq'>>();
  for (const { digest, taken_at: until, is_own: isOwn } of open.size === 0 ? [] : await listsUntil(db, run)) {
    if (open.size === 0) break;
    const body = await storedBody(db, digest);
    const usage = usageOf(body === null ? [] : resourcesOf(body));
    for (const key of open) {
      const people = usage.get(key) ?? [];
      if (isOwn === 1) own.set(key, new Set(people));
      const others = people.filter((id) => own.get(key)?.has(id) !== true);
      if (isOwn === 1 || others.length === 0) continue;
      found.set(key, { until, people: others.toSorted(compareCodePoints) });
      open.delete(key);
    }
  }
  return deletes.flatMap(({ seq, key }) => {
    const holders = found.get(key);
    return holders === undefined ? [] : [{ seq, ...holders }];
  });
}

/** The entries of the account that a list ever showed in use. */
async function everUsed(
  db: Database,
  { account, remoteAccountId }: RunDetail['run'],
): Promise<ReadonlySet<EntryKey>> {
  const rows = await db
    .selectFrom('entries')
    .select(['kind', 'remote_id'])
    .where('account', '=', account)
    .where('remote_account_id', '=', remoteAccountId ?? '')
    .where('last_used_at', 'is not', null)
    .execute();
  return new Set(rows.map((row) => entryKey(row.kind, row.remote_id)));
}

interface PeopleList {
  readonly digest: string;
  /** When a list with this digest was last read. */
  readonly taken_at: string;
  readonly is_own: 0 | 1;
}

/** The different lists of people of the run itself before it wrote, and of the runs before it, newest first. */
async function listsUntil(db: Database, run: RunDetail['run']): Promise<readonly PeopleList[]> {
  const { rows } = await sql<PeopleList>`
    select digest, max(snapshots.taken_at) as taken_at, case when runs.id = ${run.id} then 1 else 0 end as is_own
    from runs join snapshots on snapshots.run_id = runs.id
    where runs.account = ${run.account} and runs.remote_account_id is not distinct from ${run.remoteAccountId}
      and snapshots.kind = 'resource'
      and (runs.started_at, runs.id) <= (${run.startedAt}, ${run.id})
      and (runs.id != ${run.id} or snapshots.phase = 'before')
    group by digest, is_own
    order by is_own desc, taken_at desc`.execute(db);
  return rows;
}
