// A copy from or to a schema of a PostgreSQL database.
import { Kysely, PostgresDialect, sql } from 'kysely';
import { StoreError } from '../../core/errors.ts';
import { engineOf, setEngine } from '../engine.ts';
import { nameOf, type PostgresLocation } from '../postgres/location.ts';
import { bringUpToDate, checkServer, migrate, MIGRATING, versionOf } from '../postgres/migrate.ts';
import { createPool } from '../postgres/pool.ts';
import { postgresEngine } from '../postgres/postgres-engine.ts';
import { toStoreError } from '../postgres/postgres-errors.ts';
import { WITHOUT_LIMITS } from '../postgres/session.ts';
import type { Database, Tables } from '../tables.ts';
import { COPIED_TABLES, type CopiedTable, type Row, type Value } from './copied-tables.ts';
import {
  byName,
  type Column,
  columnList,
  type CopyRows,
  type CopySource,
  type CopyTarget,
  countRows,
  valuesOf,
} from './store-end.ts';

/** Rows of one piece that is read: a body can have several megabytes. */
const PIECE_ROWS = 1000;
const PIECE_BODIES = 16;

/** Reads the schema as it is at this moment. */
export async function readPostgres<T>(
  location: PostgresLocation,
  work: (source: CopySource) => Promise<T>,
): Promise<T> {
  return await withDatabase(location, async (db) => {
    await migrate(db, location, { mustExist: true });
    return await db.connection().execute(async (connection) => {
      await sql`begin isolation level repeatable read read only`.execute(connection);
      // One side waits for the other, and a large table takes its time.
      await sql.raw(WITHOUT_LIMITS).execute(connection);
      return await work({ ...sourceOf(connection), isInUse: () => hasReplicas(connection) });
    });
  });
}

/**
 * Writes a new schema, or one whose tables nobody has used, in one transaction, which nobody sees before it has ended.
 * Throws StoreError if a table has rows.
 */
export async function writePostgres<T>(
  location: PostgresLocation,
  work: (target: CopyTarget) => Promise<T>,
): Promise<T> {
  return await withDatabase(location, async (db) => {
    await checkServer(db, location);
    return await db.connection().execute((connection) =>
      engineOf(db).transact(connection, MIGRATING, async () => {
        // One side waits for the other, and a large table takes its time.
        await sql.raw(WITHOUT_LIMITS).execute(connection);
        const isNew = (await versionOf(connection, location)) === null;
        await bringUpToDate(connection, location);
        if (!isNew) await requireUnused(connection, location);
        return await work({
          ...sourceOf(connection),
          write: (table, columns, rows) => insert(connection, table, { columns, rows }),
          endTable: (table) => continueCounter(connection, table),
        });
      }),
    );
  });
}

async function withDatabase<T>(location: PostgresLocation, work: (db: Database) => Promise<T>): Promise<T> {
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool: createPool(location) }) });
  setEngine(db, postgresEngine(location));
  try {
    return await work(db);
  } catch (error) {
    throw toStoreError(error, location);
  } finally {
    await db.destroy();
  }
}

async function hasReplicas(connection: Database): Promise<boolean> {
  const { rows } = await sql`
    select 1 from replicas where is_dead = 0 and expires_at > now() limit 1`.execute(connection);
  return rows.length > 0;
}

function sourceOf(connection: Database): CopyRows {
  return {
    async columns({ name }) {
      const { rows } = await sql<Column>`
        select attname as name, format_type(atttypid, null) as type from pg_attribute
        where attrelid = to_regclass(${name}) and attnum > 0 and not attisdropped`.execute(connection);
      return rows.toSorted(byName);
    },
    count: (table) => countRows(connection, table),
    rows: (table, columns) => readRows(connection, table, columns),
  };
}

async function* readRows(
  connection: Database,
  { name }: CopiedTable,
  columns: readonly Column[],
): AsyncIterable<readonly Row[]> {
  const size = columns.some(({ type }) => type === 'bytea') ? PIECE_BODIES : PIECE_ROWS;
  await sql`declare copied no scroll cursor for select ${columnList(columns)} from ${sql.table(name)}`.execute(
    connection,
  );
  for (;;) {
    const { rows } = await sql<Record<string, Value>>`fetch ${sql.lit(size)} from copied`.execute(connection);
    if (rows.length > 0) yield rows.map((row) => valuesOf(row, columns));
    if (rows.length < size) break;
  }
  await sql`close copied`.execute(connection);
}

/** One array for each column, so that any number of rows needs the same short statement. */
async function insert(
  connection: Database,
  { name }: CopiedTable,
  { columns, rows }: { readonly columns: readonly Column[]; readonly rows: readonly Row[] },
): Promise<void> {
  const arrays = columns.map(({ type }, place) => {
    const values = rows.map((row) => row[place] ?? null);
    return sql`cast(${values} as ${sql.raw(type)}[])`;
  });
  await sql`insert into ${sql.table(name)} (${columnList(columns)}) overriding system value
    select * from unnest(${sql.join(arrays)})`.execute(connection);
}

async function continueCounter(connection: Database, { name, numbers }: CopiedTable): Promise<void> {
  if (numbers === undefined) return;
  await sql`select setval(pg_get_serial_sequence(${name}, ${numbers}), max(${sql.ref(numbers)})) from ${sql.table(name)}
    having max(${sql.ref(numbers)}) is not null`.execute(connection);
}

/** The tables that are not copied, and of which a process has rows that has used the store. */
const OWN_TABLES = ['turns', 'replicas', 'config_generations'];

/** Until the copy ends, other processes wait before they write. */
async function requireUnused(connection: Database, location: PostgresLocation): Promise<void> {
  const names = [...COPIED_TABLES.map(({ name }) => name), ...OWN_TABLES];
  const tables = sql.join(names.map((name) => sql.table(name)));
  await sql`lock table ${tables} in exclusive mode`.execute(connection);
  const used: string[] = [];
  for (const name of names) {
    const { rows } = await sql`select 1 from ${sql.table(name)} limit 1`.execute(connection);
    if (rows.length > 0) used.push(name);
  }
  if (used.length === 0) return;
  throw new StoreError(
    'copy_refused',
    `${nameOf(location)} is in use (it has rows in ${used.join(', ')}), and a copy never replaces a store; nothing was copied. Name another schema, or drop this one if nobody needs it`,
  );
}
