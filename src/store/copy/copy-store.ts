// Copies a complete store to an empty place, between files and databases, and verifies the copy before anybody sees it.
import { StoreError } from '../../core/errors.ts';
import type { OpenLocation } from '../../core/settings.ts';
import { COPIED_TABLES, type CopiedTable } from './copied-tables.ts';
import type { CopySource, CopyTarget } from './store-end.ts';
import { createTableDigest } from './table-digest.ts';

/** What is done, of how many rows of all tables. */
export interface CopyProgress {
  readonly step: 'copying' | 'checking the copy';
  readonly table: string;
  readonly done: number;
  readonly total: number;
}

export interface CopiedStore {
  readonly tables: number;
  readonly rows: number;
  readonly runs: number;
  /** The locks in the copy: runs that were in progress. */
  readonly locks: number;
  /** Whether other processes may have written to the source since. */
  readonly isInUse: boolean;
}

type OnProgress = (progress: CopyProgress) => void;

/** The rows of a table, for comparing both sides. */
interface Rows {
  readonly table: CopiedTable;
  readonly count: number;
  readonly digest: string;
}

/**
 * Copies every table with its ids. The target must be empty, and nobody sees it before the copy is verified: a copy that
 * is interrupted leaves nothing. Throws StoreError.
 */
export async function copyStore(
  from: OpenLocation,
  to: OpenLocation,
  onProgress: OnProgress = () => undefined,
): Promise<CopiedStore> {
  return await readStore(from, (source) =>
    writeStore(to, async (target) => {
      const isInUse = await source.isInUse();
      const total = await totalOf(source);
      const copied = await copyTables(source, target, { total, onProgress });
      await verify(target, copied, { total, onProgress });
      const countOf = (name: CopiedTable['name']): number =>
        copied.find(({ table }) => table.name === name)?.count ?? 0;
      const [runs, locks] = [countOf('runs'), countOf('locks')];
      return { tables: copied.length, rows: total, runs, locks, isInUse: isInUse || locks > 0 };
    }),
  );
}

async function readStore<T>(from: OpenLocation, work: (source: CopySource) => Promise<T>): Promise<T> {
  if ('file' in from) return await (await import('./sqlite-end.ts')).readSqlite(from.file, work);
  return await (await import('./postgres-end.ts')).readPostgres(from, work);
}

async function writeStore<T>(to: OpenLocation, work: (target: CopyTarget) => Promise<T>): Promise<T> {
  if ('file' in to) return await (await import('./sqlite-end.ts')).writeSqlite(to.file, work);
  return await (await import('./postgres-end.ts')).writePostgres(to, work);
}

interface Reporting {
  readonly total: number;
  readonly onProgress: OnProgress;
}

async function totalOf(source: CopySource): Promise<number> {
  let total = 0;
  for (const table of COPIED_TABLES) total += await source.count(table);
  return total;
}

async function copyTables(
  source: CopySource,
  target: CopyTarget,
  { total, onProgress }: Reporting,
): Promise<readonly Rows[]> {
  let done = 0;
  const copied: Rows[] = [];
  for (const table of COPIED_TABLES) {
    const columns = await target.columns(table);
    const names = (await source.columns(table)).map(({ name }) => name);
    if (names.join() !== columns.map(({ name }) => name).join()) {
      throw new StoreError(
        'copy_refused',
        `the columns of ${table.name} differ between the two stores, so a newer rolecall has used one of them; copy with that version. Nothing was copied`,
      );
    }
    const digest = createTableDigest();
    for await (const rows of source.rows(table, columns)) {
      for (const row of rows) digest.add(row);
      await target.write(table, columns, rows);
      done += rows.length;
      onProgress({ step: 'copying', table: table.name, done, total });
    }
    await target.endTable(table);
    copied.push({ table, count: digest.rows, digest: digest.value() });
  }
  return copied;
}

/** Reads the copy again and compares it with what was read from the source. */
async function verify(
  target: CopyTarget,
  copied: readonly Rows[],
  { total, onProgress }: Reporting,
): Promise<void> {
  let done = 0;
  for (const { table, count, digest: expected } of copied) {
    const digest = createTableDigest();
    for await (const rows of target.rows(table, await target.columns(table))) {
      for (const row of rows) digest.add(row);
      done += rows.length;
      onProgress({ step: 'checking the copy', table: table.name, done, total });
    }
    if (digest.rows === count && digest.value() === expected) continue;
    throw new StoreError(
      'copy_failed',
      `the copy of ${table.name} differs from its source (${count} rows, in the copy ${digest.rows}); nothing was kept. Report this as a bug`,
    );
  }
}
