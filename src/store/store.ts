// Opens the store: the journal, the locks and the outbox over one SQLite file.
import type { Locks } from '../core/locks.ts';
import type { JournalReader } from '../core/journal-reader.ts';
import type { Journal } from '../core/ports.ts';
import { sql } from 'kysely';
import type { OperatorCommands } from '../core/operator.ts';
import { StoreError } from '../core/errors.ts';
import type { Outbox } from '../core/outbox.ts';
import type { StoredSettings } from '../core/stored-settings.ts';
import type { ServiceSettings } from '../core/settings.ts';
import { PERSON_PATIENCE_MS, RUN_PATIENCE_MS, whileBusy } from './busy.ts';
import type { Database } from './tables.ts';
import { openDatabase, type OpenOptions, toStoreError } from './database.ts';
import { immediately } from './transactions.ts';
import { journalReader } from './journal-reader.ts';
import { createLocks } from './locks.ts';
import { MIGRATIONS } from './migrations.ts';
import { observationsJournal } from './observations.ts';
import { operatorCommands } from './operator-commands.ts';
import { operationsJournal } from './operations.ts';
import { createOutbox } from './outbox.ts';
import { checkPages } from './page-check.ts';
import { prune, type Pruned } from './retention.ts';
import { accountHistoryJournal } from './account-history.ts';
import { accountsJournal } from './accounts.ts';
import { runsJournal } from './runs.ts';
import { type StoreFile, storeFile } from './store-file.ts';
import { storedSettings } from './stored-settings.ts';

export interface Store {
  readonly journal: Journal;
  readonly locks: Locks;
  readonly reader: JournalReader;
  readonly operator: OperatorCommands;
  readonly outbox: Outbox;
  readonly settings: StoredSettings;
  /** Resolves when the store can be written; throws StoreError when not. */
  check(): Promise<void>;
  /**
   * Reads every page in a separate process. Throws `store_corrupt` when the store is damaged; after that, every method
   * throws the same error. Throws `store_unchecked` when the pages could not be read.
   */
  verify(signal?: AbortSignal): Promise<void>;
  prune(retention: ServiceSettings['retention'], nowMs: number): Promise<Pruned>;
  /** Closes the store; a second call has no effect. */
  close(): Promise<void>;
}

/** Opens or creates the store. Its methods throw StoreErrors that name the file. */
export function openStore(file: string, options: OpenOptions = {}): Store {
  const db = openDatabase(file, options);
  const opened = storeFile(file);
  let closing: Promise<void> | undefined;
  return {
    journal: withStoreErrors(opened, {
      ...accountsJournal(db),
      ...accountHistoryJournal(db),
      ...runsJournal(db),
      ...operationsJournal(db),
      ...observationsJournal(db),
    }),
    locks: withStoreErrors(opened, createLocks(db)),
    reader: withStoreErrors(opened, journalReader(db), PERSON_PATIENCE_MS),
    operator: withStoreErrors(opened, operatorCommands(db), PERSON_PATIENCE_MS),
    outbox: withStoreErrors(opened, createOutbox(db)),
    settings: withStoreErrors(opened, storedSettings(db), PERSON_PATIENCE_MS),
    ...withStoreErrors(opened, { check: () => writeNothing(db) }, PERSON_PATIENCE_MS),
    ...withStoreErrors(opened, {
      prune: (retention: ServiceSettings['retention'], nowMs: number) => prune(db, retention, nowMs),
    }),
    async verify(signal) {
      try {
        await checkPages(file, signal);
      } catch (error) {
        if (error instanceof StoreError && error.code === 'store_corrupt') opened.refuse(error);
        throw error;
      }
    },
    close: () => (closing ??= closeDatabase(db)),
  };
}

/** Closes the file also when no query was made: kysely closes only what it has used. */
async function closeDatabase(db: Database): Promise<void> {
  await db.connection().execute(() => Promise.resolve());
  await db.destroy();
}

/** Writes the present version again. This changes nothing, but it writes a page, which fails on a full disk. */
async function writeNothing(db: Database): Promise<void> {
  await immediately(
    db,
    (connection) => sql`pragma user_version = ${sql.raw(String(MIGRATIONS.length))}`.execute(connection),
    PERSON_PATIENCE_MS,
  );
}

/**
 * Wraps methods so that they throw StoreErrors. Transactions wait for a locked store themselves. A method is repeated only
 * when a statement outside a transaction finds the store locked, so it must be safe to repeat. A file that was removed or
 * replaced is refused, because other processes would not see the rows and the locks in it.
 */
function withStoreErrors<T extends object>(file: StoreFile, methods: T, patienceMs = RUN_PATIENCE_MS): T {
  return new Proxy(methods, {
    get(target, property, receiver) {
      const method: unknown = Reflect.get(target, property, receiver);
      if (typeof method !== 'function') return method;
      return async (...args: unknown[]): Promise<unknown> => {
        try {
          return await whileBusy(patienceMs, async (): Promise<unknown> => {
            file.check();
            return await Reflect.apply(method, target, args);
          });
        } catch (error) {
          throw toStoreError(error, file.path);
        }
      };
    },
  });
}
