// Connections to PostgreSQL: a pool whose clients convert text that PostgreSQL cannot store, and that are closed when they
// no longer answer.
import type { PostgresPool, PostgresPoolClient } from 'kysely';
import pg from 'pg';
import type { PostgresLocation } from './location.ts';
import { fromStorable, toStorable } from './text.ts';

const CONNECT_MS = 5000;
/** Longer than any statement of the store takes. A database that does not answer for this long is given up. */
const STATEMENT_MS = 30_000;
const LOCK_MS = 10_000;
const KEEPALIVE_MS = 10_000;

/** `count` and `sum` are small enough for a number. */
const NUMBERS = new Set<number>([pg.types.builtins.INT8, pg.types.builtins.NUMERIC]);

export interface Pool extends PostgresPool {
  /** A connection outside the pool, for `listen`. The caller ends it. */
  single(): pg.Client;
}

/** Opens no connection before the first query. */
export function createPool(location: PostgresLocation): Pool {
  const config: pg.ClientConfig = {
    connectionString: location.url,
    application_name: 'rolecall',
    connectionTimeoutMillis: CONNECT_MS,
    query_timeout: STATEMENT_MS + CONNECT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEPALIVE_MS,
    types: {
      getTypeParser: (oid: number, format?: 'text' | 'binary') =>
        NUMBERS.has(oid) ? Number : (pg.types.getTypeParser(oid, format) as (value: string) => unknown),
    },
  };
  const pool = new pg.Pool({
    ...config,
    max: location.pool,
    // pg waits for the promise, which its types leave out.
    // eslint-disable-next-line typescript/no-misused-promises
    onConnect: (client) => prepare(client, location),
  });
  // Without listeners, a connection that breaks while nobody waits for it would end the process.
  pool.on('error', ignore);
  pool.on('connect', (client) => client.on('error', ignore));
  const clients = new WeakMap<pg.PoolClient, PostgresPoolClient>();
  return {
    single: () => new pg.Client(config),
    async connect() {
      const client = await pool.connect();
      const known = clients.get(client);
      if (known !== undefined) return known;
      const converting = convert(client);
      clients.set(client, converting);
      return converting;
    },
    end: () => pool.end(),
  };
}

const ignore = (): void => undefined;

/** The settings of each connection. An open transaction of a process that was stopped must not block the others. */
async function prepare(client: pg.ClientBase, { schema, leaseMs }: PostgresLocation): Promise<void> {
  const idleMs = Math.max(1000, Math.floor(leaseMs / 4));
  await client.query(
    `set search_path to ${pg.escapeIdentifier(schema)}; set timezone to 'UTC'; set client_min_messages to warning;
     set statement_timeout to ${STATEMENT_MS}; set lock_timeout to ${LOCK_MS};
     set idle_in_transaction_session_timeout to ${idleMs}`,
  );
}

function convert(client: pg.PoolClient): PostgresPoolClient {
  let broken: Error | undefined;
  return {
    async query<R>(text: string, parameters: readonly unknown[]) {
      const values = parameters.map((value) => (typeof value === 'string' ? toStorable(value) : value));
      try {
        const result = await client.query<Record<string, unknown>>(text, values);
        // Several statements in one text have several results.
        if (Array.isArray(result)) return { command: 'SELECT', rowCount: 0, rows: [] };
        for (const row of result.rows) restore(row);
        return { command: result.command, rowCount: result.rowCount ?? 0, rows: result.rows as R[] };
      } catch (error) {
        // The connection still waits for the answer, so it cannot be used again.
        if (error instanceof Error && error.message === 'Query read timeout') broken = error;
        throw error;
      }
    },
    release: () => client.release(broken),
  } as PostgresPoolClient;
}

function restore(row: Record<string, unknown>): void {
  for (const [column, value] of Object.entries(row)) {
    if (typeof value === 'string' && value.includes('\uFDD0')) row[column] = fromStorable(value);
  }
}
