// Opens the SQLite file: judges it first, makes it private, creates the tables, turns on WAL. As an engine, SQLite has one
// writer at a time, for all processes of one machine.
import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  statSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import { sql, type SqliteDatabase, SqliteDialect } from 'kysely';
import { StoreError, errorCode } from '../../core/errors.ts';
import type { OpenLocation } from '../../core/settings.ts';
import { SQLite } from '../../system/sqlite.ts';
import { creationOf, otherVersion } from '../creation.ts';
import { databaseOver, type OpenDatabase, type OpenOptions, immediately, type Engine } from '../engine.ts';
import { type Database, SCHEMA_VERSION } from '../tables.ts';
import { damagedStore, LOG_UNREADABLE, missingStore, readOnlyStore, toStoreError } from './sqlite-errors.ts';
import { APPLICATION_ID, countAsOpen, hasLog, inspectStoreFile } from './store-file.ts';
import { isDead } from '../process-identity.ts';
import { toIso } from '../row-values.ts';

/** How long opening waits for another process. This is the only wait that blocks the process. */
const OPEN_TIMEOUT_MS = 2000;

export type SqliteLocation = Extract<OpenLocation, { readonly file: string }>;

/** Opens or creates the store in a file. Throws StoreError. */
export function openSqlite(location: SqliteLocation, options: OpenOptions = {}): OpenDatabase {
  const { file } = location;
  const db = openDatabase(location, options);
  return {
    db,
    quick: db,
    assertUsable: sameFile(file),
    write: () => writeNothing(db),
    async verify() {
      const { rows } = await sql<{ quick_check: string }>`pragma quick_check(1)`.execute(db);
      const finding = rows[0]?.quick_check ?? '';
      if (finding !== 'ok') throw damagedStore(file, finding);
    },
    toStoreError: (error) => toStoreError(error, file),
    async close() {
      // kysely closes only what it has used: without a query, the file would stay open.
      await db.connection().execute(() => Promise.resolve());
      await db.destroy();
    },
  };
}

/** Throws StoreError when the file was removed or replaced since: other processes would not see what is written to it. */
function sameFile(path: string): () => void {
  const opened = statSync(path, { bigint: true });
  return () => {
    const now = statSync(path, { bigint: true, throwIfNoEntry: false });
    if (now?.ino === opened.ino && now.dev === opened.dev) return;
    const what = now === undefined ? 'was removed' : 'was replaced by another file';
    throw new StoreError(
      'store_replaced',
      `${path} ${what} while it was open; nothing more is written. Restart rolecall`,
    );
  };
}

/** Writes the present version again. This changes nothing, but it writes a page, which fails on a full disk. */
async function writeNothing(db: Database): Promise<void> {
  await immediately(db, 'version', (connection) =>
    sql`pragma user_version = ${sql.raw(String(SCHEMA_VERSION))}`.execute(connection),
  );
}

/** Opens the file; creates it (mode 0600) and its folder when they are missing and need not exist. Throws StoreError. */
export function openDatabase(
  location: SqliteLocation,
  { mustExist = false, onReadOnly }: OpenOptions = {},
): Database {
  const { file } = location;
  try {
    const state = inspectStoreFile(file);
    if (state !== 'store' && mustExist) throw missingStore(file);
    if (state === 'missing') makeFolder(dirname(resolve(file)));
    // Created before SQLite opens it, so that others can never read it or its WAL.
    if (state === 'missing') closeSync(openSync(file, 'a', 0o600));
    if (!isWritable(file)) {
      if (state !== 'store' || onReadOnly === undefined) throw readOnlyStore(file);
      // A database in memory cannot have a log, so bytes 18 and 19, its write and its read version, must be 1.
      const driver = new SQLite(contentOf(file).fill(1, 18, 20));
      onReadOnly(file);
      return openDriver(driver, location);
    }
    for (const part of ['', '-wal', '-shm']) makePrivate(`${file}${part}`);
    return openDriver(new SQLite(file, { timeout: OPEN_TIMEOUT_MS }), location);
  } catch (error) {
    throw toStoreError(error, file);
  }
}

/** Whether SQLite can write the file, and create its own files beside it. */
export function isWritable(file: string): boolean {
  try {
    for (const path of [file, dirname(realpathSync(file))]) accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** The content of a store that cannot be written, for a database in memory. Another user may write it meanwhile. */
function contentOf(file: string): Buffer {
  const driver = new SQLite(file, { readonly: true, timeout: OPEN_TIMEOUT_MS });
  try {
    // Fails with the reason, which an error of `serialize` does not contain.
    driver.pragma('user_version');
    return driver.serialize();
  } catch (error) {
    // Without the files of its log, which cannot be created here, SQLite does not open it.
    if (!/^SQLITE_(CANTOPEN|READONLY_DIRECTORY)$/.test(errorCode(error))) throw error;
    const content = readFileSync(file);
    if (hasLog(file)) throw readOnlyStore(file, LOG_UNREADABLE);
    return content;
  } finally {
    driver.close();
  }
}

/**
 * Creates the folder of a store and its missing parents (mode 0700), one at a time: Node's recursive mkdir never returns on
 * file systems such as /proc.
 */
function makeFolder(folder: string): void {
  if (existsSync(folder)) return;
  makeFolder(dirname(folder));
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    // Another process may create the same folder at the same time.
    if (errorCode(error) !== 'EEXIST') throw error;
  }
}

function makePrivate(file: string): void {
  const mode = statSync(file, { throwIfNoEntry: false })?.mode ?? 0;
  // Only if needed: a user who may write the file is not always its owner, who alone may change the mode.
  if ((mode & 0o077) !== 0) chmodSync(file, 0o600);
}

function openDriver(driver: SQLite.Database, { file, leaseMs }: SqliteLocation): Database {
  try {
    driver.pragma('foreign_keys = ON');
    // Before WAL is turned on, so that the main file contains the application id from the start.
    createTables(driver, file);
    driver.pragma('journal_mode = WAL');
    // Such a commit survives a killed process. A commit by `durably` also survives a power failure.
    driver.pragma('synchronous = NORMAL');
    // From now on the store waits, without blocking the process.
    driver.pragma('busy_timeout = 0');
    const database = preparedOnce(driver, countAsOpen(file));
    return databaseOver(new SqliteDialect({ database }), sqliteEngine(leaseMs));
  } catch (error) {
    driver.close();
    throw error;
  }
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

/** Creates the tables in an empty file and sets the application id, in one transaction. Throws for a store of another version. */
function createTables(driver: SQLite.Database, file: string): void {
  const pragma = (name: string): number => Number(driver.pragma(name, { simple: true }));
  const isCurrent = (): boolean => {
    const version = pragma('user_version');
    if (version !== 0 && version !== SCHEMA_VERSION) throw otherVersion(file, version);
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

export function sqliteEngine(leaseMs: number): Engine {
  return {
    async transact(connection, options, work) {
      if (!options.isDurable) return await transact(connection, work);
      await sql`pragma synchronous = full`.execute(connection);
      try {
        return await transact(connection, work);
      } finally {
        await sql`pragma synchronous = normal`.execute(connection);
      }
    },
    // A row that another one refers to may be pruned meanwhile.
    isRepeatable: (error) =>
      error instanceof SQLite.SqliteError && /^SQLITE_(BUSY|LOCKED|CONSTRAINT_FOREIGNKEY)/.test(error.code),
    // The transaction has the write lock from its start.
    forShare: sql``,
    timeAfter: (ms, nowMs) => sql`${toIso(nowMs + ms)}`,
    clockMs: (_connection, nowMs) => Promise.resolve(nowMs),
    isDead,
    leaseMs,
  };
}

/** Takes the write lock at the start, so that a second writer cannot make the transaction fail later. */
async function transact<T>(connection: Database, work: (connection: Database) => Promise<T>): Promise<T> {
  await sql`begin immediate`.execute(connection);
  try {
    const result = await work(connection);
    await sql`commit`.execute(connection);
    return result;
  } catch (error) {
    // After a full disk SQLite may have rolled back already. Then this fails, and the first error is the cause.
    await sql`rollback`.execute(connection).catch(() => undefined);
    throw error;
  }
}
