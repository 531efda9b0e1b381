// How the schema of a store in PostgreSQL is created and checked.
import { describe, expect, it, onTestFinished } from 'vitest';
import type { OpenOptions } from '../../../../src/store/engine.ts';
import type { PostgresLocation } from '../../../../src/store/postgres/postgres-errors.ts';
import { openStore } from '../../../../src/store/store.ts';
import { hasPostgres, queryPostgres } from '../../../support/postgres.ts';
import { freshLocation } from '../fixture.ts';

async function open(location: PostgresLocation, options: OpenOptions = {}) {
  const store = await openStore(location, options);
  onTestFinished(() => store.close());
  return store;
}

const query = ({ url, schema }: PostgresLocation, statement: string) =>
  queryPostgres(url, `set search_path to ${schema}; ${statement}`);

const failure = (work: Promise<unknown>) =>
  work.then(
    () => null,
    (error: unknown) => error,
  );

/** Roles belong to the cluster, which other tests use. */
async function dropUser(url: string, user: string): Promise<void> {
  await queryPostgres(url, `drop owned by ${user} cascade; drop role ${user}`);
}

const tablesOf = ({ url, schema }: PostgresLocation) =>
  queryPostgres(url, 'select tablename from pg_tables where schemaname = $1 order by 1', [schema]);

describe.skipIf(!hasPostgres)('a schema of PostgreSQL', () => {
  it('is created once when many processes open the store at the same time', async () => {
    const location = await freshLocation();
    const stores = await Promise.all(Array.from({ length: 8 }, () => open(location)));
    await Promise.all(stores.map((store, n) => store.journal.rememberThrottle(`account-${n}`, 5)));
    expect(await stores[0]?.reader.accounts()).toHaveLength(8);
  });

  it('of a newer version is refused and stays unchanged', async () => {
    const location = await freshLocation();
    await (await open(location)).close();
    await query(location, 'update store_version set version = 999');
    const before = await tablesOf(location);
    expect(await failure(open(location))).toMatchObject({ code: 'store_newer' });
    expect(await tablesOf(location)).toEqual(before);
  });

  it('with tables of another program is refused and stays unchanged', async () => {
    const location = await freshLocation();
    await queryPostgres(
      location.url,
      `create schema ${location.schema}; create table ${location.schema}.runs (theirs text)`,
    );
    const error = await failure(open(location));
    expect(error).toMatchObject({ code: 'store_foreign', message: expect.stringContaining('(runs)') });
    expect(await tablesOf(location)).toEqual([{ tablename: 'runs' }]);
  });

  it('that is missing is not created when the store must exist', async () => {
    const location = await freshLocation();
    expect(await failure(open(location, { mustExist: true }))).toMatchObject({ code: 'store_missing' });
    const found = await queryPostgres(location.url, 'select 1 from pg_namespace where nspname = $1', [
      location.schema,
    ]);
    expect(found).toEqual([]);
  });

  it('can be created by an administrator for a user who may create none', async () => {
    const location = await freshLocation();
    const { url, schema } = location;
    const user = `limited_${process.pid}_${Date.now()}`;
    await queryPostgres(url, `create role ${user} login`);
    const own = { ...location, url: url.replace('user=rolecall', `user=${user}`) };
    onTestFinished(() => dropUser(url, user));
    const error = await failure(open(own));
    expect(error).toMatchObject({ code: 'store_readonly', message: expect.stringContaining('grants') });

    await queryPostgres(url, `create schema ${schema}; grant usage, create on schema ${schema} to ${user}`);
    const store = await open(own);
    await store.check();
    await store.journal.rememberThrottle('acme', 5);
    expect(await store.reader.accounts()).toHaveLength(1);
    await store.close();
  });

  it('cannot be written by a user who may only read it, who can read all of it', async () => {
    const location = await freshLocation();
    const { url, schema } = location;
    await (await open(location)).journal.rememberThrottle('acme', 5);
    const user = `reader_${process.pid}_${Date.now()}`;
    await queryPostgres(
      url,
      `create role ${user} login; grant usage on schema ${schema} to ${user};
       grant select on all tables in schema ${schema} to ${user}`,
    );
    const own = { ...location, url: url.replace('user=rolecall', `user=${user}`) };
    onTestFinished(() => dropUser(url, user));
    const store = await open(own, { mustExist: true });
    expect(await store.reader.accounts()).toHaveLength(1);
    expect(await failure(store.journal.rememberThrottle('beta', 5))).toMatchObject({
      code: 'store_readonly',
    });
    await store.close();
  });

  it('has an index for each foreign key, without which a delete reads the complete table', async () => {
    const location = await freshLocation();
    await open(location);
    const unindexed = await queryPostgres(
      location.url,
      `select conrelid::regclass::text as "table", conname as name from pg_constraint
       where contype = 'f' and connamespace = $1::regnamespace and not exists (
         select 1 from pg_index where indrelid = conrelid and indpred is null and indkey[0] = conkey[1])`,
      [location.schema],
    );
    expect(unindexed).toEqual([]);
  });
});
