// Files that `store:` names by mistake: refused, with every byte, mode and time unchanged.
import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  lstatSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SQLite } from '../../../src/system/sqlite.ts';
import { describe, expect, it } from 'vitest';
import { APPLICATION_ID } from '../../../src/store/sqlite/store-file.ts';
import { creationOf } from '../../../src/store/creation.ts';
import { openSqlite } from '../../../src/store/sqlite/database.ts';
import { at, failure, sqliteFixture, newFolder } from './fixture.ts';

/** Everything that is visible of a folder: names, modes, times and bytes. */
function snapshot(folder: string): unknown {
  return [folder, ...readdirSync(folder).map((name) => join(folder, name))].map((path) => {
    const { mode, mtimeNs, size } = lstatSync(path, { bigint: true });
    return {
      path,
      mode,
      mtimeNs,
      size,
      bytes: lstatSync(path).isFile() ? readFileSync(path, 'latin1') : null,
    };
  });
}

/** A database that rolecall did not write, with an old date and a mode that others can read. */
function foreign(fill: (db: SQLite.Database) => void): string {
  const file = join(newFolder(), 'theirs.db');
  const db = new SQLite(file);
  fill(db);
  db.close();
  return aged(file);
}

function aged(file: string): string {
  chmodSync(file, 0o644);
  utimesSync(file, 1_600_000_000, 1_600_000_000);
  return file;
}

/** Copies a database with its log while it is open: what a killed process leaves behind. */
function killed(fill: (db: SQLite.Database) => void): string {
  const [from, to] = [join(newFolder(), 'x.db'), join(newFolder(), 'x.db')];
  const db = new SQLite(from);
  fill(db);
  for (const part of ['', '-wal', '-shm']) copyFileSync(`${from}${part}`, `${to}${part}`);
  db.close();
  return aged(to);
}

function ours(db: SQLite.Database): void {
  db.pragma('journal_mode = WAL');
  db.exec(creationOf('sqlite'));
  db.pragma(`application_id = ${String(APPLICATION_ID)}`);
  db.pragma('user_version = 1');
  db.exec("insert into accounts (name) values ('acme')");
}

const PLACES = (db: SQLite.Database): void => {
  db.exec('create table runs (a text); create table places (b text); insert into places values (1)');
};

const FOREIGN: Readonly<Record<string, () => string>> = {
  'a database of another application': () =>
    foreign((db) => {
      db.pragma('application_id = 252006674');
      PLACES(db);
    }),
  'a database without a version': () => foreign(PLACES),
  'a database in WAL mode': () =>
    foreign((db) => {
      db.pragma('journal_mode = WAL');
      PLACES(db);
    }),
  'a database with the application id of rolecall, no version and tables': () =>
    foreign((db) => {
      db.pragma(`application_id = ${String(APPLICATION_ID)}`);
      PLACES(db);
    }),
  'a database that a killed process left with its log': () =>
    killed((db) => {
      db.pragma('journal_mode = WAL');
      PLACES(db);
    }),
  'a text': () => {
    const file = join(newFolder(), 'notes.txt');
    writeFileSync(file, 'A text of some length, which is no database at all.\n'.repeat(20));
    return aged(file);
  },
  'a text of three bytes': () => {
    const file = join(newFolder(), 'notes.txt');
    writeFileSync(file, 'hi\n');
    return aged(file);
  },
  'an empty file whose log is not empty': () => {
    const file = killed(ours);
    writeFileSync(file, '');
    return aged(file);
  },
  'a folder': () => {
    const folder = join(newFolder(), 'x.db');
    mkdirSync(folder, { mode: 0o755 });
    return folder;
  },
  'a FIFO': () => {
    const file = join(newFolder(), 'pipe');
    execFileSync('mkfifo', ['-m', '0644', file]);
    return file;
  },
  'a newer store': () =>
    foreign((db) => {
      ours(db);
      db.pragma('user_version = 999');
    }),
};

describe('a file of another program', () => {
  it.each(Object.entries(FOREIGN))('(%s) is refused and stays unchanged', (what, make) => {
    const file = make();
    const folder = join(file, '..');
    const before = snapshot(folder);
    for (const options of [{}, { mustExist: true }]) {
      const error = failure(() => openSqlite(at(file), options));
      expect(error.message).toContain(file);
      expect(error.message).toContain('nothing was changed');
      if (what.endsWith('newer store')) expect(error.code).toBe('store_newer');
      else expect(error.code).toMatch(/^store_(foreign|unopenable)$/);
    }
    expect(snapshot(folder)).toEqual(before);
  });

  it('is refused without being opened if it is a device', () => {
    const before = lstatSync('/dev/null').mode;
    for (const device of ['/dev/null', '/dev/zero'])
      expect(failure(() => openSqlite(at(device))).message).toContain('is not a file');
    expect(lstatSync('/dev/null').mode).toBe(before);
  });

  it('is neither a target nor a source of a backup', async () => {
    const { backupStore } = await import('../../../src/store/backup.ts');
    const file = foreign(PLACES);
    const before = snapshot(join(file, '..'));
    await expect(backupStore(at(file), join(newFolder(), 'copy.db'))).rejects.toMatchObject({
      code: 'store_foreign',
    });
    await expect(backupStore(sqliteFixture().location, file)).rejects.toMatchObject({
      code: 'backup_refused',
    });
    expect(snapshot(join(file, '..'))).toEqual(before);
  });
});

describe('an empty file', () => {
  it('becomes a store', async () => {
    const file = join(newFolder(), 'x.db');
    writeFileSync(file, '');
    await sqliteFixture(file).begin(1);
  });

  it('is missing for a reader, and stays empty', () => {
    const file = join(newFolder(), 'x.db');
    writeFileSync(file, '');
    const before = snapshot(join(file, '..'));
    expect(failure(() => openSqlite(at(file), { mustExist: true })).code).toBe('store_missing');
    expect(snapshot(join(file, '..'))).toEqual(before);
  });
});

describe('a path at which no store can be created', () => {
  const OPEN = fileURLToPath(new URL('../../../dist/main.js', import.meta.url));

  it.each(['/proc/x/y/rolecall.db', '/etc/passwd/x/rolecall.db'])(
    '%s is refused at once, by name',
    (store) => {
      const folder = newFolder();
      writeFileSync(join(folder, 'rolecall.yaml'), `accounts: accounts/*.yaml\nstore: ${store}\n`);
      mkdirSync(join(folder, 'accounts'));
      writeFileSync(join(folder, 'accounts/acme.yaml'), 'baseUrl: http://127.0.0.1:9\ntoken: { env: T }\n');
      const args = ['--config', join(folder, 'rolecall.yaml'), 'pause', 'acme'];
      // A separate process, because a call that never returns would block the tests.
      const { status, stderr } = spawnSync(process.execPath, [OPEN, ...args], { timeout: 100_000 });
      expect([status, stderr.toString()]).toEqual([1, expect.stringContaining(`error: ${store}`)]);
      expect(stderr.toString()).toContain('check the path in `store:`');
      expect(existsSync(store)).toBe(false);
    },
  );
});
