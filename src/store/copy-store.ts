// Copies a complete store from an SQLite file to an empty schema of PostgreSQL, in one transaction, and compares the rows
// before anybody sees them.
import { existsSync } from 'node:fs';
import { PostgresDialect, sql } from 'kysely';
import { StoreError } from '../core/errors.ts';
import { sha256 } from '../system/digest.ts';
import { databaseOver, durably } from './engine.ts';
import {
  nameOf,
  type PostgresLocation,
  toStoreError as toPostgresError,
} from './postgres/postgres-errors.ts';
import { checkServer, createMissing, CREATING, versionOf } from './postgres/migrate.ts';
import { createPool } from './postgres/pool.ts';
import { postgresEngine } from './postgres/database.ts';
import { openDatabase } from './sqlite/database.ts';
import { toStoreError as toFileError } from './sqlite/sqlite-errors.ts';
import { type Database, type Table, type Tables, TABLES } from './tables.ts';

export interface CopiedStore {
  readonly tables: number;
  readonly rows: number;
  readonly runs: number;
  /** The leases in the copy: runs that were in progress. */
  readonly leases: number;
  /** Whether other processes may have written to the file since. */
  readonly isInUse: boolean;
}

const NAMES = Object.keys(TABLES) as readonly (keyof Tables)[]; // its own keys

type Value = string | number | Uint8Array | null;
type Row = Readonly<Record<string, Value>>;

/**
 * Copies every table with its ids. The schema must be empty, or have tables that nobody has used; a copy that is interrupted
 * leaves nothing. `onProgress` receives the rows that were copied or compared. Throws StoreError.
 */
export async function copyStore(
  file: string,
  to: PostgresLocation,
  onProgress: (done: number, total: number) => void = () => undefined,
): Promise<CopiedStore> {
  // The last process that closes a store removes this file; one that was killed leaves it.
  const isInUse = existsSync(`${file}-wal`);
  return await readFile(file, (source) =>
    writeSchema(to, async (target) => {
      const counts = await Promise.all(NAMES.map((name) => countRows(source, name)));
      const total = counts.reduce((sum, rows) => sum + rows, 0);
      let done = 0;
      // Each row is copied and compared.
      const report = (rows: number): void => onProgress((done += rows), 2 * total);
      for (const name of NAMES) {
        const digest = tableDigest(name);
        for await (const rows of rowsOf(source, name)) {
          digest.add(rows);
          await insertRows(target, name, rows);
          report(rows.length);
        }
        await continueCounter(target, name);
        const copy = tableDigest(name);
        for await (const rows of rowsOf(target, name)) {
          copy.add(rows);
          report(rows.length);
        }
        if (copy.value() !== digest.value()) {
          throw new StoreError(
            'copy_failed',
            `the copy of ${name} differs from its source; nothing was kept. Report this as a bug`,
          );
        }
      }
      const runs = counts[NAMES.indexOf('runs')] ?? 0;
      const leased = source.selectFrom('accounts').select('name').where('lease_run', 'is not', null);
      const leases = (await leased.execute()).length;
      return { tables: NAMES.length, rows: total, runs, leases, isInUse: isInUse || leases > 0 };
    }),
  );
}

/** Reads the file as it is at this moment. */
async function readFile<T>(file: string, work: (source: Database) => Promise<T>): Promise<T> {
  const db = openDatabase({ file, leaseMs: 0 }, { mustExist: true });
  try {
    return await db.connection().execute(async (connection) => {
      await sql`begin`.execute(connection);
      return await work(connection);
    });
  } catch (error) {
    throw toFileError(error, file);
  } finally {
    await db.destroy();
  }
}

/** The limits that would end work that takes long. `transaction_timeout` is of version 17. */
const WITHOUT_LIMITS = `
  select set_config(name, '0', true) from pg_settings
  where name in ('statement_timeout', 'idle_in_transaction_session_timeout', 'transaction_timeout')`;

/** Writes in the transaction that creates what is missing; nobody sees it before it has ended. */
async function writeSchema<T>(
  location: PostgresLocation,
  work: (target: Database) => Promise<T>,
): Promise<T> {
  const dialect = new PostgresDialect({ pool: createPool(location) });
  const db = databaseOver(dialect, postgresEngine(location));
  try {
    await checkServer(db, location);
    return await durably(db, CREATING, async (connection) => {
      // A large table takes its time.
      await sql.raw(WITHOUT_LIMITS).execute(connection);
      const isNew = (await versionOf(connection, location)) === null;
      await createMissing(connection, location);
      if (!isNew) await requireUnused(connection, location);
      return await work(connection);
    });
  } catch (error) {
    throw toPostgresError(error, location);
  } finally {
    await db.destroy();
  }
}

/** Throws StoreError if a table has rows. Until the copy ends, other processes wait before they write. */
async function requireUnused(connection: Database, location: PostgresLocation): Promise<void> {
  const { rows: tables } = await sql<{ name: string }>`
    select relname as name from pg_class join pg_namespace on pg_namespace.oid = relnamespace
    where nspname = ${location.schema} and relkind = 'r' and relname != 'store_version'`.execute(connection);
  const names = tables.map(({ name }) => name);
  await sql`lock table ${sql.join(names.map((name) => sql.table(name)))} in exclusive mode`.execute(
    connection,
  );
  for (const name of names) {
    const { rows } = await sql`select 1 from ${sql.table(name)} limit 1`.execute(connection);
    if (rows.length === 0) continue;
    throw new StoreError(
      'copy_refused',
      `${nameOf(location)} is in use (it has rows in ${name}), and a copy never replaces a store; nothing was copied. Name another schema, or drop this one if nobody needs it`,
    );
  }
}

async function countRows(connection: Database, name: keyof Tables): Promise<number> {
  const counted = connection.selectFrom(name).select(({ fn }) => fn.countAll<number>().as('count'));
  return (await counted.executeTakeFirstOrThrow()).count;
}

function columnsOf(name: keyof Tables): readonly (readonly [column: string, type: string])[] {
  const { columns }: Table = TABLES[name];
  const types = { text: 'text', integer: 'integer', blob: 'bytea', sequence: 'bigint' };
  return Object.entries(columns).map(([column, { type }]) => [column, types[type]] as const);
}

function columnList(name: keyof Tables) {
  return sql.join(columnsOf(name).map(([column]) => sql.ref(column)));
}

/** Rows that are read at a time. A body can have several megabytes. */
const PIECE_ROWS = 1000;
const PIECE_BODIES = 4;

/** The rows of a table of either engine, in pieces. */
async function* rowsOf(connection: Database, name: keyof Tables): AsyncIterable<readonly Row[]> {
  const { key }: Table = TABLES[name];
  const order = sql.join(key.map((column) => sql.ref(column)));
  const most = columnsOf(name).some(([, type]) => type === 'bytea') ? PIECE_BODIES : PIECE_ROWS;
  let rows: readonly Row[] = [];
  do {
    const last = rows.at(-1);
    const isNext =
      last === undefined ? sql`true` : sql`(${order}) > (${sql.join(key.map((column) => last[column]))})`;
    ({ rows } = await sql<Row>`
      select ${columnList(name)} from ${sql.table(name)} where ${isNext} order by ${order} limit ${sql.lit(most)}`.execute(
      connection,
    ));
    yield rows;
  } while (rows.length === most);
}

/** One array for each column, so that any number of rows needs the same short statement. */
async function insertRows(connection: Database, name: keyof Tables, rows: readonly Row[]): Promise<void> {
  const arrays = columnsOf(name).map(
    ([column, type]) => sql`cast(${rows.map((row) => row[column] ?? null)} as ${sql.raw(type)}[])`,
  );
  await sql`insert into ${sql.table(name)} (${columnList(name)}) select * from unnest(${sql.join(arrays)})`.execute(
    connection,
  );
}

/** Lets the counter of a table continue after its rows. */
async function continueCounter(connection: Database, name: keyof Tables): Promise<void> {
  for (const [column, type] of columnsOf(name)) {
    if (type !== 'bigint') continue;
    await sql`select setval(pg_get_serial_sequence(${name}, ${column}), max(${sql.ref(column)})) from ${sql.table(name)}
      having max(${sql.ref(column)}) is not null`.execute(connection);
  }
}

const MODULUS = 1n << 256n;

/** A digest of rows that does not depend on their order, because the two engines order text differently. */
function tableDigest(name: keyof Tables): { add(rows: readonly Row[]): void; value(): string } {
  const columns = columnsOf(name);
  let sum = 0n;
  return {
    add(rows) {
      for (const row of rows) {
        const values = columns.map(([column]) => encoded(row[column] ?? null));
        sum = (sum + BigInt(`0x${sha256(JSON.stringify(values))}`)) % MODULUS;
      }
    },
    value: () => sum.toString(16),
  };
}

function encoded(value: Value): string | number | null {
  return value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value;
}
