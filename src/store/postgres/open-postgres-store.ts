// Opens the store in a schema of a PostgreSQL database: creates or migrates it first.
import { Kysely, PostgresDialect, sql } from 'kysely';
import { StoreError } from '../../core/errors.ts';
import { setEngine } from '../engine.ts';
import { createStore, type OpenDatabase, type Store } from '../store.ts';
import type { Database, Tables } from '../tables.ts';
import { nameOf, type PostgresLocation } from './location.ts';
import { migrate } from './migrate.ts';
import { createPool } from './pool.ts';
import { postgresEngine } from './postgres-engine.ts';
import { listen, probe } from './listener.ts';
import { toStoreError } from './postgres-errors.ts';
import { createTurnStore } from './turn-store.ts';

/** Opens or creates the store. Throws StoreError when that fails. `engine` is replaced in tests, which set the time. */
export async function openPostgresStore(
  location: PostgresLocation,
  options: { readonly mustExist?: boolean } = {},
  engine = postgresEngine(location),
): Promise<Store> {
  return createStore(await openPostgres(location, options, engine));
}

/** Opens the database of the store, with its tables in their present version. Throws StoreError. */
export async function openPostgres(
  location: PostgresLocation,
  options: { readonly mustExist?: boolean },
  engine = postgresEngine(location),
): Promise<OpenDatabase> {
  const pool = createPool(location);
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
  // A check that waited for a busy pool would report that the database is not available.
  const checked = new Kysely<Tables>({
    dialect: new PostgresDialect({ pool: createPool({ ...location, pool: 1 }) }),
  });
  setEngine(db, engine);
  try {
    await migrate(db, location, options);
  } catch (error) {
    await db.destroy();
    throw toStoreError(error, location);
  }
  return {
    db,
    assertUsable: () => undefined,
    write: () => writeNothing(checked, location),
    // PostgreSQL checks what it reads.
    verify: () => Promise.resolve(),
    toStoreError: (error) => toStoreError(error, location),
    turns: createTurnStore(db, {
      listen: async (listeners) => listen(() => pool.single(), location.schema, listeners),
      probe: () => probe(pool.single(), location),
    }),
    async close() {
      await Promise.all([db.destroy(), checked.destroy()]);
    },
  };
}

/** Fails on a standby, for a user who may only read, and where the disk is full. */
async function writeNothing(db: Database, location: PostgresLocation): Promise<void> {
  const { numAffectedRows } = await sql`update store_version set version = version`.execute(db);
  if (numAffectedRows !== 1n) throw new StoreError('store_missing', `${nameOf(location)} was removed`);
}
