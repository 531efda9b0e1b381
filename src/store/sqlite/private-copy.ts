// Reads a store on a read-only medium. SQLite must create files beside a database in WAL mode, so a private copy is read
// instead. The copy is unlinked as soon as it is open, so that nothing remains of it.
import { copyFileSync, existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SQLite } from '../../platform/sqlite.ts';
import { StoreError } from '../../core/errors.ts';

const ATTEMPTS = 5;

/** Opens a migrated copy of the store with its log. Throws StoreError when no copy can be made. */
export function openPrivateCopy(
  file: string,
  migrate: (driver: SQLite.Database, file: string) => void,
): SQLite.Database {
  const folder = makeFolder(file);
  try {
    const copy = join(folder, 'store.db');
    copyUnchanged(file, copy);
    const driver = new SQLite(copy);
    try {
      // Moves the content of the log to the main file.
      driver.pragma('journal_mode = DELETE');
      migrate(driver, file);
      driver.pragma('query_only = ON');
    } catch (error) {
      driver.close();
      throw error;
    }
    return driver;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function makeFolder(file: string): string {
  try {
    return mkdtempSync(join(tmpdir(), 'rolecall-'));
  } catch (error) {
    throw new StoreError(
      'store_readonly',
      `${file} cannot be written, and no temporary copy of it can be made in ${tmpdir()}; set TMPDIR to a writable folder`,
      { cause: error },
    );
  }
}

/** Copies both files, and again if another process writes them meanwhile, so that they belong together. */
function copyUnchanged(file: string, copy: string): void {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    const before = versionsOf(file);
    for (const part of ['', '-wal']) {
      rmSync(`${copy}${part}`, { force: true });
      if (existsSync(`${file}${part}`)) copyFileSync(`${file}${part}`, `${copy}${part}`);
    }
    if (versionsOf(file) === before) return;
  }
  throw new StoreError('store_busy', `${file} was changed while it was read; try again`);
}

function versionsOf(file: string): string {
  const versions = ['', '-wal'].map((part) => {
    const stats = statSync(`${file}${part}`, { bigint: true, throwIfNoEntry: false });
    return stats === undefined ? '-' : `${String(stats.ino)}:${String(stats.size)}:${String(stats.mtimeNs)}`;
  });
  return versions.join();
}
