// A consistent copy of the store in one file, made while others write to it (contract, section 3).
import { randomUUID } from 'node:crypto';
import { closeSync, existsSync, openSync, realpathSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { StoreError } from '../core/errors.ts';
import { SQLite } from '../platform/sqlite.ts';
import { toStoreError } from './database.ts';

/**
 * Copies the store to `target` (mode 0600, replaced only when it is an earlier copy) and checks the copy. Until all of
 * it is written, `target` stays as it was. Throws StoreError.
 */
export async function backupStore(file: string, target: string): Promise<{ bytes: number; runs: number }> {
  if (!existsSync(file)) {
    throw new StoreError('store_missing', `there is no store at ${file} yet: nothing has run here`);
  }
  const place = resolve(target);
  refuseOthers(file, place);
  // Not by the process alone: in a container every command has the same id, and one that was killed leaves its part.
  const partial = join(dirname(place), `.${process.pid}-${randomUUID()}.rolecall-backup`);
  try {
    // Made before SQLite opens it, so that it is never readable by others.
    closeSync(openSync(partial, 'wx', 0o600));
    await copy(file, partial);
    const runs = check(partial);
    renameSync(partial, place);
    return { bytes: statSync(place).size, runs };
  } catch (error) {
    rmSync(partial, { force: true });
    throw explain(error, file, place);
  }
}

async function copy(file: string, target: string): Promise<void> {
  const source = openSource(file);
  try {
    await source.backup(target);
  } finally {
    source.close();
  }
}

/** What is wrong with the store itself is no trouble of the copy's place. */
function openSource(file: string): SQLite.Database {
  try {
    const source = new SQLite(file, { fileMustExist: true });
    if (hasOurTables(source)) return source;
    source.close();
  } catch (error) {
    throw toStoreError(error, file);
  }
  throw new StoreError(
    'store_foreign',
    `no backup was made: ${file} is a database, but no store of rolecall; check \`store\` in rolecall.yaml`,
  );
}

/** A store that is locked or no sound database is the store's trouble; the rest happened where the copy goes. */
function explain(error: unknown, file: string, place: string): unknown {
  const trouble = toStoreError(error, file);
  if (!(trouble instanceof StoreError) || trouble === error) return trouble;
  const code = error instanceof Error && 'code' in error ? String(error.code) : trouble.code;
  const mend = BACKUP_MENDS[trouble.code];
  if (mend === undefined) return trouble;
  return new StoreError(
    'backup_failed',
    `no backup was made: ${place} cannot be written (${code}); ${mend}`,
    {
      cause: error,
    },
  );
}

const BACKUP_MENDS: Readonly<Record<string, string>> = {
  store_full: 'make room on its disk',
  store_readonly: 'check the permissions of its folder',
  store_unopenable: 'check its path',
  store_io: 'check its disk',
};

function refuseOthers(file: string, place: string): void {
  if (!existsSync(place)) return;
  if (realpathSync(place) === realpathSync(file)) {
    throw new StoreError('backup_refused', `${place} is the store itself; name another file`);
  }
  if (!statSync(place).isFile() || !isCopy(place)) {
    throw new StoreError('backup_refused', `${place} is there and is no backup; name another file`);
  }
}

/** Whether a file is an earlier copy: a store of ours that no process has open. */
function isCopy(file: string): boolean {
  if (existsSync(`${file}-wal`)) return false;
  try {
    const database = new SQLite(file, { readonly: true, fileMustExist: true });
    try {
      return database.pragma('journal_mode', { simple: true }) === 'delete' && hasOurTables(database);
    } finally {
      database.close();
    }
  } catch {
    return false;
  }
}

function hasOurTables(database: SQLite.Database): boolean {
  const tables =
    "select count(*) from sqlite_master where type = 'table' and name in ('runs', 'operations', 'entries')";
  return database.prepare(tables).pluck().get() === 3;
}

/** Opens the copy as a reader would; as one file, without a log beside it. */
function check(file: string): number {
  const copy = new SQLite(file);
  try {
    copy.pragma('journal_mode = DELETE');
    const verdict = copy.pragma('quick_check', { simple: true });
    if (verdict !== 'ok') throw new StoreError('backup_failed', `the copy is not sound: ${String(verdict)}`);
    return Number(copy.prepare('select count(*) from runs').pluck().get());
  } finally {
    copy.close();
  }
}
