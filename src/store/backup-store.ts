// Copies the store to one file, or names the command that does it.
import { StoreError } from '../core/errors.ts';
import type { OpenLocation } from '../core/settings.ts';
import { publicUrl } from '../system/postgres-address.ts';
import { backupStore as backupFile } from './sqlite/backup.ts';

/**
 * Copies a SQLite store to `target`; `onProgress` receives the copied pages. PostgreSQL has its own program for that, so a
 * store there is refused with its command. Throws StoreError.
 */
export async function backupStore(
  location: OpenLocation,
  target: string,
  onProgress?: (done: number, total: number) => void,
): Promise<{ bytes: number; runs: number }> {
  if ('file' in location) return await backupFile(location.file, target, onProgress);
  const command = `pg_dump --schema=${location.schema} --format=custom --file=${shellQuoted(target)} ${shellQuoted(publicUrl(location.url))}`;
  throw new StoreError(
    'backup_refused',
    `the store is in PostgreSQL, and nothing was copied; run its own program, with the password in PGPASSWORD or ~/.pgpass: ${command}`,
  );
}

/** A word of a shell command. */
function shellQuoted(text: string): string {
  return /^[\w./:@=-]+$/u.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
