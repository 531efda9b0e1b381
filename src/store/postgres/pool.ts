// Connections to PostgreSQL: a pool whose clients convert text that PostgreSQL cannot store, and that are closed when they
// no longer answer. A session has the settings that rolecall depends on, whatever the defaults of its role and of its database.
import { once } from 'node:events';
import type { PostgresPool, PostgresPoolClient } from 'kysely';
import pg from 'pg';
import { sleep } from '../../system/clock.ts';
import { type PostgresLocation, nameOf } from './postgres-errors.ts';
import { StoreError } from '../../core/errors.ts';

const CONNECT_MS = 5000;
const KEEPALIVE_MS = 10_000;

/** `count` and `sum` are small enough for a number. */
const NUMBERS = new Set<number>([pg.types.builtins.INT8, pg.types.builtins.NUMERIC]);

/** Opens no connection before the first query. `isQuick`: no statement waits longer than a quarter of the lease. */
export function createPool(location: PostgresLocation, isQuick = false): PostgresPool {
  const beginMs = quickMs(location);
  const pool = new pg.Pool({
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
    Client: ClosingClient,
    max: location.pool,
    // pg waits for the promise, which its types leave out.
    // eslint-disable-next-line typescript/no-misused-promises
    onConnect: (client) => prepareSession(client, location),
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
    async connect() {
      const client = await pool.connect();
      const known = clients.get(client);
      if (known !== undefined) return known;
      const converting = convert(client, beginMs);
      clients.set(client, converting);
      return converting;
    },
    async end() {
      // It ends idle connections, and does not wait for the server.
      pool.end().catch(ignore);
      await Promise.all([...open].map(endConnection));
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
    // The pool passes a function.
    if (done === undefined) return super.connect();
    this.on('error', ignore);
    super.connect((error: Error | null) => {
      if (error !== null) void this.end().catch(ignore);
      done(error);
    });
  }
}

/**
 * The begin of a transaction waits at most `beginMs`, so that a connection that died silently is noticed soon.
 */
function convert(client: pg.PoolClient, beginMs: number): PostgresPoolClient {
  let broken: Error | undefined;
  async function send(text: string, values: readonly unknown[]) {
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
  return {
    async query<R>(text: string, parameters: readonly unknown[]) {
      const result = await send(text, parameters.map(storable));
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

/** A connection to a machine that is lost does not answer its end. */
const END_MS = 1000;

/** Never rejects. Closes a connection whose end the server has not answered within a second: it keeps the process alive. */
async function endConnection(client: pg.PoolClient): Promise<void> {
  const ended = new AbortController();
  const end = (): void => ended.abort();
  once(client, 'end').then(end, end);
  await sleep(END_MS, ended.signal);
  client.connection.stream.destroy();
}

// PostgreSQL's text holds neither NUL nor unpaired surrogates. The names of a service may contain NUL. Each becomes a mark with its code, and so does the mark itself; the function `json_each` of the
// schema does the same for JSON.
/** A code point that is no character. */
const MARK = '\uFDD0';
// eslint-disable-next-line no-control-regex
const UNSTORABLE = /[\0\uFDD0]|[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g;
const MARKED = /\uFDD0([0-9a-f]{4})/g;

/** The text as PostgreSQL can store it. */
function toStorable(text: string): string {
  return text.replaceAll(UNSTORABLE, (unit) => MARK + unit.charCodeAt(0).toString(16).padStart(4, '0'));
}

/** The text that was stored. */
function fromStorable(text: string): string {
  return text.includes(MARK)
    ? text.replaceAll(MARKED, (_mark, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    : text;
}

/** Longer than any statement of the store takes. */
const STATEMENT_MS = 10_000;
const QUICK_MS = 250;
/** Within so many seconds the server notices that the machine of a connection is lost, and releases its locks. */
const LOST_S = 30;

const FIXED: Readonly<Record<string, string | number>> = {
  timezone: 'UTC',
  datestyle: 'ISO, YMD',
  client_min_messages: 'warning',
  standard_conforming_strings: 'on',
  transform_null_equals: 'off',
  array_nulls: 'on',
  extra_float_digits: 1,
  default_transaction_isolation: "'read committed'",
  tcp_keepalives_idle: LOST_S / 3,
  tcp_keepalives_interval: LOST_S / 6,
  tcp_keepalives_count: 4,
  tcp_user_timeout: LOST_S * 1000,
};

/** How long nothing waits that decides whether this process may write: less than a quarter of the lease. */
export function quickMs({ leaseMs }: Pick<PostgresLocation, 'leaseMs'>): number {
  return Math.max(QUICK_MS, Math.floor(leaseMs / 4));
}

/** A connection that does not answer for this long is closed. */
export function statementMs(location: Pick<PostgresLocation, 'leaseMs'>): number {
  return Math.max(STATEMENT_MS, quickMs(location));
}

/** Prepares a new connection. Throws StoreError behind a pooler. `default_transaction_read_only` stays as it is. */
export async function prepareSession(
  client: pg.ClientBase & { readonly processID?: number | null },
  location: PostgresLocation,
): Promise<void> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  // A pooler invents the number of the process, and may give each transaction another session without these settings.
  if (rows[0]?.pid !== client.processID) {
    throw new StoreError(
      'store_unopenable',
      `${nameOf(location)}: the address leads to a connection pooler, which does not keep the settings of a session; use the address of the database itself`,
    );
  }
  const all = {
    ...FIXED,
    search_path: pg.escapeIdentifier(location.schema),
    statement_timeout: statementMs(location),
    lock_timeout: quickMs(location),
    // An open transaction of a process that was stopped must not block the others.
    idle_in_transaction_session_timeout: quickMs(location),
  };
  const settings = Object.entries(all).map(([name, value]) => `set session ${name} to ${value}; `);
  // A stronger guarantee is kept.
  await client.query(`${settings.join('')} select set_config('synchronous_commit', 'on', false)
    where current_setting('synchronous_commit') not in ('on', 'remote_apply')`);
}
