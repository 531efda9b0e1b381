// Opens the store where the configuration places it. Only the driver that is needed is loaded.
import type { OpenOptions } from './open-options.ts';
import type { PostgresLocation } from './postgres/location.ts';
import type { Store } from './store.ts';

/** A file, or a schema of a PostgreSQL database. */
export type StoreLocation = { readonly file: string } | PostgresLocation;

/** Opens or creates the store. Its methods throw StoreErrors that name it. Throws StoreError when it cannot be opened. */
export async function openStore(location: StoreLocation, options: OpenOptions = {}): Promise<Store> {
  if ('file' in location) {
    const { openSqliteStore } = await import('./sqlite/open-sqlite-store.ts');
    return openSqliteStore(location.file, options);
  }
  const { openPostgresStore } = await import('./postgres/open-postgres-store.ts');
  return await openPostgresStore(location, options);
}
