// Errors of SQLite and of the file system as StoreErrors, which say what to do.
import { StoreError } from '../../core/errors.ts';
import { SQLite } from '../../system/sqlite.ts';

const READ_ONLY = 'the store cannot be written; check the permissions of the file and of its folder';

/** They may be the only remaining data. */
export const RECOVERY =
  'stop every rolecall process that uses it, move the file and those with -wal and -shm at the end away, and copy a backup to its place';

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
    const hint = kind === 'store_corrupt' ? `; ${RECOVERY}` : '';
    return new StoreError(kind, `${file}: ${words} (${code})${hint}`, { cause: error });
  }
  return code.startsWith('SQLITE_') && error instanceof SQLite.SqliteError
    ? new StoreError('store_failed', `${file}: ${error.message} (${code})`, { cause: error })
    : error;
}

export function missingStore(file: string): StoreError {
  return new StoreError('store_missing', `there is no store at ${file}: no run has been made here yet`);
}

/** The store without its latest changes must not be shown as the present one. */
export const LOG_UNREADABLE =
  'the latest changes are in its log, which cannot be read here; copy the file and the file with -wal at its end to a folder that you can write, and name the copy in `store:`';

export function readOnlyStore(file: string, reason = READ_ONLY): StoreError {
  return new StoreError('store_readonly', `${file}: ${reason}`);
}

const LONGEST_FINDING = 200;

/** The error for a damaged store: what SQLite found first, and how to recover. */
export function damagedStore(file: string, finding: string): StoreError {
  const lines = finding.split('\n').filter((line) => !line.startsWith('*** in database'));
  const first = (lines[0] ?? finding).slice(0, LONGEST_FINDING);
  return new StoreError('store_corrupt', `${file}: the store is damaged (${first}); ${RECOVERY}`);
}
