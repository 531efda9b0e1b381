// The composition root of commands that read accounts and journal no run: the connections, and the store if it exists.
import { existsSync } from 'node:fs';
import { rememberThrottle } from '../app/run-result.ts';
import { StoreError } from '../core/errors.ts';
import type { Readable, RetryAfterOptions } from '../cli/environment.ts';
import type { ServiceSettings } from '../core/settings.ts';
import { systemClock } from '../platform/clock.ts';
import { connect, NO_OBSERVER, readOnly } from './session.ts';

export async function openReadable(
  version: string,
  service: ServiceSettings,
  { ignoreRetryAfter = false }: RetryAfterOptions = {},
): Promise<Readable> {
  const journal = await journalOf(service.store);
  const connections = await connect(
    version,
    service,
    async (account) =>
      ignoreRetryAfter ? null : ((await journal?.accountState(account.name))?.throttledUntilMs ?? null),
    () => NO_OBSERVER,
    () => false,
  );
  return {
    service: readOnly(connections),
    async noteFailure(account, error) {
      if (journal !== null) await rememberThrottle(account, error, { journal, clock: systemClock });
    },
    async close() {
      await connections.close();
      await journal?.close();
    },
  };
}

/** These commands make no store, and can do without one: then no earlier answer is known that they must obey. */
async function journalOf(file: string) {
  if (!existsSync(file)) return null;
  const { openStore } = await import('../store/store.ts');
  try {
    const store = openStore(file, { mustExist: true });
    return { ...store.journal, close: () => store.close() };
  } catch (error) {
    if (error instanceof StoreError) return null;
    throw error;
  }
}
