// Where the daemon's own checkout is on this machine; commands read it while the daemon updates it.
import { realpath } from 'node:fs/promises';
import path from 'node:path';
import type { CheckoutPlace } from '../core/ports/repository.ts';
import type { ServiceSettings } from '../core/settings.ts';

/** The link to the folder of the commit in use. Its path never changes. */
export function checkoutLink(root: string): string {
  return path.join(root, 'current');
}

/**
 * The folder of the checkout: beside the SQLite file. With PostgreSQL in /var/lib/rolecall for a service file in
 * /etc/rolecall, otherwise where the SQLite file would be by default.
 */
export function checkoutRoot({ file, store }: Pick<ServiceSettings, 'file' | 'store'>): string {
  const folder = path.dirname(file);
  const data = folder === '/etc/rolecall' ? '/var/lib/rolecall' : path.resolve(folder, '../data');
  return path.join('file' in store ? path.dirname(store.file) : data, 'checkout');
}

/** The checkout that the daemon of this store keeps; undefined without `source.git`, and before the first fetch. */
export async function checkoutOf(
  service: Pick<ServiceSettings, 'file' | 'store' | 'source'> | undefined,
): Promise<CheckoutPlace | undefined> {
  if (service?.source === undefined) return undefined;
  const link = checkoutLink(checkoutRoot(service));
  const folder = await realpath(link).catch(() => undefined);
  return folder === undefined ? undefined : { link, folder, path: service.source.git.path };
}
