// The facts of an account that its lists do not show: recent operations, ownership, names that the service changed.
import { setImmediate } from 'node:timers/promises';
import { type Selectable, sql } from 'kysely';
import { KINDS } from '../core/catalog.ts';
import { DAY_MS } from '../core/durations-and-sizes.ts';
import { kindNameKey, NAME_REFUSALS, type RecentOperation } from '../core/history.ts';
import type { SentCommit } from '../core/ports/locks.ts';
import type { Released } from '../core/allowed-deletes.ts';
import type { RunStatus } from '../core/journal.ts';
import type { AppliedRun, Journal, LastGood, UnsettledOperation } from '../core/ports/journal.ts';
import type { Observations } from './observations.ts';
import { type EntryKey, entryKey } from '../core/usage.ts';
import type { Database, OperationsTable, Tables } from './tables.ts';
import { immediately } from './engine.ts';
import { jsonList, jsonRows, toIso, toMs } from './row-values.ts';
import { ownRun } from './fence.ts';

export function accountHistoryJournal(db: Database, { lastGoodLists }: Pick<Observations, 'lastGoodLists'>) {
  return {
    async knownIds(account, remoteAccountId, upToRun) {
      const { rows } = await sql<KnownRow>`
        select kind, remote_id, created_by_run, first_seen_run, first_seen_after from entries
        where account = ${account} and remote_account_id = ${remoteAccountId ?? ''}`.execute(db);
      return knownWhen(rows, upToRun);
    },

    async accountHistory(account, remoteAccountId, observed, nowMs) {
      // SQLite answers at once, and the daemon keeps answering before a large plan is made.
      await setImmediate();
      const good = await lastGoodLists(account, remoteAccountId, observed);
      const { rows } = await sql<EntryRow>`
        select * from entries
        where account = ${account} and remote_account_id = ${remoteAccountId ?? ''}`.execute(db);
      const owned = rows.filter((row) => row.created_by_run !== null || row.adopted_by_run !== null);
      const goodSince = good === null ? null : toIso(toMs(good.takenAt) - DAY_MS);
      const recentSince = toIso(nowMs - DAY_MS);
      const operations = await sentOperations(db, account, remoteAccountId, { goodSince, recentSince });
      const exact = operations.filter((row) => row.remote_account_id === remoteAccountId);
      const recent = exact
        .filter((row) => row.status !== 'sent' && (row.finished_at ?? '') > recentSince)
        .map(toRecent);
      const doubtful = recent.filter(({ action, status }) => action === 'create' && status !== 'done');
      // However long ago: an account may run once a week. The order of run ids (UUIDv7) is that of time.
      const { rows: refused } = await sql<Pick<Selectable<OperationsTable>, 'kind' | 'name'>>`
        select operations.kind, operations.name from runs join operations on run_id = id
        where runs.account = ${account} and runs.remote_account_id is not distinct from ${remoteAccountId}
          and action = 'create' and attempts > 0 group by operations.kind, operations.name
        having max(run_id) = max(case when operations.status = 'failed' and http_status in (${sql.join(NAME_REFUSALS)}) then run_id end)`.execute(
        db,
      );
      return {
        lastGood: good === null ? null : { observed: good.observed, ...changesSince(exact, good.takenAt) },
        unsettled: operations.filter(isUnsettled).map(toUnsettled),
        recent,
        knownBefore: new Map(doubtful.map(({ runId }) => [runId, knownWhen(rows, runId)])),
        owned: new Set(owned.map(keyOf)),
        changedNames: mapOf(rows, ({ name, requested_name: requested, last_seen_run }) =>
          requested === null ? null : { requested, name, listed: last_seen_run !== null },
        ),
        lastUsedMs: mapOf(rows, ({ last_used_at: at }) => (at === null ? null : toMs(at))),
        neverListed: rows
          .filter((row) => row.created_by_run !== null && row.last_seen_run === null && !isDeleted(row))
          .map(({ kind, remote_id, name }) => ({ kind, remoteId: remote_id, name })),
        refusedCreates: new Set(refused.map(({ kind, name }) => kindNameKey(kind, name))),
        released: rows.flatMap(({ kind, remote_id: remoteId, released_as: allowance, deleted_by_run }) =>
          allowance === null ? [] : [{ kind, remoteId, allowance, deletedByRun: deleted_by_run }],
        ),
        knownNames: mapOf(rows, (row) =>
          isDeleted(row) ? null : [row.name, ...(row.requested_name === null ? [] : [row.requested_name])],
        ),
      };
    },

    async foreignOwner({ account, remoteAccountId, configured, listed, identified }) {
      // Ids of two accounts with different account ids may be equal: a service may number the entries of each account.
      const comparable = identified
        ? sql`entries.account != ${account} and entries.remote_account_id in ('', ${remoteAccountId ?? ''})`
        : sql`(entries.account != ${account} or entries.remote_account_id not in ('', ${remoteAccountId ?? ''}))`;
      const { rows } = await sql<{ account: string; remote_account_id: string }>`
        select entries.account, entries.remote_account_id
        -- SQLite searches the entries of each account otherwise: the order of a cross join is fixed.
        from ${jsonRows(KINDS.flatMap((kind) => listed[kind].map(({ id }) => ({ kind, id }))))} as listed
          cross join entries join accounts on accounts.name = entries.account
        where entries.remote_id = value ->> 'id' and entries.kind = value ->> 'kind' and ${comparable} and (entries.account = ${account} or (
          entries.deleted_by_run is null
          -- Run ids are UUIDv7: their order is the order of time.
          and coalesce(entries.last_seen_run, entries.created_by_run) >= coalesce(accounts.last_good_run, '')
          and entries.account in ${jsonList([...configured])}))
        limit 1`.execute(db);
      const [found] = rows;
      return found === undefined
        ? null
        : { account: found.account, remoteAccountId: found.remote_account_id || null };
    },

    async rememberApplied({ account }, { runId, remoteAccountId, named, released, commit }) {
      const released_runs =
        released.run === null
          ? sql<string | null>`released_runs`
          : sql<string>`coalesce(released_runs || ${'\n'}, '') || ${`${released.run} ${runId}`}`;
      const columns =
        commit === 'unchanged'
          ? { released_runs }
          : {
              released_runs,
              last_applied_commit: commit?.sha ?? null,
              last_applied_committed_at: commit?.committedAt ?? null,
            };
      // A process that was paused must not overwrite what another process has applied meanwhile.
      const write = async (connection: Database): Promise<SentCommit> => {
        const { numUpdatedRows } = await connection
          .updateTable('accounts')
          .set(columns)
          .where('name', '=', account)
          .where('lease_run', '=', runId)
          .where(sql<boolean>`exists (${ownRun(connection, runId, true)})`)
          .executeTakeFirstOrThrow();
        return numUpdatedRows === 0n ? 'lock_lost' : 'committed';
      };
      if (named.length === 0 && released.entries.length === 0) return await write(db);
      return await immediately(db, account, async (connection) => {
        if ((await write(connection)) === 'lock_lost') return 'lock_lost';
        await adopt(connection, account, { runId, remoteAccountId, named });
        await markReleased(connection, account, { remoteAccountId, entries: released.entries });
        return 'committed';
      });
    },
  } satisfies Partial<Journal>;
}

type EntryRow = Selectable<Tables['entries']>;

function isDeleted(row: EntryRow): boolean {
  return row.deleted_by_run !== null;
}

function keyOf(row: Pick<EntryRow, 'kind' | 'remote_id'>): EntryKey {
  return entryKey(row.kind, row.remote_id);
}

/** A value for each entry that has one. */
function mapOf<T>(rows: readonly EntryRow[], valueOf: (row: EntryRow) => T | null): Map<EntryKey, T> {
  return new Map(
    rows.flatMap((row) => {
      const value = valueOf(row);
      return value === null ? [] : [[keyOf(row), value] as const];
    }),
  );
}

type KnownRow = Pick<
  EntryRow,
  'kind' | 'remote_id' | 'created_by_run' | 'first_seen_run' | 'first_seen_after'
>;

/** The entries that were known after the first observation of a run, and all that rolecall created. */
function knownWhen(rows: readonly KnownRow[], runId: string | null): Set<EntryKey> {
  // Run ids are UUIDv7: their order is the order of time.
  const isKnown = ({ created_by_run, first_seen_run: first, first_seen_after }: KnownRow): boolean =>
    created_by_run !== null ||
    (first !== null && (runId === null || first < runId || (first === runId && first_seen_after === 0)));
  return new Set(rows.filter(isKnown).map(keyOf));
}

/** Adopts those of the named entries that this account does not own yet. */
async function adopt(
  connection: Database,
  account: string,
  { runId, remoteAccountId, named }: Pick<AppliedRun, 'runId' | 'remoteAccountId' | 'named'>,
): Promise<void> {
  if (named.length === 0) return;
  // An id that rolecall deleted and that is listed again belongs to an entry of somebody else until now. One statement over a
  // JSON array, because lists have thousands of entries.
  await sql`
    update entries set adopted_by_run = ${runId}, deleted_by_run = null
    where account = ${account} and remote_account_id = ${remoteAccountId ?? ''}
      and (deleted_by_run is not null or (adopted_by_run is null and created_by_run is null))
      and kind || ':' || remote_id in ${jsonList(named)}`.execute(connection);
}

/** Remembers which line of `allowedDeletes` released each entry: it releases no other one. */
async function markReleased(
  connection: Database,
  account: string,
  { remoteAccountId, entries }: Pick<AppliedRun, 'remoteAccountId'> & Pick<Released, 'entries'>,
): Promise<void> {
  for (const { kind, remoteId, allowance } of entries) {
    await connection
      .updateTable('entries')
      .set({ released_as: allowance })
      .where('account', '=', account)
      .where('remote_account_id', '=', remoteAccountId ?? '')
      .where('kind', '=', kind)
      .where('remote_id', '=', remoteId)
      .execute();
  }
}

type SentRow = Selectable<OperationsTable> & {
  readonly last_seen_run: string | null;
  readonly remote_account_id: string | null;
  readonly run_status: RunStatus;
};

/** The operations that may have had an effect: of these times, and all whose outcome is unknown, in their order. */
async function sentOperations(
  db: Database,
  account: string,
  remoteAccountId: string | null,
  { goodSince, recentSince }: { readonly goodSince: string | null; readonly recentSince: string },
): Promise<SentRow[]> {
  const { rows } = await sql<SentRow>`
    select operations.*, entries.last_seen_run, runs.remote_account_id, runs.status as run_status
    from runs join operations on run_id = id left join entries on entries.account = runs.account
      and entries.remote_account_id = ${remoteAccountId ?? ''} and entries.kind = operations.kind
      and entries.remote_id = operations.remote_id
    where runs.account = ${account}
      and (runs.remote_account_id is not distinct from ${remoteAccountId} or runs.remote_account_id is null)
      and operations.status in ('done', 'unknown', 'sent')
      and (operations.started_at >= ${goodSince} or operations.finished_at > ${recentSince}
        or (operations.status <> 'done' and settled_by is null))
    order by run_id, seq`.execute(db);
  return rows;
}

/**
 * The entries that rolecall deleted, or may have deleted, since lists were read, and those that it certainly created.
 * Deletes include the day before, because a stale list may have shown the entries then.
 */
function changesSince(
  operations: readonly SentRow[],
  takenAt: string,
): Pick<LastGood, 'deletedSince' | 'createdSince'> {
  const since = toIso(toMs(takenAt) - DAY_MS);
  const of = (wanted: (row: SentRow) => boolean): Map<EntryKey, string> =>
    new Map(
      operations.flatMap((row) => {
        const { kind, remote_id: id, name, started_at: startedAt } = row;
        return id !== null && startedAt !== null && startedAt >= since && wanted(row)
          ? [[entryKey(kind, id), name]]
          : [];
      }),
    );
  const gone = of(({ action }) => action === 'delete');
  const created = of(
    ({ action, status, started_at }) =>
      action === 'create' && status === 'done' && (started_at ?? '') >= takenAt,
  );
  return {
    deletedSince: new Set(gone.keys()),
    createdSince: new Map([...created].filter(([key]) => !gone.has(key))),
  };
}

function isUnsettled({ status, settled_by, run_status }: SentRow): boolean {
  return status !== 'done' && settled_by === null && run_status !== 'running';
}

/** What both kinds of records have of an operation. */
function operationOf({ run_id, action, kind, name, remote_id, attempts }: SentRow) {
  return { runId: run_id, action, kind, name, remoteId: remote_id, attempts };
}

function toUnsettled(row: SentRow): UnsettledOperation {
  // When its answer arrived or timed out, otherwise when it was sent.
  const sinceMs = toMs(row.finished_at ?? row.started_at ?? toIso(0));
  return { ...operationOf(row), seq: row.seq, sinceMs };
}

function toRecent(row: SentRow): RecentOperation {
  const finishedAtMs = toMs(row.finished_at ?? toIso(0));
  return { ...operationOf(row), status: row.status, finishedAtMs, listed: row.last_seen_run !== null };
}
