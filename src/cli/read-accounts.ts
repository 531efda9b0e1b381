// Reading accounts without a run, for `dump` and `usage`: connections, and what the store knows of whose lists they are.
import type { AccountMemory, ReadAccount } from '../app/read-account.ts';
import { readAccount } from '../app/read-account.ts';
import { StoreError } from '../core/errors.ts';
import type { RunSignals } from '../core/ports.ts';
import type { AccountSettings, ServiceSettings } from '../core/settings.ts';
import type { Configuration, Environment, RetryAfterOptions } from './environment.ts';

export interface AccountReading {
  /** Reads an account's lists. Throws ServiceError `identity` when they are those of another account. */
  read(settings: AccountSettings, signals: RunSignals): Promise<ReadAccount>;
  /** Journals when the service may be called again, if the failure of an account says so. */
  noteFailure(account: string, error: unknown): Promise<void>;
  close(): Promise<void>;
}

/** Opens connections, and the store for reading; a store that does not exist yet is not made. */
export async function openReading(
  environment: Environment,
  configuration: Configuration,
  service: ServiceSettings,
  options: RetryAfterOptions,
): Promise<AccountReading> {
  const configured = new Set(configuration.accounts.map(({ name }) => name));
  const known = await openMemory(environment, service);
  const readable = await environment.openReadable(service, options);
  return {
    async read(settings, signals) {
      // A pin says whose account it must be; without one only the store can.
      if (known.failure !== null && settings.accountId === undefined) throw known.failure;
      const reader = await readable.service.reader(settings, signals);
      return await readAccount(reader, settings, configured, known.memory);
    },
    noteFailure: (account, error) => readable.noteFailure(account, error),
    async close() {
      await readable.close();
      await known.close();
    },
  };
}

interface Known {
  readonly memory: AccountMemory | null;
  readonly failure: StoreError | null;
  close(): Promise<void>;
}

async function openMemory(environment: Environment, service: ServiceSettings): Promise<Known> {
  const nothing = { memory: null, close: () => Promise.resolve() };
  try {
    const journal = await environment.openJournal(service);
    return { memory: journal.memory, failure: null, close: () => journal.close() };
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    return { ...nothing, failure: error.code === 'store_missing' ? null : error };
  }
}
