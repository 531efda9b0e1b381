// The address of a database on the command line.
import { UsageError } from '../core/errors.ts';
import type { OpenLocation } from '../core/settings.ts';
import { parsePostgresUrl } from '../platform/postgres-address.ts';
import { isSchemaName, SCHEMA_EXPECTED } from './store-settings.ts';

const CONNECTIONS = 1;
/** Only runs take locks, and a copy does not run. */
const LEASE_MS = 60_000;

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
  if (!isSchemaName(schema)) throw new UsageError(`"${schema}" is not ${SCHEMA_EXPECTED}`);
  const { url, hasPassword } = parsed.value;
  return {
    location: { url, schema, pool: CONNECTIONS, leaseMs: LEASE_MS },
    isExposed: hasPassword && variable === undefined,
  };
}
