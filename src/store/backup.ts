// A consistent copy of the store in one file, made while others write to it.
import { randomUUID } from 'node:crypto';
import { closeSync, existsSync, openSync, realpathSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { StoreError } from '../core/errors.ts';
import { SQLite } from '../platform/sqlite.ts';
import { canBeWritten, missingStore, toStoreError } from './database.ts';
import { inspectStoreFile } from './inspect-file.ts';
import { damagedStore } from './recovery.ts';
import { openPrivateCopy } from './private-copy.ts';
import { readRawDatabase } from './raw-database.ts';

/**
 * Copies the store to `target` (mode 0600, replaced only when it is an earlier copy) and checks the copy. Until all of
 * it is written, `target` stays as it was. Throws StoreError.
 */
export async function backupStore(file: string, target: string): Promise<{ bytes: number; runs: number }> {
  requireStore(file);
  const place = resolve(target);
  refuseOthers(file, place);
  // Not by the process alone: in a container every command has the same id, and one that was killed leaves its part.
  const partial = join(dirname(place), `.${process.pid}-${randomUUID()}.rolecall-backup`);
  try {
    // Made before SQLite opens it, so that it is never readable by others.
    closeSync(openSync(partial, 'wx', 0o600));
    await copy(file, partial);
    const runs = check(partial, file);
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
    // One moment of the store: without it every commit of another process would start the copy again from its beginning.
    source.exec('begin; select count(*) from sqlite_schema');
    await source.backup(target);
  } finally {
    source.close();
  }
}

/** Looks at the file before SQLite opens it: a database of another program is not even read. */
function requireStore(file: string): void {
  try {
    if (inspectStoreFile(file) !== 'store') throw missingStore(file);
  } catch (error) {
    throw toStoreError(error, file);
  }
}

/** What is wrong with the store itself is no trouble of the copy's place. */
function openSource(file: string): SQLite.Database {
  try {
    if (!canBeWritten(file)) return openPrivateCopy(file, () => undefined);
    return new SQLite(file, { fileMustExist: true });
  } catch (error) {
    throw toStoreError(error, file);
  }
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

/** Whether a file is an earlier copy: a store of ours that no process has open. It is only read. */
function isCopy(file: string): boolean {
  if (existsSync(`${file}-wal`)) return false;
  try {
    return (
      inspectStoreFile(file) === 'store' &&
      readRawDatabase(file, (database) => database !== null && !database.isWal)
    );
  } catch {
    return false;
  }
}

/** Opens the copy as a reader would; as one file, without a log beside it. */
function check(file: string, store: string): number {
  const copy = new SQLite(file);
  try {
    copy.pragma('journal_mode = DELETE');
    const verdict = copy.pragma('quick_check', { simple: true });
    if (verdict !== 'ok') throw damagedStore(store, `no backup was made: ${String(verdict)}`);
    return Number(copy.prepare('select count(*) from runs').pluck().get());
  } finally {
    copy.close();
  }
}
