// A store on the command line: the path of a file, the address of a database, or a variable that contains one.
import path from 'node:path';
import { UsageError } from '../core/errors.ts';
import type { OpenLocation } from '../core/settings.ts';
import { parsePostgresUrl } from '../platform/postgres-address.ts';
import { isSchemaName, SCHEMA_EXPECTED } from './store-settings.ts';

/** A copy uses one connection, and opening the store another. */
const CONNECTIONS = 2;
/** Only runs take locks, and a copy does not run. */
const LEASE_MS = 60_000;

export interface FoundStore {
  readonly location: OpenLocation;
  /** Whether the argument itself contains a password, which other users of the machine can see. */
  readonly isExposed: boolean;
}

/**
 * `text` is a path, `postgres://…`, or `env:NAME` of a variable with such an address. `schema` is only for a database.
 * Throws UsageError, which never contains an address.
 */
export function storeArgument(
  text: string,
  schema: string | undefined,
  env: Readonly<Record<string, string | undefined>>,
): FoundStore {
  const variable = /^env:(.*)$/su.exec(text)?.[1];
  // Any address is one: as the name of a file, it would be shown with its password.
  if (variable === undefined && !/^[a-z][a-z0-9+.-]*:\/\//iu.test(text)) {
    if (schema !== undefined) throw new UsageError(`${text} is a file and has no schema; remove the option`);
    return { location: { file: path.resolve(text) }, isExposed: false };
  }
  const name = variable === undefined ? 'the address' : `the variable ${variable}`;
  const address = variable === undefined ? text : env[variable];
  if (address === undefined) throw new UsageError(`${name} is not set; it must contain postgres://…`);
  const parsed = parsePostgresUrl(address);
  if ('problem' in parsed)
    throw new UsageError(`${name} can't be used: ${parsed.problem} (the value is not shown)`);
  if (schema !== undefined && !isSchemaName(schema)) {
    throw new UsageError(`"${schema}" is not ${SCHEMA_EXPECTED}`);
  }
  const { url, hasPassword } = parsed.value;
  return {
    location: { url, schema: schema ?? 'rolecall', pool: CONNECTIONS, leaseMs: LEASE_MS },
    isExposed: hasPassword && variable === undefined,
  };
}
