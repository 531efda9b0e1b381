// Judges the file that `store:` names before SQLite opens it, because it may belong to another program. Its first 100 bytes
// tell that.
import { closeSync, openSync, readSync, type Stats, statSync } from 'node:fs';
import { StoreError, errorCode } from '../../core/errors.ts';
import { otherVersion } from '../creation.ts';
import { SCHEMA_VERSION } from '../tables.ts';
import { RECOVERY } from './sqlite-errors.ts';

/** "role" in ASCII, in the header of every store. */
export const APPLICATION_ID = 0x726f6c65;

/** The header of an SQLite file: https://www.sqlite.org/fileformat.html#the_database_header */
const HEADER_BYTES = 100;
const MAGIC = 'SQLite format 3\0';
const WRITE_VERSION_AT = 18;
const USER_VERSION_AT = 60;
const APPLICATION_ID_AT = 68;
/** The write version of a file whose changes are in a log beside it. */
const WAL = 2;

interface Header {
  readonly applicationId: number;
  readonly userVersion: number;
  readonly isWal: boolean;
}

/** The files that this process has open, by device and inode. */
const open = new Map<string, number>();

const keyOf = ({ dev, ino }: Stats): string => `${dev}:${ino}`;

/**
 * Counts the file as open in this process until the function that it returns is called. On POSIX systems, a process that
 * closes any descriptor of a file loses all its locks on the file, so such a file must not be read here.
 */
export function countAsOpen(file: string): () => void {
  const key = keyOf(statSync(file));
  open.set(key, (open.get(key) ?? 0) + 1);
  return () => {
    const left = (open.get(key) ?? 1) - 1;
    if (left === 0) open.delete(key);
    else open.set(key, left);
  };
}

/**
 * Returns what exists at the path, and changes nothing; an empty file becomes a store. Throws StoreError if it is neither
 * empty nor a store of this version.
 */
export function inspectStoreFile(file: string): 'missing' | 'empty' | 'store' {
  const stats = statOf(file);
  if (stats === null) return 'missing';
  if (open.has(keyOf(stats))) return 'store';
  if (!stats.isFile()) {
    throw new StoreError(
      'store_unopenable',
      `${file} is not a file; nothing was changed. Set \`store:\` in rolecall.yaml to the path of a file`,
    );
  }
  if (stats.size === 0 && !hasLog(file)) return 'empty';
  const header = readHeader(file);
  // SQLite would delete the log of an empty file, which may be the only remaining part of a store.
  if (header?.applicationId !== APPLICATION_ID || header.userVersion < 1) {
    throw new StoreError(
      'store_foreign',
      `${file} is not a store of rolecall; nothing was changed. Check \`store:\` in rolecall.yaml. If it was a store, it is damaged: ${RECOVERY}`,
    );
  }
  if (header.userVersion !== SCHEMA_VERSION) throw otherVersion(file, header.userVersion);
  return 'store';
}

/** Whether the file is a store that no process has open: a backup, or one that was closed. */
export function isClosedStore(file: string): boolean {
  const stats = statOf(file);
  if (stats === null || !stats.isFile() || open.has(keyOf(stats))) return false;
  const header = readHeader(file);
  return header?.applicationId === APPLICATION_ID && !header.isWal && !hasLog(file);
}

/** Whether changes of the file are in its log. */
export function hasLog(file: string): boolean {
  return (statOf(`${file}-wal`)?.size ?? 0) > 0;
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

function readHeader(file: string): Header | null {
  const bytes = Buffer.alloc(HEADER_BYTES);
  const descriptor = openSync(file, 'r');
  try {
    if (readSync(descriptor, bytes, 0, HEADER_BYTES, 0) < HEADER_BYTES) return null;
  } finally {
    closeSync(descriptor);
  }
  if (bytes.toString('latin1', 0, MAGIC.length) !== MAGIC) return null;
  return {
    applicationId: bytes.readUInt32BE(APPLICATION_ID_AT),
    userVersion: bytes.readUInt32BE(USER_VERSION_AT),
    isWal: bytes[WRITE_VERSION_AT] === WAL,
  };
}
