// The store as the other rooms get it: the journal, the locks and the reader over one SQLite file.
import type { Locks } from '../core/locks.ts';
import type { Journal, JournalReader } from '../core/ports.ts';
import { sql } from 'kysely';
import type { OperatorDesk } from '../core/operator.ts';
import { StoreError } from '../core/errors.ts';
import type { Outbox } from '../core/outbox.ts';
import type { ServiceSettings } from '../core/settings.ts';
import { immediately, openDatabase, toStoreError } from './database.ts';
import { journalReader } from './journal-reader.ts';
import { createLocks } from './locks.ts';
import { MIGRATIONS } from './migrations.ts';
import { observationsJournal } from './observations.ts';
import { operatorDesk } from './operator-desk.ts';
import { operationsJournal } from './operations.ts';
import { createOutbox } from './outbox.ts';
import type { Pruned } from './retention.ts';
import { prune } from './retention.ts';
import { memoryJournal } from './memory.ts';
import { accountsJournal } from './accounts.ts';
import { runsJournal } from './runs.ts';

export interface Store {
  readonly journal: Journal;
  readonly locks: Locks;
  readonly reader: JournalReader;
  readonly desk: OperatorDesk;
  readonly outbox: Outbox;
  /** Resolves when the store can be written; throws StoreError when not. */
  check(): Promise<void>;
  prune(retention: ServiceSettings['retention'], nowMs: number): Promise<Pruned>;
  close(): Promise<void>;
}

/** Opens or makes the store. Every failure of its methods is a StoreError that names the file. */
export function openStore(file: string, options: { mustExist?: boolean } = {}): Store {
  const db = openDatabase(file, options);
  return {
    journal: explained(file, {
      ...accountsJournal(db),
      ...memoryJournal(db),
      ...runsJournal(db),
      ...operationsJournal(db),
      ...observationsJournal(db),
    }),
    locks: explained(file, createLocks(db)),
    reader: explained(file, journalReader(db)),
    desk: explained(file, operatorDesk(db)),
    outbox: explained(file, createOutbox(db)),
    ...explained(file, {
      // Writing the version that is there already takes a page, which a full disk refuses.
      check: () =>
        immediately(db, async (connection) => {
          await sql`pragma user_version = ${sql.raw(String(MIGRATIONS.length))}`.execute(connection);
        }),
      prune: (retention: ServiceSettings['retention'], nowMs: number) => prune(db, retention, nowMs),
    }),
    close: () => db.destroy(),
  };
}

/** How long a store that another program keeps locked is waited for. */
const LONGEST_BUSY_MS = 30_000;
const BUSY_PAUSE_MS = 50;

/**
 * The same methods, whose failures are StoreErrors. While another program keeps the store locked they try again: each
 * method is one transaction, so that what failed left nothing behind.
 */
function explained<T extends object>(file: string, methods: T): T {
  return new Proxy(methods, {
    get(target, property, receiver) {
      const method: unknown = Reflect.get(target, property, receiver);
      if (typeof method !== 'function') return method;
      return async (...args: unknown[]): Promise<unknown> => {
        const deadline = performance.now() + LONGEST_BUSY_MS;
        for (;;) {
          try {
            return await Reflect.apply(method, target, args);
          } catch (error) {
            const explainedError = toStoreError(error, file);
            const isBusy = explainedError instanceof StoreError && explainedError.code === 'store_busy';
            if (!isBusy || performance.now() > deadline) throw explainedError;
          }
          await new Promise((resolve) => setTimeout(resolve, BUSY_PAUSE_MS));
        }
      };
    },
  });
}
