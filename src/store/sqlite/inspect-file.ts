// Checks the file that `store:` names before it is opened or changed, because it may belong to another program.
import { type Stats, statSync } from 'node:fs';
import { errorCode } from '../../core/error-code.ts';
import { StoreError } from '../../core/errors.ts';
import { SCHEMA_VERSION } from '../tables.ts';
import { isOpenHere } from './open-files.ts';
import { type RawDatabase, readRawDatabase } from './raw-database.ts';
import { recovery } from './recovery.ts';

/** "role" in ASCII, in the header of every store. */
export const APPLICATION_ID = 0x726f6c65;

/** Stores of early versions have no application id, but these tables and a version. */
const TABLES = ['accounts', 'runs', 'operations', 'snapshots', 'snapshot_bodies', 'entries', 'locks'];

const MOST_NAMES = 5;

/** `empty`: a file without content, or a database without tables. It becomes a store. */
export type StoreFileState = 'missing' | 'empty' | 'store';

/** Returns what exists at the path, and changes nothing. Throws StoreError if it is neither empty nor a store that this version can read. */
export function inspectStoreFile(file: string): StoreFileState {
  const stats = statOf(file);
  if (stats === null) return 'missing';
  // Closing a second descriptor of a database would release the locks that this process holds on it.
  if (isOpenHere(stats)) return 'store';
  if (!stats.isFile()) {
    throw new StoreError(
      'store_unopenable',
      `${file} is ${kindOf(stats)}, not a file; nothing was changed. Set \`store:\` in rolecall.yaml to the path of a file`,
    );
  }
  if (stats.size === 0) return emptyFile(file);
  return readRawDatabase(file, (database) => (database === null ? refuseText(file) : judge(file, database)));
}

function statOf(file: string): Stats | null {
  try {
    return statSync(file);
  } catch (error) {
    const code = errorCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    throw error;
  }
}

function kindOf(stats: Stats): string {
  if (stats.isDirectory()) return 'a folder';
  if (stats.isFIFO()) return 'a FIFO';
  return stats.isSocket() ? 'a socket' : 'a device';
}

function emptyFile(file: string): StoreFileState {
  const log = statSync(`${file}-wal`, { throwIfNoEntry: false });
  if (log === undefined || log.size === 0) return 'empty';
  // SQLite would delete the log, which is the only remaining part of the database.
  throw new StoreError(
    'store_corrupt',
    `${file} is empty, but its log ${file}-wal is not: the store was truncated; nothing was changed. ${recovery(file)}`,
  );
}

function refuseText(file: string): never {
  throw new StoreError(
    'store_foreign',
    `${file} is not an SQLite database, so it is not a store of rolecall; nothing was changed. Check \`store:\` in rolecall.yaml. If it was a store, it is damaged: restore a backup. ${recovery(file)}`,
  );
}

function judge(file: string, database: RawDatabase): StoreFileState {
  const { applicationId, userVersion } = database;
  const isMarked = applicationId === APPLICATION_ID;
  if (isMarked && userVersion > SCHEMA_VERSION) throw newerStore(file, userVersion);
  const tables = isMarked || applicationId === 0 ? database.tables() : null;
  if (tables?.size === 0 && userVersion === 0) return 'empty';
  // If the id is ours and the tables cannot be read, the store is damaged, which SQLite reports later.
  const hasOurs = tables === null ? isMarked : TABLES.every((table) => tables.has(table));
  if (!hasOurs || userVersion === 0) throw foreign(file, applicationId, database.tables());
  if (userVersion > SCHEMA_VERSION) throw newerStore(file, userVersion);
  return 'store';
}

function foreign(file: string, applicationId: number, tables: ReadonlySet<string> | null): StoreError {
  const id =
    applicationId === 0 || applicationId === APPLICATION_ID
      ? []
      : [`application_id ${String(applicationId)}`];
  const names = [...(tables ?? [])].sort();
  const shown = names.slice(0, MOST_NAMES).map((name) => name.slice(0, 60));
  const rest = names.length > MOST_NAMES ? ` and ${String(names.length - MOST_NAMES)} more` : '';
  const marks = [...id, ...(names.length === 0 ? [] : [`tables ${shown.join(', ')}${rest}`])];
  const why = marks.length === 0 ? '' : ` (${marks.join('; ')})`;
  return new StoreError(
    'store_foreign',
    `${file} is an SQLite database, but not a store of rolecall${why}; nothing was changed. Set \`store:\` in rolecall.yaml to another path`,
  );
}

export function newerStore(file: string, version: number): StoreError {
  return new StoreError(
    'store_newer',
    `the store ${file} was written by a newer rolecall (schema ${String(version)}, this program supports ${String(SCHEMA_VERSION)}); use that version, nothing was changed`,
  );
}
