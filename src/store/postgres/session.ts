// What rolecall depends on in a session of PostgreSQL, whatever the defaults of its role and of its database are.
import pg from 'pg';
import { StoreError } from '../../core/errors.ts';
import { nameOf, type PostgresLocation } from './postgres-errors.ts';

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
