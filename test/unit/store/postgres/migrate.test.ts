// How the schema of a store in PostgreSQL is created and checked, and that it is the schema of SQLite.
import { describe, expect, it, onTestFinished } from 'vitest';
import type { OpenOptions } from '../../../../src/store/open-options.ts';
import type { PostgresLocation } from '../../../../src/store/postgres/location.ts';
import { openPostgresStore } from '../../../../src/store/postgres/open-postgres-store.ts';
import { hasPostgres, queryPostgres } from '../../../support/postgres.ts';
import { freshLocation, sqliteFixture } from '../fixture.ts';

async function open(location: PostgresLocation, options: OpenOptions = {}) {
  const store = await openPostgresStore(location, options);
  onTestFinished(() => store.close());
  return store;
}

/** What SQLite does not need: it has a version of its own, and one process makes all scheduled runs. */
const OWN_TABLES = ['store_version', 'config_generations', 'replicas', 'turns'];

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
    const store = await open(own, { readOnly: true });
    expect(await store.reader.accounts()).toHaveLength(1);
    expect(await failure(store.journal.rememberThrottle('beta', 5))).toMatchObject({
      code: 'store_readonly',
    });
    await store.close();
  });

  it('is verified with the rights of the user on each table and sequence', async () => {
    const location = await freshLocation();
    const { url, schema } = location;
    await (await open(location)).verify();
    const user = `daemon_${process.pid}_${Date.now()}`;
    await queryPostgres(url, `create role ${user} login; grant usage on schema ${schema} to ${user}`);
    onTestFinished(() => dropUser(url, user));
    await queryPostgres(url, `grant select on all tables in schema ${schema} to ${user}`);
    const store = await open({ ...location, url: url.replace('user=rolecall', `user=${user}`) });
    const problem = async (): Promise<string> => ((await failure(store.verify())) as Error).message;
    expect(await problem()).toContain(
      `the user ${user} lacks the right to insert, update, delete on accounts (and 17 more); as the owner run \`grant insert`,
    );
    await queryPostgres(url, `grant insert, update, delete on all tables in schema ${schema} to ${user}`);
    const grant = /`(grant .*)`$/.exec(await problem())?.[1] ?? '';
    expect(grant).toBe(`grant usage on sequence ${schema}.turn_epochs to ${user}`);
    await queryPostgres(url, grant);
    expect(await failure(store.verify())).toBe(null);
  });

  it('has the tables and columns of SQLite, with types that hold the same values', async () => {
    const location = await freshLocation();
    await open(location);
    const { url, schema } = location;
    const columns = await queryPostgres(
      url,
      `select table_name as "table", column_name as "column", is_nullable = 'NO' as "isRequired",
         case data_type when 'bigint' then 'integer' when 'bytea' then 'blob' else data_type end as type,
         case when data_type = 'text' then collation_name end as collation,
         column_name in (
           select attname from pg_attribute join pg_index on indrelid = attrelid and attnum = any (indkey)
           where indisprimary and attrelid = format('%I.%I', table_schema, table_name)::regclass) as "isKey"
       from information_schema.columns where table_schema = $1`,
      [schema],
    );
    const inPostgres = columns.filter(
      ({ table, column }) => !OWN_TABLES.includes(String(table)) && column !== 'rowid',
    );
    const inSqlite = sqliteFixture().rows(
      `select tables.name as "table", columns.name as "column", lower(columns.type) as type,
         columns."notnull" = 1 or columns.pk > 0 as "isRequired", columns.pk > 0 as "isKey"
       from pragma_table_list as tables join pragma_table_info(tables.name) as columns
       where tables.schema = 'main' and tables.type = 'table' and tables.name not like 'sqlite_%'`,
    );
    const shape = (rows: readonly Readonly<Record<string, unknown>>[]) =>
      rows
        .map((row) =>
          [row['table'], row['column'], row['type'], Boolean(row['isRequired']), Boolean(row['isKey'])].join(
            ' ',
          ),
        )
        .toSorted();
    expect(shape(inPostgres)).toEqual(shape(inSqlite));
    expect(inPostgres.filter(({ type, collation }) => type === 'text' && collation !== 'C')).toEqual([]);
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
