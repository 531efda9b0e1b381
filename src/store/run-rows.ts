// Finds the rows of runs, and converts them and their operations to records, with the present totals of a run that is still
// running.
import type { Selectable } from 'kysely';
import type { Warning } from '../core/catalog.ts';
import type { OperationRecord, RunRecord } from '../core/journal.ts';
import type { Plan } from '../core/plan.ts';
import { decompressJson } from './compressed-json.ts';
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

const fields = new Map<string, string>();

/** `configCommit` for `config_commit`. */
function fieldOf(column: string): string {
  const known = fields.get(column);
  if (known !== undefined) return known;
  const field = column.replaceAll(/_(.)/gu, (_, letter: string) => letter.toUpperCase());
  fields.set(column, field);
  return field;
}

/** The values of a row by the names that records have. */
function camelCased<Row extends object>(
  row: Row,
): { readonly [Column in keyof Row & string as CamelCase<Column>]: Row[Column] } {
  const entries = Object.entries(row).map(([column, value]) => [fieldOf(column), value]);
  return Object.fromEntries(entries) as ReturnType<typeof camelCased<Row>>; // by the type of the columns
}

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
  return { ...camelCased(row), configDirty: row.config_dirty === null ? null : row.config_dirty === 1 };
}

export function toOperation(
  row: Pick<Selectable<OperationsTable>, (typeof OPERATION_COLUMNS)[number]>,
): OperationRecord {
  return camelCased(row);
}

/** The warnings of a run. */
export function warningsOf({ warnings }: { readonly warnings: string | null }): Warning[] {
  // Only this store writes them, so the type is known.
  return warnings === null ? [] : (JSON.parse(warnings) as Warning[]);
}

/** The plan of a run, whose `createdAt` is empty; null when none was made. */
export async function readPlan(db: Database, planBody: string | null): Promise<Plan | null> {
  if (planBody === null) return null;
  const bodies = db.selectFrom('plan_bodies').select('body').where('digest', '=', planBody);
  const row = await bodies.executeTakeFirst();
  // recordPlan wrote it from a Plan, so the type is known.
  return row === undefined ? null : ((await decompressJson(row.body)) as Plan);
}
