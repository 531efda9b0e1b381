// Opens the store in a schema of a PostgreSQL database: creates its tables first. As an engine, PostgreSQL does not let writers
// of different accounts wait for each other.
import { PostgresDialect, sql } from 'kysely';
import { StoreError } from '../../core/errors.ts';
import { sleep } from '../../system/clock.ts';
import { databaseOver, type OpenDatabase, type OpenOptions, type Engine } from '../engine.ts';
import type { Database } from '../tables.ts';
import {
  nameOf,
  type PostgresLocation,
  toStoreError,
  isConnectionLost,
  isRepeatable,
  isUnsent,
} from './postgres-errors.ts';
import { migrate } from './migrate.ts';
import { createPool } from './pool.ts';
import { createHash } from 'node:crypto';
import { HOST, isDead } from '../process-identity.ts';

/**
 * Opens the database of the store, and creates its tables if they are missing. With `isPatient`, a database that is not
 * available is tried again until it is, and `assertUsable` throws its StoreError meanwhile. Throws StoreError. `engine` is
 * replaced in tests, which set the time.
 */
export async function openPostgres(
  location: PostgresLocation,
  options: OpenOptions = {},
  engine = postgresEngine(location),
): Promise<OpenDatabase> {
  const db = databaseOver(new PostgresDialect({ pool: createPool(location) }), engine);
  // What decides whether this process may write must not wait for a busy pool.
  const quickPool = createPool({ ...location, pool: 1 }, true);
  const quick = databaseOver(new PostgresDialect({ pool: quickPool }), engine);
  const stopping = new AbortController();
  let problem: unknown = null;
  async function attempt(): Promise<void> {
    try {
      await migrate(db, location, options);
      problem = null;
    } catch (error) {
      problem = toStoreError(error, location);
    }
  }
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
    db,
    quick,
    assertUsable() {
      if (problem !== null) throw problem;
    },
    write: () => writeNothing(quick, location),
    // PostgreSQL checks what it reads.
    verify: () => Promise.resolve(),
    toStoreError: (error) => toStoreError(error, location),
    async close() {
      stopping.abort();
      await Promise.all([db.destroy(), quick.destroy()]);
    },
  };
}

const RETRY_MS = 1000;

const WAITED = /^store_(unavailable|busy)$/;

/** Fails on a standby, for a user who may only read, and where the disk is full. */
async function writeNothing(db: Database, location: PostgresLocation): Promise<void> {
  const { numAffectedRows } = await sql`update store_version set version = version`.execute(db);
  if (numAffectedRows !== 1n) throw new StoreError('store_missing', `${nameOf(location)} was removed`);
}

/** Errors of transactions that had not been committed when their connection broke. */
const uncommitted = new WeakSet<object>();

export function postgresEngine({ schema, leaseMs }: Pick<PostgresLocation, 'schema' | 'leaseMs'>): Engine {
  return {
    async transact(connection, { key }, work) {
      let isCommitting = false;
      try {
        const lock = sql`select pg_advisory_xact_lock(${sql.raw(lockNumber(schema, key))})`;
        await sql`begin isolation level read committed; ${lock}`.execute(connection);
        const result = await work(connection);
        isCommitting = true;
        await sql`commit`.execute(connection);
        return result;
      } catch (error) {
        // Whether a commit without an answer happened is unknown, so only what came before it is repeated.
        const isUncommitted = isCommitting ? isUnsent(error) : isConnectionLost(error);
        if (isUncommitted && error instanceof Error) uncommitted.add(error);
        await sql`rollback`.execute(connection).catch(() => undefined);
        throw error;
      }
    },
    isRepeatable: (error) => isRepeatable(error) || (error instanceof Error && uncommitted.has(error)),
    forShare: sql`for share`,
    timeAfter: (ms) =>
      sql`to_char((clock_timestamp() + ${ms}::float8 * interval '1 millisecond') at time zone 'UTC',
        'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`,
    clockMs: databaseClockMs,
    // Machines may have the same name, so a process is only known to be dead on this one.
    isDead: (holder) => holder.host === HOST && isDead(holder),
    leaseMs,
  };
}

/** The number of an advisory lock. Two keys with the same number only wait for each other without need. */
function lockNumber(schema: string, key: string): string {
  return createHash('sha256').update(`rolecall ${schema} ${key}`).digest().readBigInt64BE().toString();
}

async function databaseClockMs(connection: Database): Promise<number> {
  const { rows } = await sql<{ ms: number }>`
    select floor(extract(epoch from clock_timestamp()) * 1000)::bigint as ms`.execute(connection);
  return rows[0]?.ms ?? Number.NaN;
}
