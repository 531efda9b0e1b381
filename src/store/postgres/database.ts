// Opens the store in a schema of a PostgreSQL database: creates its tables first.
import { PostgresDialect, sql } from 'kysely';
import { StoreError } from '../../core/errors.ts';
import { sleep } from '../../system/clock.ts';
import { databaseOver, type OpenDatabase, type OpenOptions } from '../engine.ts';
import type { Database } from '../tables.ts';
import { nameOf, type PostgresLocation, toStoreError } from './postgres-errors.ts';
import { migrate } from './migrate.ts';
import { createPool } from './pool.ts';
import { postgresEngine } from './postgres-engine.ts';

/** Opens the database of the store, with its tables. Throws StoreError. `engine` is replaced in tests, which set the time. */
export async function openPostgres(
  location: PostgresLocation,
  options: OpenOptions = {},
  engine = postgresEngine(location),
): Promise<OpenDatabase> {
  const db = databaseOver(new PostgresDialect({ pool: createPool(location) }), engine);
  // What decides whether this process may write must not wait for a busy pool.
  const quickPool = createPool({ ...location, pool: 1 }, true);
  const quick = databaseOver(new PostgresDialect({ pool: quickPool }), engine);
  const opening = await openSchema(db, location, options);
  return {
    db,
    quick,
    assertUsable: () => opening.assertDone(),
    write: () => writeNothing(quick, location),
    // PostgreSQL checks what it reads.
    verify: () => Promise.resolve(),
    toStoreError: (error) => toStoreError(error, location),
    async close() {
      opening.stop();
      await Promise.all([db.destroy(), quick.destroy()]);
    },
  };
}

const RETRY_MS = 1000;

/**
 * Creates the tables if they are missing. With `isPatient`, a database that is not available is tried again until it is, and
 * `assertDone` throws the StoreError meanwhile.
 */
async function openSchema(db: Database, location: PostgresLocation, options: OpenOptions) {
  const stopping = new AbortController();
  let problem: unknown = null;
  const attempt = async (): Promise<void> => {
    try {
      await migrate(db, location, options);
      problem = null;
    } catch (error) {
      problem = toStoreError(error, location);
    }
  };
  async function tryAgain(): Promise<void> {
    while (problem !== null && !stopping.signal.aborted) {
      await sleep(RETRY_MS, stopping.signal);
      if (!stopping.signal.aborted) await attempt();
    }
  }
  await attempt();
  const isAwaited = options.isPatient === true && problem instanceof StoreError && WAITED.test(problem.code);
  if (isAwaited) void tryAgain();
  else if (problem !== null) {
    await db.destroy();
    throw problem;
  }
  return {
    stop: () => stopping.abort(),
    assertDone(): void {
      if (problem !== null) throw problem;
    },
  };
}

const WAITED = /^store_(unavailable|busy)$/;

/** Fails on a standby, for a user who may only read, and where the disk is full. */
async function writeNothing(db: Database, location: PostgresLocation): Promise<void> {
  const { numAffectedRows } = await sql`update store_version set version = version`.execute(db);
  if (numAffectedRows !== 1n) throw new StoreError('store_missing', `${nameOf(location)} was removed`);
}
