// Joins the arguments of `copy-store` with the copy itself.
import type { CopiedStore, Environment, StoreArgument } from '../cli/environment.ts';
import { storeArgument } from '../config/store-argument.ts';
import type { OpenLocation } from '../core/settings.ts';
import { shownDatabase } from '../platform/postgres-address.ts';
import { copyStore as copy } from '../store/copy/copy-store.ts';

export async function copyStore(
  from: StoreArgument,
  to: StoreArgument,
  { onProgress, warn }: Parameters<Environment['copyStore']>[2],
): Promise<CopiedStore> {
  const [source, target] = [from, to].map(({ text, schema }) => storeArgument(text, schema, process.env));
  if (source === undefined || target === undefined) throw new Error('a copy has two sides');
  if (source.isExposed || target.isExposed) {
    warn(
      'other users of this machine can see the password in the address while the command runs; use env:NAME, PGPASSWORD or ~/.pgpass',
    );
  }
  const copied = await copy(source.location, target.location, ({ step, done, total }) =>
    onProgress({ text: step, done, total }),
  );
  return { ...copied, from: nameOf(source.location), to: nameOf(target.location) };
}

function nameOf(location: OpenLocation): string {
  return 'file' in location
    ? location.file
    : `PostgreSQL ${shownDatabase(location.url)}, schema ${location.schema}`;
}
