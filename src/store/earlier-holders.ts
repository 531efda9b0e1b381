// Who had the entries that a run deleted, by the lists of earlier runs. The run's own list may have been wrong: people whose
// assignments were missing from it have lost the entry all the same.
import { sql } from 'kysely';
import type { RunDetail } from '../core/ports/journal-reader.ts';
import { compareCodePoints } from '../core/names.ts';
import { mayHaveDeleted } from '../core/restoration.ts';
import { type EntryKey, entryKey, usageOf } from '../core/usage.ts';
import { resourcesOf } from './compressed-json.ts';
import type { Database } from './tables.ts';

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
    const usage = await usageOfList(db, digest);
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

/** Empty when the list is no longer stored. */
async function usageOfList(db: Database, digest: string): Promise<ReturnType<typeof usageOf>> {
  const bodies = db.selectFrom('snapshot_bodies').select('body').where('digest', '=', digest);
  const row = await bodies.executeTakeFirst();
  return usageOf(row === undefined ? [] : resourcesOf(row.body));
}
