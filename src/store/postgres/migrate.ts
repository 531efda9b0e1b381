// Creates the schema of the store, and refuses one that this version cannot use. Several processes may start at the same time.
import { sql } from 'kysely';
import { StoreError } from '../../core/errors.ts';
import { durably } from '../engine.ts';
import { creationOf, otherVersion } from '../creation.ts';
import { type Database, SCHEMA_VERSION } from '../tables.ts';
import { nameOf, type PostgresLocation } from './postgres-errors.ts';

/** Throws StoreError when the schema belongs to another program or another version. */
export async function migrate(
  db: Database,
  location: PostgresLocation,
  { mustExist = false }: { readonly mustExist?: boolean },
): Promise<void> {
  await checkServer(db, location);
  const found = await versionOf(db, location);
  if (found !== null) return;
  if (mustExist) {
    const message = `there is no store in ${nameOf(location)}: no run has been made here yet`;
    throw new StoreError('store_missing', message);
  }
  await durably(db, CREATING, (connection) => createMissing(connection, location));
}

const OLDEST_SERVER = 130_000;

/** Throws StoreError when the server is too old, or when the database cannot store every text. */
export async function checkServer(db: Database, location: PostgresLocation): Promise<void> {
  const { rows } = await sql<{ number: number; version: string; encoding: string }>`
    select current_setting('server_version_num')::int as number, current_setting('server_version') as version,
      current_setting('server_encoding') as encoding`.execute(db);
  const [server] = rows;
  if (server === undefined) throw new Error('the server reports no version');
  if (server.number < OLDEST_SERVER) {
    const message = `${nameOf(location)}: PostgreSQL ${server.version} is too old; rolecall needs version 13 or later`;
    throw new StoreError('store_unopenable', message);
  }
  if (server.encoding === 'UTF8') return;
  throw new StoreError(
    'store_unopenable',
    `${nameOf(location)}: the database has the encoding ${server.encoding}, which cannot store every name; create one with \`create database NAME encoding 'UTF8' template template0\``,
  );
}

/** The key of the transaction in which tables are created: one at a time in a database. */
export const CREATING = 'migrations';

/** The version of the store in the schema; null when the schema is empty or missing. */
export async function versionOf(db: Database, location: PostgresLocation): Promise<number | null> {
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_class join pg_namespace on pg_namespace.oid = relnamespace
    where nspname = ${location.schema} and relkind in ('r', 'p', 'v', 'm', 'f')
    order by relname`.execute(db);
  const names = rows.map(({ name }) => name);
  if (names.length === 0) return null;
  if (!names.includes('store_version') || !names.includes('operations')) {
    const shown = names.slice(0, 5).join(', ');
    throw new StoreError(
      'store_foreign',
      `${nameOf(location)} has tables of another program (${shown}); nothing was changed. Set \`schema\` in \`store:\` to another name`,
    );
  }
  const { rows: versions } = await sql<{ version: number }>`select version from store_version`.execute(db);
  const version = versions[0]?.version ?? 0;
  if (version !== SCHEMA_VERSION) throw otherVersion(nameOf(location), version);
  return version;
}

/**
 * Creates the tables if they are missing, in the transaction of the caller, and the schema unless an administrator has created
 * it, which a user without that right needs.
 */
export async function createMissing(connection: Database, location: PostgresLocation): Promise<void> {
  if ((await versionOf(connection, location)) !== null) return;
  const { schema } = location;
  const { rows } = await sql`select 1 from pg_namespace where nspname = ${schema}`.execute(connection);
  if (rows.length === 0) await sql`create schema ${sql.id(schema)}`.execute(connection);
  const statements = `
    ${READ_JSON} ${creationOf('postgres')}
    create table store_version (version integer not null);
    insert into store_version values (${SCHEMA_VERSION});`;
  await sql.raw(statements).execute(connection);
}

/**
 * Reads a JSON array of arrays as rows, as SQLite does. Marks what text cannot hold and JSON escapes; text.ts has marked the
 * rest.
 */
const READ_JSON = `
  create function json_each(list text) returns table (key integer, value jsonb) language sql immutable as $$
    select (position - 1)::integer, item
    from jsonb_array_elements(
      case when list ~ '\\\\u(0000|d[89a-f])'
        then regexp_replace(list,
          '(?<!\\\\)((?:\\\\\\\\)*)\\\\u(0000|d[89a-f][0-9a-f]{2})', '\\1' || U&'\\FDD0' || '\\2', 'g')
        else list end::jsonb) with ordinality as items (item, position)
  $$;`;
