// A copy of a complete store in PostgreSQL, with values of which each engine has its own idea.
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { Kysely, PostgresDialect, sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { copyStore } from '../../../src/store/copy-store.ts';
import { createPool } from '../../../src/store/postgres/pool.ts';
import type { PostgresLocation } from '../../../src/store/postgres/postgres-errors.ts';
import { openStore } from '../../../src/store/store.ts';
import { type Table, TABLES } from '../../../src/store/tables.ts';
import { SQLite } from '../../../src/system/sqlite.ts';
import { FORBIDDEN_NAMES, ODD_NAMES } from '../../support/hostile-names.ts';
import { freshPostgres, hasPostgres, queryPostgres } from '../../support/postgres.ts';
import { newFolder, sqliteFixture } from './fixture.ts';

const TABLES_OF_FILES = Object.entries<Table>(TABLES);

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
    return /\.(id|seq)$/.test(own) && own !== 'operations.seq' ? 2 ** 40 + row * 7 : row * 7;
  const body = createHash('sha512').update(`${own} ${row}`).digest();
  return /blob/i.test(type)
    ? Buffer.concat(Array<Buffer>(row % 40).fill(body))
    : `${HOSTILE[row % HOSTILE.length] ?? ''} ${row}`;
}

/** A store in a file in which each table has rows, one of them more than a piece, with gaps between the ids. */
function fullStore(rows: number, states = rows): string {
  const { file } = sqliteFixture();
  const db = new SQLite(file);
  db.pragma('foreign_keys = ON');
  for (const [name] of TABLES_OF_FILES) {
    const all = db
      .prepare(`select name, type, "notnull", pk from pragma_table_info('${name}')`)
      .all() as ColumnInfo[];
    const insert = db.prepare(
      `insert into ${name} (${all.map((column) => column.name).join(', ')}) values (${all.map(() => '?').join(', ')})`,
    );
    db.transaction(() => {
      const last = name === 'notice_states' ? states : rows;
      for (let row = 1; row <= last; row += 1) {
        insert.run(...all.map((column) => valueOf(`${name}.${column.name}`, column, row)));
      }
    })();
  }
  db.close();
  return file;
}

/** The rows of a table as JSON, whose bodies are in hexadecimal digits. */
function shownRows(rows: readonly unknown[]): string[] {
  const shown = (_key: string, value: unknown): unknown => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    if ('type' in value && value.type === 'Buffer' && 'data' in value)
      return Buffer.from(value.data as number[]).toString('hex'); // the JSON of a Buffer
    return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  };
  return rows.map((row) => JSON.stringify(row, shown)).toSorted();
}

function contentOfFile(file: string): Record<string, string[]> {
  const db = new SQLite(file, { readonly: true });
  const tables = TABLES_OF_FILES.map(([name]) => [
    name,
    shownRows(db.prepare(`select * from ${name}`).all()),
  ]);
  db.close();
  return Object.fromEntries(tables) as Record<string, string[]>;
}

/** Reads through a pool of the store, which converts text that PostgreSQL cannot store. */
async function contentOfSchema(location: PostgresLocation): Promise<Record<string, string[]>> {
  const db = new Kysely({ dialect: new PostgresDialect({ pool: createPool(location) }) });
  const tables: [string, string[]][] = [];
  for (const [name] of TABLES_OF_FILES) {
    const { rows } = await sql`select * from ${sql.table(name)}`.execute(db);
    tables.push([name, shownRows(rows)]);
  }
  await db.destroy();
  return Object.fromEntries(tables);
}

const inDatabase = async (): Promise<PostgresLocation> => ({
  ...(await freshPostgres()),
  pool: 2,
  leaseMs: 60_000,
});

describe.skipIf(!hasPostgres)('a copy of a store', () => {
  it('has every row with its ids, and its counters continue behind them', async () => {
    const file = fullStore(60, 1100);
    const to = await inDatabase();
    let last: number[] = [];
    const copied = await copyStore(file, to, (...progress) => (last = progress));
    const rows = 60 * (TABLES_OF_FILES.length - 1) + 1100;
    expect(copied).toMatchObject({ tables: TABLES_OF_FILES.length, rows, runs: 60, isInUse: true });
    expect(copied.leases).toBeGreaterThan(0);
    expect(last).toEqual([2 * rows, 2 * rows]);
    expect(await contentOfSchema(to)).toEqual(contentOfFile(file));
    const [next] = await queryPostgres(
      to.url,
      `insert into ${to.schema}.operator_actions (account, at, action, by, via) values ('a', 'b', 'c', 'd', 'e') returning seq`,
    );
    const [largest] = await queryPostgres(
      to.url,
      `select max(seq) as seq from ${to.schema}.operator_actions where account <> 'a'`,
    );
    expect(Number(next?.['seq'])).toBe(Number(largest?.['seq']) + 1);
  });

  it('is accepted by tables that nobody has used, and by no others', async () => {
    const file = fullStore(3);
    const unused = await inDatabase();
    await (await openStore(unused)).close();
    expect(await copyStore(file, unused)).toMatchObject({ runs: 3 });
    const statements = [
      `insert into S.settings values ('a', 'b')`,
      `insert into S.accounts (name) values ('a')`,
    ];
    for (const statement of statements) {
      const used = await inDatabase();
      await (await openStore(used)).close();
      await queryPostgres(used.url, statement.replace('S', used.schema));
      const table = /S\.(\w+)/.exec(statement)?.[1] ?? '';
      await expect(copyStore(file, used)).rejects.toMatchObject({
        code: 'copy_refused',
        message: expect.stringContaining(`it has rows in ${table}`) as string,
      });
    }
  });

  it('leaves no table when it fails', async () => {
    const file = fullStore(3);
    const to = await inDatabase();
    const fails = copyStore(file, to, (done, total) => {
      if (done === total) throw new Error('killed');
    });
    await expect(fails).rejects.toThrow('killed');
    expect(await queryPostgres(to.url, `select 1 from pg_namespace where nspname = '${to.schema}'`)).toEqual(
      [],
    );
    await expect(copyStore(join(newFolder(), 'missing'), to)).rejects.toMatchObject({
      code: 'store_missing',
    });
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
      await expect(copyStore(file, to)).rejects.toMatchObject({
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
});
