// The `store` key of the service file: its schema and its settings.
import path from 'node:path';
import { z } from 'zod';
import type { StoreLocation } from '../core/settings.ts';
import { parsePostgresUrl } from '../system/postgres-address.ts';
import { matching, pathText, secretOr, setting } from './field-formats.ts';
import { absoluteRef } from './secret-references.ts';

const address = z.string().refine(isPublicAddress).meta({ title: 'address' });

const addressOrReference = secretOr(
  address,
  'an address such as postgres://rolecall@db.example.com/rolecall?sslmode=verify-full without a password',
);

export const SCHEMA_EXPECTED =
  'the name of a schema: lower-case letters, digits and "_", not starting with pg_';

export const SCHEMA_NAME = /^(?!pg_|information_schema$)[a-z_][a-z0-9_]{0,62}$/u;

const postgresSchema = z.strictObject({
  url: addressOrReference.meta({
    title: 'address or secret reference',
    description:
      'Address of the database; a reference if it contains a password. `sslmode` is that of psql, but without it no TLS is used.',
    examples: [{ env: 'ROLECALL_DATABASE_URL' }],
  }),
  schema: setting(
    matching(SCHEMA_NAME, SCHEMA_EXPECTED)
      .meta({ title: 'name', pattern: '^[a-z_][a-z0-9_]{0,62}$' })
      .prefault('rolecall'),
    'Schema of the tables; created if the user may do that. Each rolecall needs its own.',
    ['rolecall_staging'],
  ),
});

const location = z.union([pathText, z.strictObject({ postgres: postgresSchema.describe('A database.') })], {
  error: 'the path of a SQLite file, or { postgres: { url: … } }',
});

export const storeSchema = location.prefault('../data/rolecall.db').meta({
  description:
    'The SQLite file, relative to this file, created with its folder if missing; or PostgreSQL, for several replicas. Keep it: deletes are held without its history.',
  examples: ['/var/lib/rolecall/rolecall.db', { postgres: { url: { env: 'ROLECALL_DATABASE_URL' } } }],
});

/** The settings, with absolute paths. */
export function storeLocation(written: z.output<typeof storeSchema>, folder: string): StoreLocation {
  if (typeof written === 'string') return { file: path.resolve(folder, written) };
  const { url, ...rest } = written.postgres;
  return { postgres: { ...rest, url: typeof url === 'string' ? url : absoluteRef(url, folder) } };
}

function isPublicAddress(text: string): boolean {
  const parsed = parsePostgresUrl(text);
  return 'value' in parsed && !parsed.value.hasPassword;
}
