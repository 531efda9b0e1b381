// Reads the versions and the names of the tables from the bytes of an SQLite file. SQLite itself would create files beside
// a database in WAL mode even to read it, and the files of another program must stay unchanged.
// The format: https://www.sqlite.org/fileformat2.html
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

export interface RawDatabase {
  readonly applicationId: number;
  readonly userVersion: number;
  readonly isWal: boolean;
  /** The names of its tables, or null when they cannot be read. */
  tables(): ReadonlySet<string> | null;
}

const MAGIC = 'SQLite format 3\0';
const HEADER_BYTES = 100;
const WAL_HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
/** The schema of rolecall is less deep; the pages of a damaged file may form a loop. */
const DEEPEST = 6;

/** Passes the last committed state of the file and its log to `use`; null when it is not an SQLite database. */
export function readRawDatabase<T>(file: string, use: (database: RawDatabase | null) => T): T {
  const main = openSync(file, 'r');
  const log = openIfPresent(`${file}-wal`);
  try {
    return use(parse(main, log));
  } finally {
    closeSync(main);
    if (log !== null) closeSync(log);
  }
}

function openIfPresent(file: string): number | null {
  try {
    return openSync(file, 'r');
  } catch {
    return null;
  }
}

function parse(main: number, log: number | null): RawDatabase | null {
  const header = bytesAt(main, 0, HEADER_BYTES);
  if (header.length < HEADER_BYTES || header.toString('latin1', 0, 16) !== MAGIC) return null;
  const stored = header.readUInt16BE(16);
  const pageSize = stored === 1 ? 65_536 : stored;
  const logged = log === null ? new Map<number, number>() : loggedPages(log, pageSize);
  const page = (number: number): Buffer => {
    const inLog = logged.get(number);
    return log !== null && inLog !== undefined
      ? bytesAt(log, inLog, pageSize)
      : bytesAt(main, (number - 1) * pageSize, pageSize);
  };
  const first = page(1);
  return {
    applicationId: first.readUInt32BE(68),
    userVersion: first.readUInt32BE(60),
    isWal: first.readUInt8(18) === 2,
    tables() {
      try {
        return new Set(tableNames(page, 1, DEEPEST));
      } catch {
        return null;
      }
    },
  };
}

function bytesAt(descriptor: number, position: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  return bytes.subarray(0, readSync(descriptor, bytes, 0, length, position));
}

/** The positions of the committed pages in the log. Frames of an earlier use of the log have another salt. */
function loggedPages(log: number, pageSize: number): Map<number, number> {
  const committed = new Map<number, number>();
  const pending = new Map<number, number>();
  const salts = bytesAt(log, 0, WAL_HEADER_BYTES).subarray(16, 24);
  const { size } = fstatSync(log);
  const step = FRAME_HEADER_BYTES + pageSize;
  for (let at = WAL_HEADER_BYTES; at + step <= size; at += step) {
    const frame = bytesAt(log, at, FRAME_HEADER_BYTES);
    if (!frame.subarray(8, 16).equals(salts)) break;
    pending.set(frame.readUInt32BE(0), at + FRAME_HEADER_BYTES);
    if (frame.readUInt32BE(4) === 0) continue;
    for (const [number, position] of pending) committed.set(number, position);
    pending.clear();
  }
  return committed;
}

const LEAF = 13;
const INTERIOR = 5;

/** Walks the b-tree of the schema, whose root is page 1. Throws when a page is invalid. */
function* tableNames(page: (number: number) => Buffer, number: number, depth: number): Generator<string> {
  const bytes = page(number);
  const start = number === 1 ? HEADER_BYTES : 0;
  const type = bytes.readUInt8(start);
  if (depth === 0 || (type !== LEAF && type !== INTERIOR)) throw new Error('not a page of a schema');
  const pointers = start + (type === LEAF ? 8 : 12);
  for (let cell = 0; cell < bytes.readUInt16BE(start + 3); cell += 1) {
    const at = bytes.readUInt16BE(pointers + 2 * cell);
    if (type === INTERIOR) yield* tableNames(page, bytes.readUInt32BE(at), depth - 1);
    else yield* tableName(bytes, at);
  }
  if (type === INTERIOR) yield* tableNames(page, bytes.readUInt32BE(start + 8), depth - 1);
}

/** The name in a row of the schema (type, name, …), if the row describes a table. */
function* tableName(bytes: Buffer, cell: number): Generator<string> {
  const [, afterSize] = varint(bytes, cell);
  const [, record] = varint(bytes, afterSize);
  const [headerSize, afterHeaderSize] = varint(bytes, record);
  const [typeCode, afterType] = varint(bytes, afterHeaderSize);
  const [nameCode] = varint(bytes, afterType);
  const type = record + headerSize;
  const name = type + textLength(typeCode);
  if (bytes.toString('utf8', type, name) === 'table')
    yield bytes.toString('utf8', name, name + textLength(nameCode));
}

function textLength(serialType: number): number {
  return serialType < 13 ? 0 : (serialType - 13) >> 1;
}

/** The number at a position, and the position after it. */
function varint(bytes: Buffer, position: number): readonly [number, number] {
  let value = 0;
  for (let at = position; at < position + 9; at += 1) {
    const byte = bytes.readUInt8(at);
    value = value * 128 + (byte & 0x7f);
    if (byte < 0x80) return [value, at + 1];
  }
  throw new Error('not a number');
}
