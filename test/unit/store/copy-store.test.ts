// A copy of a complete store in all four directions, with values of which each engine has its own idea.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { OpenLocation } from '../../../src/core/settings.ts';
import { COPIED_TABLES } from '../../../src/store/copy/copied-tables.ts';
import { copyStore } from '../../../src/store/copy/copy-store.ts';
import { createTableDigest } from '../../../src/store/copy/table-digest.ts';
import { openStore } from '../../../src/store/open-store.ts';
import { SQLite } from '../../../src/platform/sqlite.ts';
import { FORBIDDEN_NAMES, ODD_NAMES } from '../../support/hostile-names.ts';
import { freshPostgres, hasPostgres, queryPostgres } from '../../support/postgres.ts';
import { newFolder, sqliteFixture } from './fixture.ts';

const HOSTILE = [...FORBIDDEN_NAMES, ...ODD_NAMES, 'mark \uFDD00000', '{"a",NULL}', '\\x41', 'NULL'];

const REFERENCES: Readonly<Record<string, string>> = {
  'operations.run_id': 'runs.id',
  'snapshots.run_id': 'runs.id',
  'runs.plan_body': 'plan_bodies.digest',
  'snapshots.digest': 'snapshot_bodies.digest',
};

interface ColumnInfo {
  readonly name: string;
  readonly type: string;
  readonly notnull: number;
  readonly pk: number;
}

function valueOf(column: string, { type, notnull, pk }: ColumnInfo, row: number): unknown {
  const own = REFERENCES[column] ?? column;
  if (notnull === 0 && pk === 0 && row % 3 === 0) return null;
  // What counts by itself has 64 bits in PostgreSQL, everything else 32.
  if (/^integer$/i.test(type))
    return /\.(id|seq|rowid)$/.test(own) && own !== 'operations.seq' ? 2 ** 40 + row * 7 : row * 7;
  const body = createHash('sha512').update(`${own} ${row}`).digest();
  return /blob/i.test(type)
    ? Buffer.concat(Array<Buffer>(row % 40).fill(body))
    : `${HOSTILE[row % HOSTILE.length] ?? ''} ${row}`;
}

/** A store in a file in which each table has rows, one of them more than a piece, with gaps between the ids. */
function fullStore(rows: number, holdings = rows): string {
  const { file } = sqliteFixture();
  const db = new SQLite(file);
  db.pragma('foreign_keys = ON');
  for (const { name, hasRowid = false } of COPIED_TABLES) {
    const columns = db
      .prepare(`select name, type, "notnull", pk from pragma_table_info('${name}')`)
      .all() as ColumnInfo[];
    const all = [...columns, ...(hasRowid ? [{ name: 'rowid', type: 'integer', notnull: 1, pk: 1 }] : [])];
    const insert = db.prepare(
      `insert into ${name} (${all.map((column) => column.name).join(', ')}) values (${all.map(() => '?').join(', ')})`,
    );
    db.transaction(() => {
      const last = name === 'missing_holdings' ? holdings : rows;
      for (let row = 1; row <= last; row += 1) {
        insert.run(...all.map((column) => valueOf(`${name}.${column.name}`, column, row)));
      }
    })();
  }
  db.close();
  return file;
}

function contents(file: string): Record<string, unknown[]> {
  const db = new SQLite(file, { readonly: true });
  const order = (row: unknown): string => JSON.stringify(row);
  const tables = COPIED_TABLES.map(({ name, hasRowid }) => [
    name,
    (db.prepare(`select ${hasRowid === true ? 'rowid, ' : ''}* from ${name}`).all() as unknown[])
      .map(order)
      .toSorted(),
  ]);
  db.close();
  return Object.fromEntries(tables) as Record<string, unknown[]>;
}

const inDatabase = async (): Promise<Extract<OpenLocation, { url: string }>> => ({
  ...(await freshPostgres()),
  pool: 2,
  leaseMs: 60_000,
});

describe('a digest of a table', () => {
  const digest = (...rows: (string | number | Uint8Array | null)[][]): string => {
    const made = createTableDigest();
    for (const row of rows) made.add(row);
    return made.value();
  };

  it('does not depend on the order of the rows and differs for every other difference', () => {
    expect(digest(['a', 1], ['b', 2])).toBe(digest(['b', 2], ['a', 1]));
    const different = [
      [['a', 1]],
      [
        ['a', 1],
        ['a', 1],
      ],
      [['a', '1']],
      [['a1', '']],
      [['a', null]],
      [['a', '']],
      [['a', Buffer.from('1')]],
      [['a', -1]],
    ];
    expect(new Set(different.map((rows) => digest(...rows))).size).toBe(different.length);
  });
});

describe('a copy of a store in a file', () => {
  it('is complete in another file, which only its user can read', async () => {
    const file = fullStore(100);
    const target = join(newFolder(), 'new', 'copy.db');
    const steps = new Set<string>();
    const copied = await copyStore({ file }, { file: target }, ({ step, done, total }) => {
      steps.add(step);
      expect(done).toBeLessThanOrEqual(total);
    });
    expect(copied).toEqual({
      tables: COPIED_TABLES.length,
      rows: 100 * COPIED_TABLES.length,
      runs: 100,
      locks: 100,
    });
    expect([...steps]).toEqual(['copying', 'checking the copy']);
    expect(contents(target)).toEqual(contents(file));
    expect(statSync(target).mode & 0o777).toBe(0o600);
    expect(readdirSync(dirname(target))).toEqual(['copy.db']);
    await (await openStore({ file: target })).close();
  });

  it('never replaces a file, and leaves nothing when it fails', async () => {
    const file = fullStore(3);
    const folder = newFolder();
    writeFileSync(join(folder, 'other'), 'text');
    await expect(copyStore({ file }, { file: join(folder, 'other') })).rejects.toMatchObject({
      code: 'copy_refused',
    });
    await expect(copyStore({ file }, { file })).rejects.toMatchObject({ code: 'copy_refused' });
    await expect(
      copyStore({ file: join(folder, 'missing') }, { file: join(folder, 'a') }),
    ).rejects.toMatchObject({
      code: 'store_missing',
    });
    const late = copyStore({ file }, { file: join(folder, 'late') }, ({ step }) => {
      if (step === 'checking the copy') writeFileSync(join(folder, 'late'), 'a store of another process');
    });
    await expect(late).rejects.toMatchObject({ code: 'copy_refused' });
    const fails = copyStore({ file }, { file: join(folder, 'fails') }, () => {
      throw new Error('killed');
    });
    await expect(fails).rejects.toThrow('killed');
    expect(readdirSync(folder).toSorted()).toEqual(['late', 'other']);
  });
});

describe.skipIf(!hasPostgres)('a copy of a store', () => {
  it('is the same after a journey through two schemas of a database', async () => {
    const file = fullStore(60, 1100);
    const [first, second] = [await inDatabase(), await inDatabase()];
    const back = join(newFolder(), 'back.db');
    await copyStore({ file }, first);
    await copyStore(first, second);
    await copyStore(second, { file: back });
    expect(contents(back)).toEqual(contents(file));
    // The counters continue behind the copied rows.
    const [next] = await queryPostgres(
      second.url,
      `insert into ${second.schema}.operator_actions (account, at, action, by, via) values ('a', 'b', 'c', 'd', 'e') returning seq`,
    );
    const [last] = await queryPostgres(
      second.url,
      `select max(seq) as seq from ${first.schema}.operator_actions`,
    );
    expect(Number(next?.['seq'])).toBe(Number(last?.['seq']) + 1);
  });

  it('keeps half surrogate pairs and NUL from a database as SQLite stores them', async () => {
    const from = await inDatabase();
    const store = await openStore(from);
    await store.operator.pause('acme', 'half\ud800 nul\0', { name: 'sam', via: 'cli' }, 0);
    await store.close();
    const file = join(newFolder(), 'copy.db');
    await copyStore(from, { file });
    const db = new SQLite(file, { readonly: true });
    expect(db.prepare('select hex(paused_reason) from accounts').pluck().get()).toBe(
      '68616C66EDA080206E756C00',
    );
    db.close();
  });

  it('is refused by a schema with tables, and leaves no table when it fails', async () => {
    const file = fullStore(3);
    const used = await inDatabase();
    await (await openStore(used)).close();
    await expect(copyStore({ file }, used)).rejects.toMatchObject({ code: 'copy_refused' });
    const to = await inDatabase();
    const fails = copyStore({ file }, to, ({ step }) => {
      if (step === 'checking the copy') throw new Error('killed');
    });
    await expect(fails).rejects.toThrow('killed');
    expect(await queryPostgres(to.url, `select 1 from pg_namespace where nspname = '${to.schema}'`)).toEqual(
      [],
    );
    await expect(copyStore(to, { file: join(dirname(file), 'a') })).rejects.toMatchObject({
      code: 'store_missing',
    });
    expect(existsSync(join(dirname(file), 'a'))).toBe(false);
  });

  it('notices a row that the target stored differently', async () => {
    const file = fullStore(3);
    const to = await inDatabase();
    await queryPostgres(
      to.url,
      `create schema ${to.schema};
       create function ${to.schema}.change() returns trigger language plpgsql as $$ begin new.name := 'x' || new.name; return new; end $$;
       create function ${to.schema}.watch() returns event_trigger language plpgsql as $$ begin
         if to_regclass('${to.schema}.notices') is not null and not exists (select from pg_trigger where tgrelid = to_regclass('${to.schema}.entries')) then
           create trigger t before insert on ${to.schema}.entries for each row execute function ${to.schema}.change();
         end if; end $$;
       create event trigger watch_${to.schema} on ddl_command_end when tag in ('CREATE TABLE') execute function ${to.schema}.watch()`,
    );
    try {
      await expect(copyStore({ file }, to)).rejects.toMatchObject({
        code: 'copy_failed',
        message: expect.stringContaining('the copy of entries differs'),
      });
    } finally {
      await queryPostgres(to.url, `drop event trigger watch_${to.schema}`);
    }
    expect(await queryPostgres(to.url, `select to_regclass('${to.schema}.runs') as found`)).toEqual([
      { found: null },
    ]);
  });

  it('contains every table of both engines but the turns of replicas', async () => {
    const { file } = sqliteFixture();
    const place = await inDatabase();
    await (await openStore(place)).close();
    const db = new SQLite(file, { readonly: true });
    const inFile = db
      .prepare(`select name from sqlite_schema where type = 'table' and name not like 'sqlite_%'`)
      .pluck()
      .all();
    db.close();
    const rows = await queryPostgres(
      place.url,
      `select relname as name from pg_class join pg_namespace n on n.oid = relnamespace where nspname = '${place.schema}' and relkind = 'r'`,
    );
    const names = COPIED_TABLES.map(({ name }) => name).toSorted();
    expect(inFile.map(String).toSorted()).toEqual(names);
    const own = ['config_generations', 'replicas', 'store_version', 'turns'];
    expect(
      rows
        .map(({ name }) => String(name))
        .filter((name) => !own.includes(name))
        .toSorted(),
    ).toEqual(names);
  });
});
