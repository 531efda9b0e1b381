// Opens the store in an SQLite file.
import { sql } from 'kysely';
import { StoreError } from '../../core/errors.ts';
import { PERSON_PATIENCE_MS } from '../busy.ts';
import type { OpenOptions } from '../open-options.ts';
import { createStore, type Store } from '../store.ts';
import { immediately } from '../transactions.ts';
import { type Database, SCHEMA_VERSION } from '../tables.ts';
import { openDatabase, toStoreError } from './database.ts';

import { checkPages } from './page-check.ts';
import { storeFile } from './store-file.ts';

/** Opens or creates the file. The methods of the store throw StoreErrors that name the file. */
export function openSqliteStore(file: string, options: OpenOptions = {}): Store {
  const db = openDatabase(file, options);
  const opened = storeFile(file);
  return createStore({
    db,
    assertUsable: () => opened.check(),
    write: () => writeNothing(db),
    async verify(signal) {
      try {
        await checkPages(file, signal);
      } catch (error) {
        if (error instanceof StoreError && error.code === 'store_corrupt') opened.refuse(error);
        throw error;
      }
    },
    // Two processes that prune a file delete nothing twice.
    alone: (work) => work(),
    turns: null,
    toStoreError: (error) => toStoreError(error, file),
    async close() {
      // kysely closes only what it has used: without a query, the file would stay open.
      await db.connection().execute(() => Promise.resolve());
      await db.destroy();
    },
  });
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
