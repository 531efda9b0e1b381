// One side of a copy: what both engines can do.
import { sql } from 'kysely';
import type { Database } from '../tables.ts';
import type { CopiedTable, Row, Value } from './copied-tables.ts';

export interface Column {
  readonly name: string;
  readonly type: string;
}

export interface CopyRows {
  /** Sorted by name. */
  columns(table: CopiedTable): Promise<readonly Column[]>;
  count(table: CopiedTable): Promise<number>;
  /** Every row, in pieces that fit into memory; the values in the order of the columns. */
  rows(table: CopiedTable, columns: readonly Column[]): AsyncIterable<readonly Row[]>;
}

/** A store that is read, in one snapshot: nothing that other processes write meanwhile is part of the copy. */
export interface CopySource extends CopyRows {
  /** Whether other processes may write to it now. */
  isInUse(): Promise<boolean>;
}

/** An empty store that nobody sees before it is complete. */
export interface CopyTarget extends CopyRows {
  write(table: CopiedTable, columns: readonly Column[], rows: readonly Row[]): Promise<void>;
  /** Lets the counter of the table continue after its rows. */
  endTable(table: CopiedTable): Promise<void>;
}

export async function countRows(connection: Database, { name }: CopiedTable): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*) as count from ${sql.table(name)}`.execute(
    connection,
  );
  return rows[0]?.count ?? 0;
}

/** `columns` for a query. */
export function columnList(columns: readonly Column[]) {
  return sql.join(columns.map(({ name }) => sql.ref(name)));
}

/** The values of rows as a driver returns them. */
export function valuesOf(row: Readonly<Record<string, Value>>, columns: readonly Column[]): Row {
  return columns.map(({ name }) => row[name] ?? null);
}

export function byName(a: Column, b: Column): number {
  return a.name < b.name ? -1 : 1;
}
