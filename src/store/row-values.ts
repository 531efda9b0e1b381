// The values of rows as both engines store and read them: times as text, and many rows as one JSON array.
import { type RawBuilder, sql } from 'kysely';

/** UTC in ISO 8601 with milliseconds, so that the order of times as text is their order in time. */
export function toIso(epochMs: number): string {
  return new Date(epochMs).toISOString();
}

export function toMs(iso: string): number {
  return Date.parse(iso);
}

/**
 * A table with a `value` for each row, and its position `key` from 0. `value ->> 'name'` is a field of a row, as text or null;
 * numbers need a cast, because PostgreSQL does not convert text.
 */
export function jsonRows(rows: readonly object[]): RawBuilder<unknown> {
  return sql`json_each(cast(${JSON.stringify(rows)} as text))`;
}

/** Any number of values for `in`; a statement has a limited number of parameters. */
export function jsonList(values: readonly string[]): RawBuilder<string> {
  return sql<string>`(select value ->> 'item' from ${jsonRows(values.map((item) => ({ item })))})`;
}

/** Whether a column has this value, or one of these. One value is compared in a way that every index helps with. */
export function isOf(column: string, values: string | readonly string[]): RawBuilder<boolean> {
  const [first = '', ...others] = [values].flat();
  const isOne = others.length === 0;
  return sql<boolean>`${sql.ref(column)} ${isOne ? sql`= ${first}` : sql`in ${jsonList([first, ...others])}`}`;
}
