// Where the store is, with the secret address of its database: for opening it and for messages.
import { SecretError, UsageError } from '../core/errors.ts';
import type { OpenLocation, ServiceSettings } from '../core/settings.ts';
import { parsePostgresUrl, shownDatabase } from '../system/postgres-address.ts';
import { resolveSecret, shownRef } from './secrets.ts';
import { SCHEMA_EXPECTED, SCHEMA_NAME } from './service-schema.ts';

type StoreSettings = Pick<ServiceSettings, 'store' | 'api'>;

/** The connections of one process, at most. The database limits those of all replicas and commands. */
const CONNECTIONS = 10;

const SHORTEST_LEASE_MS = 10_000;
/** Only runs take leases, and a copy does not run. */
const COPY_LEASE_MS = 60_000;

const WHAT = 'store.postgres.url';

/**
 * The location with the address that its reference names. Throws SecretError, which never contains the address, if the
 * reference can't be read or is not the address of a database.
 */
export async function openLocation({ store, api }: StoreSettings): Promise<OpenLocation> {
  // A call in flight ends before another process takes the account over.
  const leaseMs = Math.max(SHORTEST_LEASE_MS, 2 * api.timeoutMs);
  if ('file' in store) return { ...store, leaseMs };
  const { url, schema } = store.postgres;
  const isWritten = typeof url === 'string';
  const parsed = parsePostgresUrl(isWritten ? url : (await resolveSecret(url, WHAT)).reveal());
  if ('value' in parsed) return { url: parsed.value.url, schema, pool: CONNECTIONS, leaseMs };
  const source = isWritten ? 'the address' : shownRef(url, true);
  throw new SecretError(`${WHAT}: ${source} can't be used: ${parsed.problem} (the value is not shown)`);
}

/** The store for messages, also when its reference can't be read: a path, or the database and its schema. */
export async function storeName(settings: StoreSettings): Promise<string> {
  const { store } = settings;
  if ('file' in store) return store.file;
  const location = await openLocation(settings).catch(() => undefined);
  const database = location !== undefined && 'url' in location ? ` ${shownDatabase(location.url)}` : '';
  return `PostgreSQL${database}, schema ${store.postgres.schema}`;
}

/** `isExposed`: the argument itself contains a password, which other users of the machine can see. */
export interface DatabaseArgument {
  readonly location: Extract<OpenLocation, { url: string }>;
  readonly isExposed: boolean;
}

/** `text` is `postgres://…`, or `env:NAME` of a variable with such an address. Throws UsageError, which never contains an address. */
export function databaseArgument(
  text: string,
  schema: string,
  env: Readonly<Record<string, string | undefined>>,
): DatabaseArgument {
  const variable = /^env:(.*)$/su.exec(text)?.[1];
  const name = variable === undefined ? 'the address' : `the variable ${variable}`;
  const address = variable === undefined ? text : env[variable];
  if (address === undefined) throw new UsageError(`${name} is not set; it must contain postgres://…`);
  const parsed = parsePostgresUrl(address);
  if ('problem' in parsed)
    throw new UsageError(`${name} can't be used: ${parsed.problem} (the value is not shown)`);
  if (!SCHEMA_NAME.test(schema)) throw new UsageError(`"${schema}" is not ${SCHEMA_EXPECTED}`);
  const { url, hasPassword } = parsed.value;
  return {
    location: { url, schema, pool: 1, leaseMs: COPY_LEASE_MS },
    isExposed: hasPassword && variable === undefined,
  };
}
