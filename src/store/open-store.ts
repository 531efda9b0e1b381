// Opens the store where the configuration places it. Only the driver that is needed is loaded.
import type { OpenLocation } from '../core/settings.ts';
import type { Store } from './store.ts';

export interface OpenOptions {
  /** Fails when the store does not exist. */
  readonly mustExist?: boolean;
  /** Waits for a database that is not available. Until then each method of the store throws that StoreError. */
  readonly isPatient?: boolean;
}

/** Opens or creates the store. Its methods throw StoreErrors that name it. Throws StoreError when it cannot be opened. */
export async function openStore(location: OpenLocation, options: OpenOptions = {}): Promise<Store> {
  if ('file' in location) {
    const { openSqliteStore } = await import('./sqlite/open-sqlite-store.ts');
    return openSqliteStore(location.file, options);
  }
  const { openPostgresStore } = await import('./postgres/open-postgres-store.ts');
  return await openPostgresStore(location, options);
}
