// Makes a consistent copy of the store in one file, also while other processes write to it, or names the command that does.
import { randomUUID } from 'node:crypto';
import { closeSync, existsSync, openSync, realpathSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { StoreError } from '../core/errors.ts';
import type { OpenLocation } from '../core/settings.ts';
import { shellWord } from '../core/yaml-text.ts';
import { publicUrl } from '../system/postgres-address.ts';
import { SQLite } from '../system/sqlite.ts';
import { isWritable } from './sqlite/database.ts';
import { damagedStore, missingStore, readOnlyStore, toStoreError } from './sqlite/sqlite-errors.ts';
import { inspectStoreFile, isClosedStore } from './sqlite/store-file.ts';

/**
 * Copies a SQLite store to `target`. PostgreSQL has its own program for that, so a store there is refused with its command.
 * Throws StoreError.
 */
export async function backupStore(
  location: OpenLocation,
  target: string,
): Promise<{ bytes: number; runs: number }> {
  if ('file' in location) return backupFile(location.file, target);
  const command = `pg_dump --schema=${location.schema} --format=custom --file=${shellWord(target)} ${shellWord(publicUrl(location.url))}`;
  throw new StoreError(
    'backup_refused',
    `the store is in PostgreSQL, and nothing was copied; run its own program, with the password in PGPASSWORD or ~/.pgpass: ${command}`,
  );
}

/**
 * Copies the store to `target` (mode 0600) and checks the copy. Replaces an existing file only if it is an earlier copy, and
 * only after the new copy is complete.
 */
function backupFile(file: string, target: string): { bytes: number; runs: number } {
  const source = openSource(file);
  const place = resolve(target);
  // The process id is not enough: in a container every command may have the same one, and a killed command leaves a file.
  const partial = join(dirname(place), `.${process.pid}-${randomUUID()}.rolecall-backup`);
  try {
    refuseOthers(file, place);
    // Created before SQLite opens it, so that others can never read it.
    closeSync(openSync(partial, 'wx', 0o600));
    source.prepare('vacuum into ?').run(partial);
    const runs = check(partial, file);
    renameSync(partial, place);
    return { bytes: statSync(place).size, runs };
  } catch (error) {
    rmSync(partial, { force: true });
    throw toBackupError(error, file, place);
  } finally {
    source.close();
  }
}

/** Opens the store; its file is judged first, so that a database of another program stays unchanged. */
function openSource(file: string): SQLite.Database {
  // Its own errors must not be reported as errors of the target.
  try {
    if (inspectStoreFile(file) !== 'store') throw missingStore(file);
    if (!isWritable(file)) throw readOnlyStore(file);
    return new SQLite(file, { fileMustExist: true });
  } catch (error) {
    throw toStoreError(error, file);
  }
}

/** An error that names a full disk, permissions, the path or I/O concerns the target; any other concerns the store. */
function toBackupError(error: unknown, file: string, place: string): unknown {
  const failure = toStoreError(error, file);
  if (!(failure instanceof StoreError) || failure === error) return failure;
  const code = error instanceof Error && 'code' in error ? String(error.code) : failure.code;
  const advice = ADVICE[failure.code];
  if (advice === undefined) return failure;
  return new StoreError(
    'backup_failed',
    `no backup was made: ${place} cannot be written (${code}); ${advice}`,
    {
      cause: error,
    },
  );
}

const ADVICE: Readonly<Record<string, string>> = {
  store_full: 'free some space on its disk',
  store_readonly: 'check the permissions of its folder',
  store_unopenable: 'check its path',
  store_io: 'check its disk',
};

function refuseOthers(file: string, place: string): void {
  const database = place.replace(/-(?:wal|shm|journal)$/u, '');
  if (database !== place && existsSync(database)) {
    throw new StoreError('backup_refused', `${place} would be a part of ${database}; name another file`);
  }
  if (!existsSync(place)) return;
  if (realpathSync(place) === realpathSync(file)) {
    throw new StoreError('backup_refused', `${place} is the store itself; name another file`);
  }
  if (!isClosedStore(place)) {
    throw new StoreError('backup_refused', `${place} exists and is not a backup; name another file`);
  }
}

/** Checks the copy. Returns the number of its runs. */
function check(file: string, store: string): number {
  const copy = new SQLite(file);
  try {
    const verdict = copy.pragma('quick_check', { simple: true });
    if (verdict !== 'ok') throw damagedStore(store, `no backup was made: ${String(verdict)}`);
    return Number(copy.prepare('select count(*) from runs').pluck().get());
  } finally {
    copy.close();
  }
}
