// The tables that a copy of the store contains, parents first. Those about running replicas are not part of it: they are
// made again from the configuration.
import type { Tables } from '../tables.ts';

/** `numbers` is the column that the database counts by itself, so that the counter continues after the copied rows. */
export interface CopiedTable {
  readonly name: keyof Tables;
  readonly numbers?: string;
  /** Whether the order of the rows is in a column that SQLite has without declaring it. */
  readonly hasRowid?: boolean;
}

export const COPIED_TABLES: readonly CopiedTable[] = [
  { name: 'accounts' },
  { name: 'plan_bodies' },
  { name: 'runs', numbers: 'rowid', hasRowid: true },
  { name: 'operations' },
  { name: 'snapshot_bodies' },
  { name: 'snapshots', numbers: 'id' },
  { name: 'entries' },
  { name: 'missing_holdings' },
  { name: 'locks' },
  { name: 'notice_states' },
  { name: 'notices', numbers: 'seq' },
  { name: 'operator_actions', numbers: 'seq' },
  { name: 'settings' },
];

/** A value of a column in either engine. */
export type Value = string | number | Uint8Array | null;

/** The values of a row in the order of its table's columns. */
export type Row = readonly Value[];
