// Joins the arguments of `copy-store` with the copy itself.
import path from 'node:path';
import type { CopiedStore, Environment } from '../cli/environment.ts';
import { databaseArgument } from '../config/store-argument.ts';
import { shownDatabase } from '../platform/postgres-address.ts';
import { copyStore as copy } from '../store/copy-store.ts';

export async function copyStore(
  file: string,
  { address, schema }: Parameters<Environment['copyStore']>[1],
  { onProgress, warn }: Parameters<Environment['copyStore']>[2],
): Promise<CopiedStore> {
  const { location, isExposed } = databaseArgument(address, schema, process.env);
  if (isExposed) {
    warn(
      'other users of this machine can see the password in the address while the command runs; use env:NAME, PGPASSWORD or ~/.pgpass',
    );
  }
  const from = path.resolve(file);
  const copied = await copy(from, location, onProgress);
  return { ...copied, from, to: `PostgreSQL ${shownDatabase(location.url)}, schema ${schema}` };
}
