// Checks a file before a command writes its report there: it can be written, and nothing that rolecall reads is lost.
import { closeSync, existsSync, openSync, readSync, realpathSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { errorCode } from '../core/error-code.ts';
import { UsageError } from '../core/errors.ts';

let protectedFiles: readonly string[] = [];

/** From now on no output replaces one of these files: those of the configuration and of the store. */
export function protectFiles(files: readonly string[]): void {
  protectedFiles = files;
}

/** Throws UsageError when a file cannot be written. Leaves nothing behind, and the content of the file unchanged. */
export function checkWritable(file: string, flag: string): void {
  refuseOwnFile(file, flag);
  const isNew = !existsSync(file);
  try {
    closeSync(openSync(file, 'a'));
    // A command that fails later must not leave an empty report.
    if (isNew) rmSync(file, { force: true });
  } catch (error) {
    throw new UsageError(`cannot write ${file} (${errorCode(error)}); check the path of ${flag}`);
  }
  refuseDatabase(file, flag);
}

/** Throws UsageError for a file of the configuration or of the store, whatever path or link leads to it. */
function refuseOwnFile(file: string, flag: string): void {
  const place = placeOf(file);
  if (!protectedFiles.some((own) => placeOf(own) === place)) return;
  throw new UsageError(
    `${file} belongs to the configuration or to the store and was not changed; choose another file for ${flag}`,
  );
}

/** What a path leads to: the file itself, or its place in its folder if it does not exist yet. */
function placeOf(file: string): string {
  try {
    const found = statSync(file, { throwIfNoEntry: false });
    if (found !== undefined) return `${found.dev}:${found.ino}`;
    return join(realpathSync(dirname(file)), basename(file));
  } catch {
    return resolve(file);
  }
}

const SQLITE_HEADER = 'SQLite format 3\0';

/** Throws UsageError for a SQLite file: a mistyped path must not overwrite the store. */
function refuseDatabase(file: string, flag: string): void {
  const header = Buffer.alloc(SQLITE_HEADER.length);
  try {
    if (!statSync(file).isFile()) return;
    const descriptor = openSync(file, 'r');
    readSync(descriptor, header, 0, header.length, 0);
    closeSync(descriptor);
  } catch {
    return; // An unreadable file is reported when it is written.
  }
  if (header.toString('latin1') !== SQLITE_HEADER) return;
  throw new UsageError(`${file} is a database and was not changed; choose another file for ${flag}`);
}
