// A copy of a complete store in all four directions, with values of which each engine has its own idea.
import { execFile } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
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
      isInUse: true,
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

/** A copy in a process of its own that is killed while it writes. */
async function killedCopy(file: string, target: string): Promise<void> {
  const program = `
    import { copyStore } from ${JSON.stringify(join(import.meta.dirname, '../../../src/store/copy/copy-store.ts'))};
    const [file, target] = process.argv.slice(-2);
    await copyStore({ file }, { file: target }, () => process.kill(process.pid, 'SIGKILL'));`;
  const runner = join(import.meta.dirname, '../../support/run-typescript.mjs');
  const script = join(newFolder(), 'copy.ts');
  writeFileSync(script, program);
  await promisify(execFile)(process.execPath, [runner, script, file, target]).catch(() => undefined);
}

describe('a copy that was killed', () => {
  it('leaves a file that the next copy to its folder removes, and no other', async () => {
    const file = fullStore(3);
    const folder = newFolder();
    const of = (machine: string, pid: number): string => `.${machine}-${pid}-${randomUUID()}.rolecall-copy`;
    await killedCopy(file, join(folder, 'copy.db'));
    const [left = ''] = readdirSync(folder);
    expect(left).toMatch(/\.rolecall-copy$/);
    const machine = left.slice(1, 13);
    // That of a process that lives, and of another machine on which the process may live.
    const others = [of(machine, process.ppid), of('0123456789ab', 999_999_999)];
    for (const other of others) writeFileSync(join(folder, other), '');
    await copyStore({ file }, { file: join(folder, 'copy.db') });
    expect(readdirSync(folder).toSorted()).toEqual([...others, 'copy.db'].toSorted());
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

  it('keeps half surrogate pairs on the way to a database and back', async () => {
    const { file, operator, journal } = sqliteFixture();
    const odd = 'half\ud800 😀 \ude00nul\0 \uFFFD é';
    await journal.rememberThrottle('acme', 5);
    await operator.pause('acme', odd, { name: 'sam', via: 'cli' }, 0);
    const [there, back] = [await inDatabase(), join(newFolder(), 'back.db')];
    await copyStore({ file }, there);
    const store = await openStore(there);
    expect((await store.journal.accountState('acme')).pause?.reason).toBe(odd);
    await store.close();
    await copyStore(there, { file: back });
    const bytes = (of: string) => {
      const db = new SQLite(of, { readonly: true });
      const found = db.prepare('select hex(paused_reason) from accounts').pluck().get();
      db.close();
      return found;
    };
    expect(bytes(back)).toBe(bytes(file));
  });

  it('reports that replicas use its source', async () => {
    const from = await inDatabase();
    const store = await openStore(from);
    const copyTo = async () => await copyStore(from, { file: join(newFolder(), 'copy.db') });
    expect(await copyTo()).toMatchObject({ isInUse: false });
    await store.turns?.register('one', '1', 60_000);
    expect(await copyTo()).toMatchObject({ isInUse: true, locks: 0 });
    await store.turns?.retire('one');
    expect(await copyTo()).toMatchObject({ isInUse: false });
    await store.close();
  });

  it('is accepted by tables that nobody has used, and by no others', async () => {
    const file = fullStore(3);
    const unused = await inDatabase();
    await (await openStore(unused)).close();
    expect(await copyStore({ file }, unused)).toMatchObject({ runs: 3 });
    const statements = [
      `insert into S.settings values ('a', 'b')`,
      `insert into S.accounts (name) values ('a')`,
      `insert into S.config_generations values (1, 'a', 'b')`,
    ];
    for (const statement of statements) {
      const used = await inDatabase();
      await (await openStore(used)).close();
      await queryPostgres(used.url, statement.replace('S', used.schema));
      const table = /S\.(\w+)/.exec(statement)?.[1] ?? '';
      await expect(copyStore({ file }, used)).rejects.toMatchObject({
        code: 'copy_refused',
        message: expect.stringContaining(`it has rows in ${table}`) as string,
      });
    }
  });

  it('is refused when a newer version has used its source', async () => {
    const from = await inDatabase();
    await (await openStore(from)).close();
    await queryPostgres(from.url, `alter table ${from.schema}.runs add column later text`);
    const copy = copyStore(from, { file: join(newFolder(), 'copy.db') });
    await expect(copy).rejects.toMatchObject({ code: 'copy_refused' });
  });

  it('leaves no table when it fails', async () => {
    const file = fullStore(3);
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
