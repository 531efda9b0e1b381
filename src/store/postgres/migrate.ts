// Brings the schema of the store to this version. Several processes may start at the same time.
import { sql } from 'kysely';
import { StoreError } from '../../core/errors.ts';
import { engineOf } from '../engine.ts';
import type { OpenOptions } from '../open-options.ts';
import { machineOf } from '../process-identity.ts';
import type { Database } from '../tables.ts';
import { nameOf, type PostgresLocation } from './location.ts';
import { MIGRATIONS, USABLE_FROM } from './migrations.ts';

/**
 * Throws StoreError when the schema belongs to another program or to a version with which this one cannot work, and when
 * programs that run now could not work with this version.
 */
export async function migrate(
  db: Database,
  location: PostgresLocation,
  { mustExist = false, readOnly = false }: OpenOptions,
): Promise<void> {
  await checkServer(db, location);
  const found = await versionOf(db, location);
  if (found !== null && found >= MIGRATIONS.length) return;
  if (found === null && (mustExist || readOnly)) {
    const message = `there is no store in ${nameOf(location)}: no run has been made here yet`;
    throw new StoreError('store_missing', message);
  }
  await db
    .connection()
    .execute((connection) =>
      engineOf(db).transact(connection, MIGRATING, async () => bringUpToDate(connection, location)),
    );
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

/** The transaction in which tables are created: one at a time in a database. */
export const MIGRATING = { key: 'migrations', isDurable: true };

/** Creates what is missing, in the transaction of the caller. */
export async function bringUpToDate(connection: Database, location: PostgresLocation): Promise<void> {
  const version = await versionOf(connection, location);
  if (version !== null && version >= MIGRATIONS.length) return;
  if (version === null) await createSchema(connection, location);
  else if (version < USABLE_FROM) await requireNoUsers(connection, location);
  for (const { statements } of MIGRATIONS.slice(version ?? 0)) await sql.raw(statements).execute(connection);
  await sql`update store_version set version = ${MIGRATIONS.length}, usable_from = ${USABLE_FROM}`.execute(
    connection,
  );
}

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
  // A store of a version before `usable_from` has no such column.
  const { rows: versions } = await sql<{ version: number; oldest: number | null }>`
    select version, (to_jsonb(store_version) ->> 'usable_from')::integer as oldest from store_version`.execute(
    db,
  );
  const { version = 0, oldest = null } = versions[0] ?? {};
  if (version > MIGRATIONS.length && (oldest === null || oldest > MIGRATIONS.length)) {
    throw new StoreError(
      'store_newer',
      `${nameOf(location)} was written by a newer rolecall (schema ${version}, this program knows ${MIGRATIONS.length}); use that version, nothing was changed`,
    );
  }
  return version;
}

/** Throws StoreError while programs of an earlier version run, which could not use the store after the migration. */
async function requireNoUsers(connection: Database, location: PostgresLocation): Promise<void> {
  const { rows } = await sql<{ host: string; pid: number }>`
    select host, pid from locks where cast(expires_at as timestamptz) > now()
    ${(await hasReplicas(connection)) ? sql`union select host, pid from replicas where is_dead = 0 and expires_at > now()` : sql``}
    order by host, pid`.execute(connection);
  if (rows.length === 0) return;
  const processes = rows.map(({ host, pid }) => `process ${pid} on ${machineOf(host)}`).join(', ');
  throw new StoreError(
    'store_in_use',
    `${nameOf(location)} must be migrated, and an older rolecall that uses it cannot work with the result (${processes}); stop every older process, then start this version again. Nothing was changed`,
  );
}

async function hasReplicas(connection: Database): Promise<boolean> {
  const { rows } = await sql`select 1 where to_regclass('replicas') is not null`.execute(connection);
  return rows.length > 0;
}

/** Creates the schema unless an administrator has created it, which a user without that right needs. */
async function createSchema(connection: Database, { schema }: PostgresLocation): Promise<void> {
  const { rows } = await sql`select 1 from pg_namespace where nspname = ${schema}`.execute(connection);
  if (rows.length === 0) await sql`create schema ${sql.id(schema)}`.execute(connection);
  await sql`create table store_version (version integer not null)`.execute(connection);
  await sql`insert into store_version values (0)`.execute(connection);
}
