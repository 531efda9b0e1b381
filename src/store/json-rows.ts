// Passes many rows to one statement, as a JSON array that both engines read: `value ->> 'name'` is a field of a row, as text
// or null. Numbers need a cast, because PostgreSQL does not convert text.
import { type RawBuilder, sql } from 'kysely';

/** A table with a `value` for each row, and its position `key` from 0. */
export function jsonRows(rows: readonly object[]): RawBuilder<unknown> {
  return sql`json_each(cast(${JSON.stringify(rows)} as text))`;
}

/** Any number of values for `in`; a statement has a limited number of parameters. */
export function jsonList(values: readonly string[]): RawBuilder<string> {
  return sql<string>`(select value ->> 'item' from ${jsonRows(values.map((item) => ({ item })))})`;
}
