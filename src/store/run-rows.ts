// Converts rows of runs and operations to records, with the present totals of a run that is still running.
import type { Selectable } from 'kysely';
import { cutSubject, type OperationRecord, type RunRecord } from '../core/journal.ts';
import type { Database, OperationsTable, RunsTable } from './tables.ts';
import { totalsOf } from './run-totals.ts';

/** The columns of a run without its warnings, which may be long. */
export const LISTED = [
  'id',
  'account',
  'remote_account_id',
  'trigger',
  'mode',
  'status',
  'started_at',
  'finished_at',
  'config_digest',
  'config_commit',
  'config_dirty',
  'config_authored_at',
  'config_subject',
  'plan_digest',
  'planned_creates',
  'planned_deletes',
  'created',
  'deleted',
  'held',
  'kept',
  'failed',
  'requests',
  'retries',
  'error_code',
  'error',
] as const satisfies readonly (keyof RunsTable)[];

type ListedRun = Pick<Selectable<RunsTable>, (typeof LISTED)[number]>;

/** Finds the row of a run by its id or an unambiguous prefix. */
export async function findRun(db: Database, id: string): Promise<Selectable<RunsTable> | null> {
  if (!/^[0-9a-f-]{4,36}$/.test(id)) return null;
  const rows = await db
    .selectFrom('runs')
    .selectAll()
    .where('id', '>=', id)
    .where('id', '<', `${id}g`)
    .limit(2)
    .execute();
  const [row, other] = rows;
  return row === undefined || other !== undefined ? null : row;
}

/** The record of a run. A running run has no totals yet, so its journaled operations are counted. */
export async function withTotals(db: Database, row: ListedRun): Promise<RunRecord> {
  return row.status === 'running' ? { ...toRun(row), ...(await totalsOf(db, row.id)) } : toRun(row);
}

export async function toRuns(db: Database, rows: readonly ListedRun[]): Promise<RunRecord[]> {
  return await Promise.all(rows.map((row) => withTotals(db, row)));
}

/** Values of a newer version, such as an unknown status, are passed on unchanged; reports must handle them. */
export function toRun(row: ListedRun): RunRecord {
  return {
    id: row.id,
    account: row.account,
    remoteAccountId: row.remote_account_id,
    trigger: row.trigger,
    mode: row.mode,
    status: row.status,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
    configDigest: row.config_digest,
    configCommit: row.config_commit,
    configDirty: row.config_dirty === null ? null : row.config_dirty === 1,
    configAuthoredAt: row.config_authored_at,
    // Earlier versions stored the complete subject.
    configSubject: row.config_subject === null ? null : cutSubject(row.config_subject),
    planDigest: row.plan_digest,
    plannedCreates: row.planned_creates,
    plannedDeletes: row.planned_deletes,
    created: row.created,
    deleted: row.deleted,
    held: row.held,
    kept: row.kept,
    failed: row.failed,
    requests: row.requests,
    retries: row.retries,
    errorCode: row.error_code,
    error: row.error,
  };
}

export function toOperation(row: Selectable<OperationsTable>): OperationRecord {
  return {
    runId: row.run_id,
    seq: row.seq,
    kind: row.kind,
    action: row.action,
    name: row.name,
    remoteId: row.remote_id,
    status: row.status,
    rule: row.rule,
    reason: row.reason,
    attempts: row.attempts,
    httpStatus: row.http_status,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
  };
}
