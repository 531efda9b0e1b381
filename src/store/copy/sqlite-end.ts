// A copy from or to an SQLite file.
import { createHash, randomUUID } from 'node:crypto';
import { closeSync, existsSync, fsyncSync, linkSync, openSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { sql } from 'kysely';
import { errorCode } from '../../core/error-code.ts';
import { StoreError } from '../../core/errors.ts';
import { openDatabase } from '../sqlite/database.ts';
import { toStoreError } from '../sqlite/sqlite-errors.ts';
import { HOST, isDead } from '../process-identity.ts';
import type { Database } from '../tables.ts';
import type { CopiedTable, Row, Value } from './copied-tables.ts';
import {
  byName,
  type Column,
  columnList,
  type CopyRows,
  type CopySource,
  type CopyTarget,
  countRows,
  valuesOf,
} from './store-end.ts';
import { decodeText } from './sqlite-text.ts';

/** The most bytes and rows of one piece that is read; a single row may be larger. */
const PIECE_BYTES = 4 * 1024 * 1024;
const PIECE_ROWS = 1000;
/** SQLite has room for more, but a longer statement is not faster. */
const MOST_PARAMETERS = 2000;

/** Reads the file as it is at this moment. */
export async function readSqlite<T>(file: string, work: (source: CopySource) => Promise<T>): Promise<T> {
  // The last process that closes a store removes this file; one that was killed leaves it.
  const isInUse = existsSync(`${file}-wal`);
  const db = openDatabase(file, { mustExist: true });
  try {
    return await db.connection().execute(async (connection) => {
      await sql`begin`.execute(connection);
      // The snapshot starts with the first reading.
      await countRows(connection, { name: 'runs' });
      return await work({ ...sourceOf(connection), isInUse: () => Promise.resolve(isInUse) });
    });
  } catch (error) {
    throw toStoreError(error, file);
  } finally {
    await db.destroy();
  }
}

/** Writes a new file, which appears under its name when `work` has ended. Throws StoreError if the file exists. */
export async function writeSqlite<T>(file: string, work: (target: CopyTarget) => Promise<T>): Promise<T> {
  const place = resolve(file);
  if (existsSync(place)) throw notEmpty(place);
  const folder = dirname(place);
  removeLeftovers(folder);
  const partial = join(folder, `.${MACHINE}-${process.pid}-${randomUUID()}.rolecall-copy`);
  try {
    const result = await fill(partial, work);
    syncFile(partial);
    // Unlike a renaming, this never replaces a store that another process has created meanwhile.
    linkSync(partial, place);
    return result;
  } catch (error) {
    throw errorCode(error) === 'EEXIST' ? notEmpty(place) : toStoreError(error, place);
  } finally {
    for (const part of ['', '-wal', '-shm', '-journal']) rmSync(`${partial}${part}`, { force: true });
  }
}

/** Part of the names of this machine's files: others may share the folder. */
const MACHINE = createHash('sha256').update(HOST).digest('hex').slice(0, 12);

/** Removes what copies have left whose process was killed on this machine. */
function removeLeftovers(folder: string): void {
  for (const name of existsSync(folder) ? readdirSync(folder) : []) {
    const [, machine, pid] = /^\.([0-9a-f]{12})-(\d+)-[0-9a-f-]{36}\.rolecall-copy(-\w+)?$/.exec(name) ?? [];
    if (machine === MACHINE && isDead({ host: HOST, pid: Number(pid) }))
      rmSync(join(folder, name), { force: true });
  }
}

async function fill<T>(partial: string, work: (target: CopyTarget) => Promise<T>): Promise<T> {
  const db = openDatabase(partial);
  try {
    return await db.connection().execute(async (connection) => {
      // A file that is not complete is removed, so nothing has to survive a power failure before the end.
      await sql`pragma journal_mode = delete`.execute(connection);
      await sql`pragma synchronous = off`.execute(connection);
      await sql`begin`.execute(connection);
      const result = await work({
        ...sourceOf(connection),
        write: (table, columns, rows) => insert(connection, table, { columns, rows }),
        endTable: () => Promise.resolve(),
      });
      await sql`commit`.execute(connection);
      return result;
    });
  } finally {
    await db.destroy();
  }
}

function sourceOf(connection: Database): CopyRows {
  return {
    async columns({ name, hasRowid = false }) {
      const { rows } = await sql<Column>`select name, type from pragma_table_info(${name})`.execute(
        connection,
      );
      return [...rows, ...(hasRowid ? [{ name: 'rowid', type: 'integer' }] : [])].toSorted(byName);
    },
    count: (table) => countRows(connection, table),
    rows: (table, columns) => readRows(connection, table, columns),
  };
}

async function* readRows(
  connection: Database,
  { name }: CopiedTable,
  columns: readonly Column[],
): AsyncIterable<readonly Row[]> {
  const query = connection.selectFrom(name).select(columns.map((column) => read(column).as(column.name)));
  let piece: Row[] = [];
  let bytes = 0;
  for await (const row of query.stream()) {
    const values = valuesOf(row, columns).map((value, place) =>
      value instanceof Uint8Array && isText(columns[place]) ? decodeText(value) : value,
    );
    piece.push(values);
    for (const value of values)
      bytes += typeof value === 'string' || value instanceof Uint8Array ? value.length : 8;
    if (bytes < PIECE_BYTES && piece.length < PIECE_ROWS) continue;
    yield piece;
    piece = [];
    bytes = 0;
  }
  if (piece.length > 0) yield piece;
}

/** Text is read as its bytes. */
function read({ name, type }: Column) {
  return isText({ name, type }) ? sql<Value>`cast(${sql.ref(name)} as blob)` : sql<Value>`${sql.ref(name)}`;
}

function isText(column: Column | undefined): boolean {
  return column?.type.toLowerCase() === 'text';
}

async function insert(
  connection: Database,
  { name }: CopiedTable,
  { columns, rows }: { readonly columns: readonly Column[]; readonly rows: readonly Row[] },
): Promise<void> {
  const size = Math.max(1, Math.floor(MOST_PARAMETERS / columns.length));
  for (let start = 0; start < rows.length; start += size) {
    const values = rows.slice(start, start + size).map((row) => sql`(${sql.join(row)})`);
    await sql`insert into ${sql.table(name)} (${columnList(columns)}) values ${sql.join(values)}`.execute(
      connection,
    );
  }
}

function syncFile(file: string): void {
  const descriptor = openSync(file, 'r+');
  fsyncSync(descriptor);
  closeSync(descriptor);
}

function notEmpty(file: string): StoreError {
  return new StoreError(
    'copy_refused',
    `${file} exists, and a copy never replaces a store; nothing was copied. Name another file`,
  );
}
