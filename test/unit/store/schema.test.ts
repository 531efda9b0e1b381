// The store file: its mode, its version, its documented tables and columns.
import { chmodSync, copyFileSync, existsSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { StoreError } from '../../../src/core/errors.ts';
import { createStore } from '../../../src/store/store.ts';
import { openSqlite } from '../../../src/store/sqlite/database.ts';
import { damageTable } from '../../support/damage.ts';
import { mountReadOnly } from '../../support/small-disk.ts';
import { SCHEMA_VERSION } from '../../../src/store/tables.ts';
import { at, failure, sqliteFixture, newFolder } from './fixture.ts';

const DOCUMENTED = {
  runs: 'id account remote_account_id trigger mode status started_at finished_at config_digest config_commit plan_digest created deleted held kept failed requests retries error_code error',
  operations:
    'run_id seq kind action name remote_id status rule reason attempts http_status started_at finished_at',
  snapshots: 'id run_id account phase kind taken_at digest entries',
  entries:
    'account kind remote_id name requested_name first_seen_run created_by_run adopted_by_run last_seen_run deleted_by_run',
  accounts:
    'name remote_account_id paused paused_at paused_by paused_reason pending_digest approved_digest consecutive_failures last_run_id',
  operator_actions: 'account at action by via detail',
};

describe('a new store', () => {
  it.each(Object.entries(DOCUMENTED))('has the table %s with its documented columns', (table, columns) => {
    const store = sqliteFixture();
    const existing = store
      .rows<{ name: string }>('select name from pragma_table_info(?)', table)
      .map(({ name }) => name);
    expect(columns.split(' ').filter((column) => !existing.includes(column))).toEqual([]);
  });

  it('has strict tables only', () => {
    const tables = sqliteFixture().rows<{ name: string; strict: number }>(
      "select name, strict from pragma_table_list where schema = 'main' and type = 'table' and name not like 'sqlite_%'",
    );
    expect(tables.length).toBeGreaterThan(5);
    expect(tables.filter(({ strict }) => strict !== 1)).toEqual([]);
  });

  it('is in WAL mode and has the version of the schema', () => {
    const store = sqliteFixture();
    expect(store.rows('pragma journal_mode')).toEqual([{ journal_mode: 'wal' }]);
    const [version] = store.rows<{ user_version: number }>('pragma user_version');
    expect(version?.user_version).toBe(SCHEMA_VERSION);
  });

  it('is readable by its owner alone, with its WAL and its folder', async () => {
    const store = sqliteFixture();
    await store.begin(1);
    for (const file of [store.file, `${store.file}-wal`, `${store.file}-shm`]) {
      expect([file, statSync(file).mode & 0o777]).toEqual([file, 0o600]);
    }
    expect(statSync(dirname(store.file)).mode & 0o077).toBe(0);
  });
});

describe('an existing store', () => {
  it('keeps its rows when it is opened again', async () => {
    const folder = newFolder();
    const first = sqliteFixture(join(folder, 'x.db'));
    const id = await first.begin(1);
    await first.end(id);
    const again = sqliteFixture(join(folder, 'x.db'));
    expect((await again.reader.run(id))?.run).toMatchObject({ id, status: 'converged' });
  });

  it('is made private when others could read it', () => {
    const file = join(newFolder(), 'x.db');
    writeFileSync(file, '');
    chmodSync(file, 0o644);
    const store = sqliteFixture(file);
    expect(statSync(store.file).mode & 0o777).toBe(0o600);
  });

  it('that is damaged is found by `verify`, whose error says how to recover', async () => {
    const file = join(newFolder(), 'a store.db');
    await openSqlite(at(file)).close();
    const intact = openSqlite(at(file));
    await intact.verify();
    await intact.close();
    damageTable(file, 'plan_bodies');
    const store = openSqlite(at(file));
    onTestFinished(() => store.close());
    await expect(store.verify()).rejects.toMatchObject({
      code: 'store_corrupt',
      message: expect.stringContaining('copy a backup to its place') as string,
    });
  });

  it('is not created when it must exist and is missing', () => {
    const file = join(newFolder(), 'sub', 'x.db');
    expect(failure(() => openSqlite(at(file), { mustExist: true })).code).toBe('store_missing');
    expect(existsSync(dirname(file))).toBe(false);
  });

  it('that cannot be written is read as it is, unless its latest changes are in a log that cannot be read', async (context) => {
    const store = sqliteFixture(join(newFolder(), 'x.db'));
    const [live, copy] = [dirname(store.file), newFolder()];
    const id = await store.begin(1);
    for (const part of ['', '-wal']) copyFileSync(`${store.file}${part}`, join(copy, `x.db${part}`));
    const mounts = { live: newFolder(), copy: newFolder() };
    if (!mountReadOnly(live, mounts.live)) return context.skip('nothing can be mounted here');
    const reported: string[] = [];
    const onReadOnly = (file: string) => void reported.push(file);
    const open = (folder: string) => createStore(openSqlite(at(join(folder, 'x.db')), { onReadOnly }));
    const runs = async (folder: string) => {
      const opened = open(folder);
      await opened.journal.rememberThrottle('dropped', 5);
      const found = await opened.reader.runs({ limit: 9 });
      await opened.close();
      return found.map((run) => run.id);
    };
    expect(await runs(mounts.live)).toEqual([id]);
    const next = await store.begin(2);
    expect(await runs(mounts.live)).toEqual([next, id]);
    expect(store.rows('select name from accounts')).toEqual([{ name: 'acme' }]);
    mountReadOnly(copy, mounts.copy);
    expect(failure(() => open(mounts.copy)).message).toContain('the latest changes are in its log');
    expect(failure(() => createStore(openSqlite(at(join(mounts.copy, 'x.db'))))).code).toBe('store_readonly');
    await store.close();
    expect(existsSync(`${store.file}-wal`)).toBe(false);
    expect(await runs(mounts.live)).toEqual([next, id]);
    expect(new Set(reported)).toEqual(new Set([join(mounts.live, 'x.db')]));
  });

  it('fails as a StoreError with the file when a write fails', async () => {
    const store = sqliteFixture();
    store.execute('drop table runs');
    const error: unknown = await store.begin(1).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(StoreError);
    expect(String(error)).toContain(store.file);
  });
});
