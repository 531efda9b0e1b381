// Connections to PostgreSQL: a pool whose clients convert text that PostgreSQL cannot store, and that are closed when they
// no longer answer.
import { once } from 'node:events';
import type { PostgresPool, PostgresPoolClient } from 'kysely';
import pg from 'pg';
import { endConnection } from './end-connection.ts';
import type { PostgresLocation } from './location.ts';
import { prepareSession, quickMs, statementMs } from './session.ts';
import { fromStorable, toStorable } from './text.ts';

const CONNECT_MS = 5000;
const KEEPALIVE_MS = 10_000;

/** `count` and `sum` are small enough for a number. */
const NUMBERS = new Set<number>([pg.types.builtins.INT8, pg.types.builtins.NUMERIC]);

export interface Pool extends PostgresPool {
  /** A connection outside the pool, for `listen`. The caller ends it. */
  single(): pg.Client;
}

/** Opens no connection before the first query. `isQuick`: no statement waits longer than a quarter of the lease. */
export function createPool(location: PostgresLocation, isQuick = false): Pool {
  const beginMs = quickMs(location);
  const config: pg.ClientConfig = {
    connectionString: location.url,
    application_name: 'rolecall',
    connectionTimeoutMillis: isQuick ? beginMs : CONNECT_MS,
    query_timeout: isQuick ? beginMs : statementMs(location),
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEPALIVE_MS,
    types: {
      getTypeParser: (oid: number, format?: 'text' | 'binary') =>
        NUMBERS.has(oid) ? Number : (pg.types.getTypeParser(oid, format) as (value: string) => unknown),
    },
  };
  /** The statements that each transaction of a client needs at its start; none without a pooler. */
  const prefixes = new WeakMap<pg.ClientBase, string>();
  const pool = new pg.Pool({
    ...config,
    Client: ClosingClient,
    max: location.pool,
    // pg waits for the promise, which its types leave out.
    // eslint-disable-next-line typescript/no-misused-promises
    onConnect: async (client) => {
      const prefix = await prepareSession(client, location);
      if (prefix !== null) prefixes.set(client, prefix);
    },
  });
  // Without listeners, a connection that breaks while nobody waits for it would end the process.
  pool.on('error', ignore);
  const open = new Set<pg.PoolClient>();
  pool.on('connect', (client) => {
    client.on('error', ignore);
    open.add(client);
    client.on('end', () => void open.delete(client));
  });
  const clients = new WeakMap<pg.PoolClient, PostgresPoolClient>();
  return {
    single: () => new ClosingClient(config),
    async connect() {
      const client = await pool.connect();
      const known = clients.get(client);
      if (known !== undefined) return known;
      const converting = convert(client, beginMs, prefixes.get(client));
      clients.set(client, converting);
      return converting;
    },
    async end() {
      // It ends idle connections, and does not wait for the server.
      pool.end().catch(ignore);
      await Promise.all([...open].map((client) => endConnection(client, once(client, 'end'))));
    },
  };
}

const ignore = (): void => undefined;

type Connected = (error: Error | null) => void;

/**
 * Ends the connection when the sign-in fails on this side, for example without a password. pg leaves it open, and the
 * process would wait until the server closes it after a minute.
 */
class ClosingClient extends pg.Client {
  override connect(): Promise<pg.Client>;
  override connect(done: Connected): void;
  override connect(done?: Connected): Promise<pg.Client> | void {
    this.on('error', ignore);
    if (done !== undefined) {
      super.connect((error: Error | null) => {
        if (error !== null) void this.end().catch(ignore);
        done(error);
      });
      return;
    }
    return super.connect().catch((error: unknown) => {
      void this.end().catch(ignore);
      throw error;
    });
  }
}

/**
 * `prefix` is for each transaction; a statement outside one gets its own. The begin of a transaction waits at most `beginMs`, so
 * that a connection that died silently is noticed soon.
 */
function convert(client: pg.PoolClient, beginMs: number, prefix: string | undefined): PostgresPoolClient {
  let broken: Error | undefined;
  async function send(text: string, values: readonly unknown[] = []) {
    if (broken !== undefined) throw broken;
    try {
      const limit = /^\s*begin\b/.test(text) ? { query_timeout: beginMs } : {};
      return await client.query<Record<string, unknown>>({ text, values: [...values], ...limit });
    } catch (error) {
      // The connection still waits for the answer, so it cannot be used again.
      if (error instanceof Error && error.message === 'Query read timeout') broken = error;
      throw error;
    }
  }
  async function sendPrefixed(text: string, values: readonly unknown[]) {
    if (prefix === undefined || client.getTransactionStatus() !== 'I') return await send(text, values);
    if (/^\s*begin\b/.test(text)) return await send(text.replace(/^[^;]*/, `$&; ${prefix}`));
    await send(`begin isolation level read committed; ${prefix}`);
    try {
      const result = await send(text, values);
      await send('commit');
      return result;
    } catch (error) {
      await send('rollback').catch(ignore);
      throw error;
    }
  }
  return {
    async query<R>(text: string, parameters: readonly unknown[]) {
      const result = await sendPrefixed(text, parameters.map(storable));
      // Several statements in one text have several results.
      if (Array.isArray(result)) return { command: 'SELECT', rowCount: 0, rows: [] };
      for (const row of result.rows) restore(row);
      return { command: result.command, rowCount: result.rowCount ?? 0, rows: result.rows as R[] };
    },
    release: () => client.release(broken),
  } as PostgresPoolClient;
}

/** Also the texts in an array, which is one value of a statement. */
function storable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(storable);
  return typeof value === 'string' ? toStorable(value) : value;
}

function restore(row: Record<string, unknown>): void {
  for (const [column, value] of Object.entries(row)) {
    if (typeof value === 'string' && value.includes('\uFDD0')) row[column] = fromStorable(value);
  }
}
