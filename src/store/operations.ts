// The write-ahead journal of operations: a row is committed as `sent` before its request is sent.
import { type RawBuilder, sql } from 'kysely';
import type { Journal, NewOperation, OperationResult } from '../core/ports/journal.ts';
import type { Database } from './tables.ts';
import { durably, immediately } from './engine.ts';
import { isOwnRun, requireOwnRun } from './fence.ts';
import { StoreError } from '../core/errors.ts';
import { jsonRows, toIso } from './row-values.ts';
import { recountRun } from './run-rows.ts';
import { readPause } from './stored-settings.ts';

export function operationsJournal(db: Database) {
  return {
    async addOperations(runId: string, operations: readonly NewOperation[]) {
      if (operations.length === 0) return;
      // One statement over a JSON array, because ten thousand single rows would take a second.
      await immediately(db, runId, async (connection) => {
        await requireOwnRun(connection, runId);
        await sql`
          insert into operations (run_id, seq, kind, action, name, remote_id, status, rule, reason)
          select ${runId}, key + 1, value ->> 'kind', value ->> 'action', value ->> 'name', value ->> 'remoteId',
            value ->> 'status', value ->> 'rule', value ->> 'reason'
          from ${jsonRows(operations)}`.execute(connection);
      });
    },

    commitOperations(runId, lease, sent, results) {
      return durably(db, lease.account, async (connection) => {
        // After the lock is lost nothing may change: the new holder settles the operations in flight.
        if (!(await isOwnRun(connection, runId, true))) return 'lock_lost';
        await writeResults(connection, runId, results);
        const [first] = sent;
        if (first === undefined) return 'committed';
        const rows = jsonRows(sent.map(({ seq, atMs }) => ({ seq, at: toIso(atMs) })));
        const started = await sql`
          with starts as materialized (
            select ${runId} as run_id, cast(value ->> 'seq' as integer) as seq, value ->> 'at' as started_at from ${rows})
          update operations set status = 'sent', started_at = coalesce(operations.started_at, starts.started_at),
            finished_at = null
          from starts where operations.run_id = starts.run_id and operations.seq = starts.seq`.execute(
          connection,
        );
        requireAll(started, sent.length);
        return (await readPause(connection, first.atMs)) ?? 'committed';
      });
    },

    settleOperation(operation, { hasHappened, entry }, runId, nowMs) {
      const { action, seq } = operation;
      return durably(db, runId, async (connection) => {
        await requireOwnRun(connection, runId);
        if (hasHappened) {
          const result: OperationResult = {
            seq,
            status: 'done',
            attempts: Math.max(1, operation.attempts),
            httpStatus: null,
            reason: `its answer was lost; a later list ${action === 'create' ? 'showed the entry' : 'shows that the entry is gone'}`,
            rule: null,
            atMs: nowMs,
            ...(entry === null ? {} : { entry: { remoteId: entry.id, name: entry.name } }),
          };
          await writeResults(connection, operation.runId, [result]);
        }
        const isAbsent = !hasHappened && action === 'create';
        await connection
          .updateTable('operations')
          .set({
            settled_by: runId,
            ...(isAbsent ? { reason: 'its answer was lost, and no list showed the entry since' } : {}),
          })
          .where('run_id', '=', operation.runId)
          .where('seq', '=', seq)
          .execute();
        await recountRun(connection, operation.runId);
      });
    },
  } satisfies Partial<Journal>;
}

/** Throws when a statement found fewer operations than the run has: a database that was replaced lacks them. */
function requireAll(
  { numAffectedRows }: { readonly numAffectedRows?: bigint | undefined },
  count: number,
): void {
  if (Number(numAffectedRows ?? 0) === count) return;
  throw new StoreError(
    'store_failed',
    'operations of the run are missing in the store, so it ends; the next run finds out what happened',
  );
}

/**
 * Writes all results with a fixed number of statements, because a run of a thousand creates commits often. The JSON is
 * materialized together with the run's id, so that SQLite finds each operation by its complete key. With any other join it
 * reads every operation of the run at every commit.
 */
async function writeResults(
  connection: Database,
  runId: string,
  results: readonly OperationResult[],
): Promise<void> {
  if (results.length === 0) return;
  const rows = resultRows(results);
  const updated = await sql`
    with results as materialized (
      select ${runId} as run_id, cast(value ->> 'seq' as integer) as seq, value from ${rows})
    update operations set status = value ->> 'status', attempts = cast(value ->> 'attempts' as integer),
      http_status = cast(value ->> 'httpStatus' as integer), reason = value ->> 'reason', rule = value ->> 'rule',
      finished_at = value ->> 'at', remote_id = coalesce(value ->> 'remoteId', remote_id),
      existed = cast(value ->> 'existed' as integer)
    from results where operations.run_id = results.run_id and operations.seq = results.seq`.execute(
    connection,
  );
  requireAll(updated, new Set(results.map(({ seq }) => seq)).size);
  for (const round of roundsOfEntries(results)) await writeCreatedEntries(connection, runId, round);
  if (results.some((result) => result.entry === undefined && result.status === 'done')) {
    await sql`
      with results as materialized (
        select ${runId} as run_id, cast(value ->> 'seq' as integer) as seq, value from ${rows}),
      gone as materialized (
        select runs.account, coalesce(runs.remote_account_id, '') as remote_account_id, operations.kind,
          operations.remote_id
        from results join operations on operations.run_id = results.run_id and operations.seq = results.seq
          join runs on runs.id = operations.run_id
        where operations.action = 'delete' and value ->> 'status' = 'done' and cast(value ->> 'attempts' as integer) > 0)
      update entries set deleted_by_run = ${runId}
      from gone where entries.account = gone.account and entries.remote_account_id = gone.remote_account_id
        and entries.kind = gone.kind and entries.remote_id = gone.remote_id`.execute(connection);
  }
}

function resultRows(results: readonly OperationResult[]): RawBuilder<unknown> {
  return jsonRows(
    results.map(({ seq, status, attempts, httpStatus, reason, rule, atMs, entry }) => ({
      seq,
      status,
      attempts,
      httpStatus,
      reason,
      rule,
      at: toIso(atMs),
      remoteId: entry?.remoteId,
      listedName: entry?.name,
      existed: Number(entry?.existed === true),
      accountId: entry?.accountId,
    })),
  );
}

/** The results with an entry, in parts that have each id once: PostgreSQL changes a row only once in a statement. */
function roundsOfEntries(results: readonly OperationResult[]): OperationResult[][] {
  const rounds: Map<string, OperationResult>[] = [];
  for (const result of results) {
    const id = result.entry?.remoteId;
    if (id === undefined) continue;
    const round = rounds.find((ids) => !ids.has(id));
    if (round === undefined) rounds.push(new Map([[id, result]]));
    else round.set(id, result);
  }
  return rounds.map((round) => [...round.values()]);
}

async function writeCreatedEntries(
  connection: Database,
  runId: string,
  results: readonly OperationResult[],
): Promise<void> {
  // If the service stored another name, the requested name is remembered too. An id that was deleted and is used again
  // belongs to a new entry, which no list has shown yet.
  await sql`
    with results as materialized (
      select ${runId} as run_id, cast(value ->> 'seq' as integer) as seq, value from ${resultRows(results)})
    insert into entries
      (account, remote_account_id, kind, remote_id, name, requested_name, created_by_run, adopted_by_run)
    select runs.account, coalesce(value ->> 'accountId', runs.remote_account_id, ''), operations.kind, value ->> 'remoteId',
      value ->> 'listedName', case when operations.name != value ->> 'listedName' then operations.name end,
      case when cast(value ->> 'existed' as integer) = 0 then runs.id end, case when cast(value ->> 'existed' as integer) = 1 then runs.id end
    from results join operations on operations.run_id = results.run_id and operations.seq = results.seq
      join runs on runs.id = operations.run_id
    where value ->> 'remoteId' is not null and value ->> 'status' = 'done'
    on conflict (account, remote_account_id, kind, remote_id) do update set name = excluded.name, requested_name = excluded.requested_name,
      created_by_run = coalesce(entries.created_by_run, excluded.created_by_run),
      adopted_by_run = coalesce(entries.adopted_by_run, excluded.adopted_by_run),
      last_seen_run = case when entries.deleted_by_run is null then entries.last_seen_run end,
      deleted_by_run = null`.execute(connection);
}
