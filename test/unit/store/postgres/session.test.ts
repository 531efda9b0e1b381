// What a session of the store depends on holds whatever the defaults of the role and of the database are.
import { sql } from 'kysely';
import pg from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openPostgres } from '../../../../src/store/postgres/database.ts';
import { prepareSession } from '../../../../src/store/postgres/pool.ts';
import type { PostgresLocation } from '../../../../src/store/postgres/postgres-errors.ts';
import type { Database } from '../../../../src/store/tables.ts';
import { immediately } from '../../../../src/store/engine.ts';
import { hasPostgres, queryPostgres } from '../../../support/postgres.ts';
import { freshLocation } from '../fixture.ts';

async function open(location: PostgresLocation) {
  const opened = await openPostgres(location, {});
  onTestFinished(() => opened.close());
  return opened;
}

/** A user of the test's own, who has its schema, with defaults. */
async function userWith(defaults: Readonly<Record<string, string>>): Promise<PostgresLocation> {
  const location = await freshLocation();
  const { url, schema } = location;
  const user = `user_${schema}_${process.pid}`;
  const all = Object.entries(defaults).map(([name, value]) => `alter role ${user} set ${name} to ${value}`);
  await queryPostgres(
    url,
    `create role ${user} login; create schema ${schema} authorization ${user}; ${all.join('; ')}`,
  );
  onTestFinished(async () => {
    await queryPostgres(url, `drop owned by ${user} cascade; drop role ${user}`);
  });
  return { ...location, url: url.replace('user=rolecall', `user=${user}`) };
}

async function settingOf(db: Database, name: string): Promise<string | undefined> {
  const { rows } = await sql<{ value: string }>`select current_setting(${name}) as value`.execute(db);
  return rows[0]?.value;
}

const DEFAULTS = {
  synchronous_commit: 'off',
  default_transaction_isolation: "'serializable'",
  search_path: 'pg_catalog',
  datestyle: "'SQL, DMY'",
  timezone: "'Asia/Kolkata'",
  standard_conforming_strings: 'off',
  transform_null_equals: 'on',
  array_nulls: 'off',
  extra_float_digits: '-15',
  statement_timeout: "'20s'",
  lock_timeout: '0',
  idle_in_transaction_session_timeout: '0',
};

const EXPECTED = {
  synchronous_commit: 'on',
  transaction_isolation: 'read committed',
  DateStyle: 'ISO, YMD',
  TimeZone: 'UTC',
  standard_conforming_strings: 'on',
  transform_null_equals: 'off',
  array_nulls: 'on',
  extra_float_digits: '1',
  statement_timeout: '10s',
  lock_timeout: '7500ms',
  idle_in_transaction_session_timeout: '7500ms',
};

async function expectSettings(db: Database, schema: string): Promise<void> {
  const found: Record<string, string | undefined> = {};
  for (const name of Object.keys(EXPECTED)) found[name] = await settingOf(db, name);
  expect(found).toEqual(EXPECTED);
  expect(await settingOf(db, 'search_path')).toBe(schema);
}

describe.skipIf(!hasPostgres)('a session of the store in PostgreSQL', () => {
  it('has its own settings, whatever the defaults of its user are', async () => {
    const location = await userWith(DEFAULTS);
    const { db } = await open(location);
    await expectSettings(db, location.schema);
    await immediately(db, 'acme', (connection) => expectSettings(connection, location.schema));
  });

  it('keeps the stronger guarantee of a user for its commits', async () => {
    const { db } = await open(await userWith({ synchronous_commit: 'remote_apply' }));
    expect(await settingOf(db, 'synchronous_commit')).toBe('remote_apply');
  });

  it('names the default that makes it read-only', async () => {
    const location = await userWith({ default_transaction_read_only: 'on' });
    await expect(open(location)).rejects.toMatchObject({
      code: 'store_readonly',
      message: expect.stringContaining('reset `default_transaction_read_only`'),
    });
  });

  it('refuses a pooler, which does not keep the settings of a session', async () => {
    const location = await freshLocation();
    const client = new pg.Client(location.url);
    await client.connect();
    onTestFinished(() => client.end());
    // The number of a process that a pooler invents.
    const pooled = Object.assign(client, { processID: 1 });
    await expect(prepareSession(pooled, location)).rejects.toMatchObject({
      code: 'store_unopenable',
      message: expect.stringContaining('leads to a connection pooler'),
    });
  });
});
