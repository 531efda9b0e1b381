// Opens the SQLite file: checks it first, makes it private, creates the tables, turns on WAL. Explains why it cannot be opened.
import { accessSync, chmodSync, closeSync, constants, openSync, realpathSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { Kysely, type SqliteDatabase, SqliteDialect } from 'kysely';
import { StoreError } from '../../core/errors.ts';
import { SQLite } from '../../platform/sqlite.ts';
import { APPLICATION_ID, inspectStoreFile, newerStore } from './inspect-file.ts';
import { setEngine } from '../engine.ts';
import { sqliteEngine } from './sqlite-engine.ts';
import { creationOf } from '../creation.ts';
import { type Database, SCHEMA_VERSION, type Tables } from '../tables.ts';
import { countAsOpen } from './open-files.ts';
import { openPrivateCopy } from './private-copy.ts';
import { recovery } from './recovery.ts';
import { makeStoreFolder } from './store-folder.ts';
import type { OpenOptions } from '../open-options.ts';

/** How long opening waits for another process. This is the only wait that blocks the process. */
const OPEN_TIMEOUT_MS = 2000;

/** Opens the file; creates it (mode 0600) and its folder when they are missing. Throws StoreError. */
export function openDatabase(file: string, options: OpenOptions = {}): Database {
  try {
    const { mustExist = false, readOnly = false } = options;
    const state = inspectStoreFile(file);
    if (state !== 'store' && (mustExist || readOnly)) throw missingStore(file);
    if (state !== 'missing' && !canBeWritten(file)) {
      if (readOnly) return kyselyOver(openPrivateCopy(file, createTables), () => undefined);
      throw readOnlyStore(file);
    }
    if (state === 'missing') makeStoreFolder(file);
    // Created before SQLite opens it, so that others can never read it or its WAL.
    if (state !== 'store') closeSync(openSync(file, 'a', 0o600));
    for (const part of ['', '-wal', '-shm']) makePrivate(`${file}${part}`);
    return openWritable(file);
  } catch (error) {
    throw toStoreError(error, file);
  }
}

export function missingStore(file: string): StoreError {
  return new StoreError('store_missing', `there is no store at ${file}: no run has been made here yet`);
}

function readOnlyStore(file: string): StoreError {
  return new StoreError('store_readonly', `${file}: ${READ_ONLY}`);
}

/** Whether SQLite can write the file, and create its own files beside it. */
export function canBeWritten(file: string): boolean {
  try {
    for (const path of [file, dirname(realpathSync(file))]) accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

function makePrivate(file: string): void {
  const mode = statSync(file, { throwIfNoEntry: false })?.mode ?? 0;
  // Only if needed: a user who may write the file is not always its owner, who alone may change the mode.
  if ((mode & 0o077) !== 0) chmodSync(file, 0o600);
}

function openWritable(file: string): Database {
  const driver = new SQLite(file, { timeout: OPEN_TIMEOUT_MS });
  try {
    driver.pragma('foreign_keys = ON');
    // Before WAL is turned on, so that the main file contains the application id from the start.
    createTables(driver, file);
    driver.pragma('journal_mode = WAL');
    // Such a commit survives a killed process. A commit by `durably` also survives a power failure.
    driver.pragma('synchronous = NORMAL');
    // From now on busy.ts waits, without blocking the process.
    driver.pragma('busy_timeout = 0');
    return kyselyOver(driver, countAsOpen(statSync(file)));
  } catch (error) {
    driver.close();
    throw error;
  }
}

function kyselyOver(driver: SQLite.Database, onClosed: () => void): Database {
  const db = new Kysely<Tables>({
    dialect: new SqliteDialect({ database: preparedOnce(driver, onClosed) }),
  });
  setEngine(db, sqliteEngine);
  return db;
}

const MOST_STATEMENTS = 100;

/** Keeps prepared statements, because kysely prepares each statement again at every execution. */
function preparedOnce(driver: SQLite.Database, onClosed: () => void): SqliteDatabase {
  const statements = new Map<string, SQLite.Statement>();
  return {
    close() {
      driver.close();
      onClosed();
    },
    prepare(text) {
      const known = statements.get(text);
      if (known !== undefined) return known;
      if (statements.size === MOST_STATEMENTS) statements.clear();
      const statement = driver.prepare(text);
      statements.set(text, statement);
      return statement;
    },
  };
}

/** Creates the tables in an empty file and sets the application id, in one transaction. Throws for a newer store. */
function createTables(driver: SQLite.Database, file: string): void {
  const pragma = (name: string): number => Number(driver.pragma(name, { simple: true }));
  const isCurrent = (): boolean => {
    const version = pragma('user_version');
    if (version > SCHEMA_VERSION) throw newerStore(file, version);
    return version === SCHEMA_VERSION;
  };
  if (isCurrent()) return;
  driver
    .transaction(() => {
      if (isCurrent()) return;
      driver.exec(creationOf('sqlite'));
      driver.pragma(`application_id = ${APPLICATION_ID}`);
      driver.pragma(`user_version = ${SCHEMA_VERSION}`);
    })
    .immediate();
}

const READ_ONLY = 'the store cannot be written; check the permissions of the file and of its folder';

const EXPLANATIONS: readonly (readonly [RegExp, string, string])[] = [
  // The shared memory of the WAL is a file too, which cannot grow on a full disk.
  [
    /^(SQLITE_FULL|SQLITE_IOERR_SHMSIZE|ENOSPC|EDQUOT)/,
    'store_full',
    'the disk of the store is full; free some space',
  ],
  // Errors of zlib come from compressed plans and lists, which have a checksum.
  [/^(SQLITE_(NOTADB|CORRUPT)|Z_)/, 'store_corrupt', 'the store is damaged'],
  [/^(SQLITE_READONLY|EROFS|EACCES|EPERM)/, 'store_readonly', READ_ONLY],
  [
    /^(SQLITE_CANTOPEN|ENOENT|ENOTDIR|EISDIR|EEXIST)/,
    'store_unopenable',
    'the store cannot be opened; check the path in `store:`',
  ],
  [/^SQLITE_(BUSY|LOCKED)/, 'store_busy', 'another program keeps the store locked; close it and try again'],
  [/^SQLITE_IOERR/, 'store_io', 'reading or writing the store failed; check the disk'],
];

/** Converts an error of SQLite or of the file system to a StoreError. Returns any other error unchanged: it is a bug. */
export function toStoreError(error: unknown, file: string): unknown {
  if (!(error instanceof Error) || error instanceof StoreError) return error;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  const explanation = EXPLANATIONS.find(([pattern]) => pattern.test(code));
  if (explanation !== undefined) {
    const [, kind, words] = explanation;
    const hint = kind === 'store_corrupt' ? `. ${recovery(file)}` : '';
    return new StoreError(kind, `${file}: ${words} (${code})${hint}`, { cause: error });
  }
  return code.startsWith('SQLITE_') && error instanceof SQLite.SqliteError
    ? new StoreError('store_failed', `${file}: ${error.message} (${code})`, { cause: error })
    : error;
}
