// Finds the rows of runs, and converts them and their operations to records, with the present totals of a run that is still
// running.
import type { Selectable } from 'kysely';
import type { Warning } from '../core/catalog.ts';
import type { OperationRecord, RunRecord } from '../core/journal.ts';
import { totalsOf } from './run-totals.ts';
import { type Database, type OperationsTable, type RunsTable, TABLES } from './tables.ts';

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
