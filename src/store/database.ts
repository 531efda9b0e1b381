// Opens the SQLite file: private, WAL, migrated; and says in one sentence why it cannot (contract, section 6).
import { chmodSync, closeSync, existsSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { Kysely, sql, type SqliteDatabase, SqliteDialect } from 'kysely';
import { StoreError } from '../core/errors.ts';
import { nearKey } from '../core/names.ts';
import { SQLite } from '../platform/sqlite.ts';
import { MIGRATIONS } from './migrations.ts';
import type { Tables } from './tables.ts';

export type Database = Kysely<Tables>;

/** How long an opening waits for another process; it is the only wait that keeps the whole process waiting. */
const OPEN_TIMEOUT_MS = 2000;

/** Opens the file, making it and its folder (mode 0600) when missing. Throws StoreError. */
export function openDatabase(file: string, options: { mustExist?: boolean } = {}): Database {
  try {
    if (options.mustExist === true && !existsSync(file)) {
      throw new StoreError('store_missing', `there is no store at ${file} yet: nothing has run here`);
    }
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    // Made before SQLite opens it, so that neither it nor its WAL is ever readable by others.
    closeSync(openSync(file, 'a', 0o600));
    chmodSync(file, 0o600);
    const driver = new SQLite(file, { timeout: OPEN_TIMEOUT_MS });
    try {
      driver.pragma('journal_mode = WAL');
      // A commit survives a killed process; `durably` makes one that survives a power failure.
      driver.pragma('synchronous = NORMAL');
      driver.pragma('foreign_keys = ON');
      migrate(driver, file);
      driver.function('near_key', { deterministic: true }, (name) => nearKey(String(name)));
      // From now on store.ts waits, and lets others go on meanwhile.
      driver.pragma('busy_timeout = 0');
    } catch (error) {
      driver.close();
      throw error;
    }
    return new Kysely<Tables>({ dialect: new SqliteDialect({ database: preparedOnce(driver) }) });
  } catch (error) {
    throw toStoreError(error, file);
  }
}

const MOST_STATEMENTS = 100;

/** Statements are kept, since kysely prepares anew at every execution: a run of a thousand creates executes five. */
function preparedOnce(driver: SQLite.Database): SqliteDatabase {
  const statements = new Map<string, SQLite.Statement>();
  return {
    close: () => driver.close(),
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

function migrate(driver: SQLite.Database, file: string): void {
  const version = (): number => Number(driver.pragma('user_version', { simple: true }));
  const refuseNewer = (): void => {
    if (version() > MIGRATIONS.length) {
      throw new StoreError(
        'store_newer',
        `the store ${file} was written by a newer rolecall (schema ${version()}, this program knows ${MIGRATIONS.length}); use that version, nothing was changed`,
      );
    }
  };
  refuseNewer();
  if (version() === MIGRATIONS.length) return;
  driver
    .transaction(() => {
      refuseNewer();
      for (const step of MIGRATIONS.slice(version())) driver.exec(step);
      driver.pragma(`user_version = ${MIGRATIONS.length}`);
    })
    .immediate();
}

/** A transaction that takes the write lock at its start, so that it never fails half-way for a second writer. */
export async function immediately<T>(db: Database, work: (connection: Database) => Promise<T>): Promise<T> {
  return await db.connection().execute((connection) => transact(connection, work));
}

/**
 * The same, on the disk when it resolves, with all that was committed before: for what was sent, for results, and for
 * an operator's word (contract, section 6).
 */
export async function durably<T>(db: Database, work: (connection: Database) => Promise<T>): Promise<T> {
  return await db.connection().execute(async (connection) => {
    await sql`pragma synchronous = full`.execute(connection);
    try {
      return await transact(connection, work);
    } finally {
      await sql`pragma synchronous = normal`.execute(connection);
    }
  });
}

async function transact<T>(connection: Database, work: (connection: Database) => Promise<T>): Promise<T> {
  await sql`begin immediate`.execute(connection);
  try {
    const result = await work(connection);
    await sql`commit`.execute(connection);
    return result;
  } catch (error) {
    // A full disk may have rolled back already; then this fails, and the first error is the one that counts.
    await sql`rollback`.execute(connection).catch(() => undefined);
    throw error;
  }
}

const EXPLANATIONS: readonly (readonly [RegExp, string, string])[] = [
  // The shared memory beside the WAL is a file too, and cannot grow.
  [
    /^(SQLITE_FULL|SQLITE_IOERR_SHMSIZE|ENOSPC|EDQUOT)/,
    'store_full',
    'the disk of the store is full; make room',
  ],
  [/^SQLITE_(NOTADB|CORRUPT)/, 'store_corrupt', 'the file is not a sound SQLite database; restore a backup'],
  [
    /^(SQLITE_READONLY|EROFS|EACCES|EPERM)/,
    'store_readonly',
    'the store cannot be written; check the permissions of the file and of its folder',
  ],
  [
    /^(SQLITE_CANTOPEN|ENOENT|ENOTDIR|EISDIR|EEXIST)/,
    'store_unopenable',
    'the store cannot be opened; check the path in `store:`',
  ],
  [/^SQLITE_(BUSY|LOCKED)/, 'store_busy', 'another program keeps the store locked; close it and try again'],
  [/^SQLITE_IOERR/, 'store_io', 'reading or writing the store failed; check the disk'],
];

/** The StoreError that an error of SQLite or of the file system means; anything else is a bug and stays itself. */
export function toStoreError(error: unknown, file: string): unknown {
  if (!(error instanceof Error) || error instanceof StoreError) return error;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  const explanation = EXPLANATIONS.find(([pattern]) => pattern.test(code));
  if (explanation !== undefined) {
    return new StoreError(explanation[1], `${file}: ${explanation[2]} (${code})`, { cause: error });
  }
  return code.startsWith('SQLITE_') && error instanceof SQLite.SqliteError
    ? new StoreError('store_failed', `${file}: ${error.message} (${code})`, { cause: error })
    : error;
}
