// Opens the store in an SQLite file.
import { statSync } from 'node:fs';
import { sql } from 'kysely';
import { StoreError } from '../../core/errors.ts';
import { PERSON_PATIENCE_MS } from '../busy.ts';
import { createStore, type Store } from '../store.ts';
import { type Database, SCHEMA_VERSION } from '../tables.ts';
import { immediately } from '../transactions.ts';
import { openDatabase } from './database.ts';
import { damagedStore, toStoreError } from './sqlite-errors.ts';

/** Opens or creates the file. The methods of the store throw StoreErrors that name the file. */
export function openSqliteStore(file: string, options: { readonly mustExist?: boolean } = {}): Store {
  const db = openDatabase(file, options);
  return createStore({
    db,
    quick: db,
    assertUsable: sameFile(file),
    write: () => writeNothing(db),
    async verify() {
      const { rows } = await sql<{ quick_check: string }>`pragma quick_check(1)`.execute(db);
      const finding = rows[0]?.quick_check ?? '';
      if (finding !== 'ok') throw damagedStore(file, finding);
    },
    listen: () => () => Promise.resolve(),
    toStoreError: (error) => toStoreError(error, file),
    async close() {
      // kysely closes only what it has used: without a query, the file would stay open.
      await db.connection().execute(() => Promise.resolve());
      await db.destroy();
    },
  });
}

/** Throws StoreError when the file was removed or replaced since: other processes would not see what is written to it. */
function sameFile(path: string): () => void {
  const opened = statSync(path, { bigint: true });
  return () => {
    const now = statSync(path, { bigint: true, throwIfNoEntry: false });
    if (now?.ino === opened.ino && now.dev === opened.dev) return;
    const what = now === undefined ? 'was removed' : 'was replaced by another file';
    throw new StoreError(
      'store_replaced',
      `${path} ${what} while it was open; nothing more is written. Restart rolecall`,
    );
  };
}

/** Writes the present version again. This changes nothing, but it writes a page, which fails on a full disk. */
async function writeNothing(db: Database): Promise<void> {
  await immediately(
    db,
    'version',
    (connection) => sql`pragma user_version = ${sql.raw(String(SCHEMA_VERSION))}`.execute(connection),
    PERSON_PATIENCE_MS,
  );
}
