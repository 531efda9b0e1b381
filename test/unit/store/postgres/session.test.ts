// What a session of the store depends on holds whatever the defaults of the role and of the database are.
import { sql } from 'kysely';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openPostgres } from '../../../../src/store/postgres/open-postgres-store.ts';
import type { PostgresLocation } from '../../../../src/store/postgres/location.ts';
import type { Database } from '../../../../src/store/tables.ts';
import { immediately } from '../../../../src/store/transactions.ts';
import { hasPostgres, queryPostgres } from '../../../support/postgres.ts';
import { transactionPooler } from '../../../support/transaction-pooler.ts';
import { DAY_MS, freshLocation, postgresFixture, T0 } from '../fixture.ts';

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

  it('has its settings in each transaction behind a pooler that gives it another session', async () => {
    const location = await userWith(DEFAULTS);
    const { db } = await open({ ...location, url: await transactionPooler(location.url) });
    await expectSettings(db, location.schema);
    await immediately(db, 'acme', (connection) => expectSettings(connection, location.schema));
  });

  it('journals and prunes behind a pooler that gives each transaction another session', async () => {
    const location = await freshLocation();
    const store = await postgresFixture({ ...location, url: await transactionPooler(location.url) });
    await store.end(await store.begin(1));
    const retention = { runsMs: 0, snapshotsMs: 0 };
    for (const [n, runs] of [0, 1].entries()) {
      expect(await store.prune(retention, T0 + 10 * DAY_MS)).toMatchObject({ runs });
      await store.end(await store.begin(2 + n));
    }
    const { url, schema } = location;
    expect(await queryPostgres(url, `select account from ${schema}.runs`)).toEqual([
      { account: 'acme' },
      { account: 'acme' },
    ]);
  });
});
