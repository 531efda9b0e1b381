// Finds the rows of runs, and converts them and their operations to records. Counts the operations of runs that are still
// running, and of those that were killed or failed before they counted them.
import { type Selectable, type RawBuilder, sql } from 'kysely';
import type { Warning } from '../core/catalog.ts';
import type { OperationStatus } from '../core/journal.ts';
import type { OperationRecord, RunRecord } from '../core/schemas.ts';
import { type Database, type OperationsTable, type RunsTable, TABLES } from './tables.ts';
import type { RunProgress, RunTally } from '../core/ports/journal-reader.ts';
import { jsonList } from './row-values.ts';

/** What no list of runs shows: long texts, and what only the store uses. */
const UNLISTED = ['warnings', 'plan_body', 'holder_host', 'holder_pid'] as const;

/** The columns of a run for lists. */
export const LISTED = columnsWithout<keyof RunsTable, (typeof UNLISTED)[number]>(
  TABLES.runs.columns,
  UNLISTED,
);

const UNSHOWN = ['settled_by', 'existed'] as const;

/** The columns of an operation in its record. */
export const OPERATION_COLUMNS = columnsWithout<keyof OperationsTable, (typeof UNSHOWN)[number]>(
  TABLES.operations.columns,
  UNSHOWN,
);

function columnsWithout<Column extends string, Left extends Column>(
  columns: Readonly<Record<Column, unknown>>,
  left: readonly Left[],
): readonly Exclude<Column, Left>[] {
  const names = Object.keys(columns).filter((name) => !left.some((other) => other === name));
  return names as Exclude<Column, Left>[]; // the keys of the definition without those that are left out
}

type ListedRun = Pick<Selectable<RunsTable>, (typeof LISTED)[number]>;

type CamelCase<Name extends string> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Name;

/** `configCommit` for `config_commit`. */
function fieldOf(column: string): string {
  return column.replaceAll(/_(.)/gu, (_, letter: string) => letter.toUpperCase());
}

type CamelCased<Row, Column extends keyof Row & string> = {
  readonly [Each in Column as CamelCase<Each>]: Row[Each];
};

/** Returns how to read these columns of a row by the names that records have; what else the row has is left out. */
function camelCased<Column extends string>(columns: readonly Column[]) {
  const fields = columns.map((column) => [column, fieldOf(column)] as const);
  return <Row extends Readonly<Record<Column, unknown>>>(row: Row): CamelCased<Row, Column> => {
    const record: Record<string, unknown> = {};
    for (const [column, field] of fields) record[field] = row[column];
    return record as CamelCased<Row, Column>; // by the type of the columns
  };
}

const runRecord = camelCased(LISTED);
const operationRecord = camelCased(OPERATION_COLUMNS);

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

/** The records of runs. A running run has no totals yet, so its journaled operations are counted. */
export async function toRuns(db: Database, rows: readonly ListedRun[]): Promise<RunRecord[]> {
  return await Promise.all(
    rows.map(async (row) => {
      if (row.status !== 'running') return toRun(row);
      const totals = await totalsOf(db, row.id);
      // The operations of a plan are written after the plan itself.
      return { ...toRun(row), ...totals, held: Math.max(row.held, totals.held) };
    }),
  );
}

export function toRun(row: ListedRun): RunRecord {
  return { ...runRecord(row), configDirty: row.config_dirty === null ? null : row.config_dirty === 1 };
}

export function toOperation(
  row: Pick<Selectable<OperationsTable>, (typeof OPERATION_COLUMNS)[number]>,
): OperationRecord {
  return operationRecord(row);
}

/** The warnings of a run. */
export function warningsOf({ warnings }: { readonly warnings: string | null }): Warning[] {
  // Only this store writes them, so the type is known.
  return warnings === null ? [] : (JSON.parse(warnings) as Warning[]);
}

/** `requests` is a lower limit: requests for lists are only counted at the end of a run. */
export type RunTotals = Pick<RunRecord, 'created' | 'deleted' | 'held' | 'failed' | 'requests'>;

/** Counts the journaled operations of a run. */
export async function totalsOf(db: Database, runId: string): Promise<RunTotals> {
  const { rows } = await sql<RunTotals>`
    select
      ${amountOf(sql`action = 'create' and status = 'done' and attempts > 0 and existed = 0`)} as created,
      ${amountOf(sql`action = 'delete' and status = 'done' and attempts > 0`)} as deleted,
      ${amountOf(sql`status = 'held'`)} as held,
      ${amountOf(sql`status in ('failed', 'unknown')`)} as failed,
      coalesce(sum(attempts), 0) as requests
    from operations where run_id = ${runId}`.execute(db);
  return rows[0] ?? { created: 0, deleted: 0, held: 0, failed: 0, requests: 0 };
}

function amountOf(condition: RawBuilder<unknown>): RawBuilder<number> {
  return sql<number>`count(*) filter (where ${condition})`;
}

/** Stores the totals of the operations as the totals of an ended run. */
export async function recountRun(connection: Database, runId: string): Promise<void> {
  const { requests, held, ...totals } = await totalsOf(connection, runId);
  await connection
    .updateTable('runs')
    .set({
      ...totals,
      // The plan has more where its operations were not written.
      held: largest('held', held),
      requests: largest('requests', requests),
    })
    .where('id', '=', runId)
    .execute();
}

function largest(column: 'held' | 'requests', value: number): RawBuilder<number> {
  return sql<number>`case when ${sql.ref(column)} < ${value} then ${value} else ${sql.ref(column)} end`;
}

/** What the account's last plan left to do, for its row; unchanged when the run made no plan. */
export function remainingOf(runId: string) {
  const remaining = (action: 'create' | 'delete'): RawBuilder<number | null> => {
    const [planned, column] = [sql.ref(`planned_${action}s`), sql.ref(`remaining_${action}s`)];
    return sql`coalesce((
      select ${planned} - (select count(*) from operations where run_id = runs.id and operations.status = 'done'
        and action = ${action})
      from runs where id = ${runId}), ${column})`;
  };
  return { remaining_creates: remaining('create'), remaining_deletes: remaining('delete') };
}

/** Stores what an interrupted run, the last one of its account, left to do. */
export async function rememberRemaining(connection: Database, runId: string): Promise<void> {
  await connection.updateTable('accounts').set(remainingOf(runId)).where('last_run_id', '=', runId).execute();
}

/** How far a run is, without held operations. null when there is no such run. */
export async function readProgress(db: Database, runId: string): Promise<RunProgress | null> {
  const { rows } = await sql<RunProgress>`
    select runs.status, count(operations.seq) as total,
      ${amountOf(sql`operations.status = 'done'`)} as done,
      ${amountOf(sql`operations.status = 'failed'`)} as failed,
      ${amountOf(sql`operations.status = 'sent'`)} as sent,
      ${amountOf(sql`operations.status = 'unknown'`)} as unknown,
      min(operations.started_at) as "firstSentAt"
    from runs left join operations on operations.run_id = runs.id and operations.status <> 'held'
    where runs.id = ${runId} group by runs.id, runs.status`.execute(db);
  return rows[0] ?? null;
}

/** The tallies of the runs that exist, by their ids. */
export async function readTallies(
  db: Database,
  ids: readonly string[],
): Promise<ReadonlyMap<string, RunTally>> {
  const planned = await db
    .selectFrom('runs')
    .select(['id', 'planned_creates', 'planned_deletes'])
    .where('id', 'in', jsonList(ids))
    .execute();
  const counted = await db
    .selectFrom('operations')
    .select(['run_id', 'status', ({ fn }) => fn.countAll<number>().as('amount')])
    .where('run_id', 'in', jsonList(ids))
    .groupBy(['run_id', 'status'])
    .execute();
  const statuses = new Map<string, [OperationStatus, number][]>();
  for (const { run_id: id, status, amount } of counted)
    statuses.set(id, [...(statuses.get(id) ?? []), [status, amount]]);
  return new Map(
    planned.map(({ id, planned_creates: creates, planned_deletes: deletes }) => [
      id,
      {
        statuses: Object.fromEntries(statuses.get(id) ?? []),
        planned: creates === null || deletes === null ? null : { create: creates, delete: deletes },
      },
    ]),
  );
}
