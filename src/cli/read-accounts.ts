// Reads the lists of accounts without a run, for `dump` and `usage`, and checks by the store whose lists they are.
import { setTimeout as sleep } from 'node:timers/promises';
import type { AccountJournal, ReadAccount, Reading } from '../app/read-account.ts';
import { readAccount } from '../app/read-account.ts';
import { describeFailure, type RunFailure } from '../app/run-result.ts';
import { StoreError } from '../core/errors.ts';
import type { RunSignals } from '../core/ports.ts';
import type { ProgressObserver } from '../core/progress.ts';
import type { AccountSettings, Configuration, ServiceSettings } from '../core/settings.ts';
import { showFailure } from './console.ts';
import type { Environment, ConnectionOptions } from './environment.ts';

export interface AccountReading {
  /** Reads an account's lists once. Throws ServiceError `identity` when they belong to another account. */
  read(settings: AccountSettings, signals: RunSignals, progress?: ProgressObserver): Promise<ReadAccount>;
  /** Reads them again where entries of the last good lists, or entries that people have, are missing. */
  readCarefully(
    settings: AccountSettings,
    signals: RunSignals,
    progress?: ProgressObserver,
  ): Promise<ReadAccount>;
  /** Shows a failure, and journals its Retry-After time if it has one. */
  reportFailure(account: string, error: unknown): Promise<RunFailure>;
  /** Journals the Retry-After time of a failure, if it has one. */
  noteFailure(account: string, error: unknown): Promise<void>;
  close(): Promise<void>;
}

/** Opens connections, and the store for reading. A missing store is not created. */
export async function openReading(
  environment: Environment,
  configuration: Configuration,
  service: ServiceSettings,
  options: ConnectionOptions,
): Promise<AccountReading> {
  const configured = new Set(configuration.accounts.map(({ name }) => name));
  const history = await openHistory(environment, service);
  const readable = await environment.openReadable(service, options);
  async function open(settings: AccountSettings, signals: RunSignals): Promise<Reading> {
    // Without a pinned accountId only the store knows which account is expected.
    if (history.failure !== null && settings.accountId === undefined) throw history.failure;
    const reader = await readable.service.reader(settings, signals);
    return { reader, settings, configured, memory: history.memory };
  }
  return {
    read: async (settings, signals, progress) =>
      await readAccount({ ...(await open(settings, signals)), progress }),
    async readCarefully(settings, signals, progress) {
      async function wait(): Promise<void> {
        const forMs = service.api.recheckMs;
        progress?.({ type: 'recheck', forMs });
        await sleep(forMs, undefined, { signal: signals.stop }).catch(() => undefined);
      }
      return await readAccount({ ...(await open(settings, signals)), wait, progress });
    },
    async reportFailure(account, error) {
      const failure = describeFailure(error);
      showFailure(account, failure);
      await readable.noteFailure(account, error);
      return failure;
    },
    noteFailure: (account, error) => readable.noteFailure(account, error),
    async close() {
      await readable.close();
      await history.close();
    },
  };
}

interface AccountHistory {
  readonly memory: AccountJournal | null;
  readonly failure: StoreError | null;
  close(): Promise<void>;
}

async function openHistory(environment: Environment, service: ServiceSettings): Promise<AccountHistory> {
  const nothing = { memory: null, close: () => Promise.resolve() };
  try {
    const journal = await environment.openJournal(service);
    return { memory: journal.memory, failure: null, close: () => journal.close() };
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    return { ...nothing, failure: error.code === 'store_missing' ? null : error };
  }
}
