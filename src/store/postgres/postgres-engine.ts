// PostgreSQL as the engine of the store: writers of different accounts do not wait for each other.
import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import type { Engine } from '../engine.ts';
import { HOST, isDead } from '../process-identity.ts';
import type { Database } from '../tables.ts';
import { type PostgresLocation, isConnectionLost, isRepeatable, isUnsent } from './postgres-errors.ts';

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
