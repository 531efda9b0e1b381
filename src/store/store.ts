// The store: the journal, the locks and the outbox over one database.
import type { Locks } from '../core/ports/locks.ts';
import type { JournalReader } from '../core/ports/journal-reader.ts';
import type { Journal } from '../core/ports/journal.ts';
import type { OperatorCommands } from '../core/operator.ts';
import type { Outbox } from '../core/ports/outbox.ts';
import type { StoredSettings } from '../core/ports/stored-settings.ts';
import type { ServiceSettings } from '../core/settings.ts';
import { PERSON_PATIENCE_MS, RUN_PATIENCE_MS, whileBusy } from './busy.ts';
import type { Database } from './tables.ts';
import { journalReader } from './journal-reader.ts';
import { createLocks } from './locks.ts';
import { observationsJournal } from './observations.ts';
import { operatorCommands } from './operator-commands.ts';
import { operationsJournal } from './operations.ts';
import { engineOf } from './engine.ts';
import { createOutbox } from './outbox.ts';
import { newestEndMs, prune, type Pruned } from './retention.ts';
import { accountHistoryJournal } from './account-history.ts';
import { accountsJournal } from './accounts.ts';
import { runsJournal } from './runs.ts';
import { storedSettings } from './stored-settings.ts';

export interface Store {
  readonly journal: Journal;
  readonly locks: Locks;
  readonly reader: JournalReader;
  readonly operator: OperatorCommands;
  readonly outbox: Outbox;
  readonly settings: StoredSettings;
  /** Calls the listener when a process may have written something for the daemon that leads; a file never does. */
  listen(onNotice: () => void): () => Promise<void>;
  /** Resolves when the store can be written; throws StoreError when not. */
  check(): Promise<void>;
  /** Reads every page, without a pause for other work. Throws `store_corrupt` when the store is damaged. */
  verify(): Promise<void>;
  prune(retention: ServiceSettings['retention'], nowMs: number): Promise<Pruned>;
  /** When the newest run ended that began and ended before `nowMs`; null when there is none. */
  newestEndMs(nowMs: number): Promise<number | null>;
  /** Closes the store; a second call has no effect. */
  close(): Promise<void>;
}

/** An open database, with what only its engine can do. */
export interface OpenDatabase {
  readonly db: Database;
  /** The same database over a connection that never waits long. */
  readonly quick: Database;
  /** Throws StoreError when the database must not be used any more. */
  assertUsable(): void;
  /** Writes without changing anything; throws when the database cannot be written. */
  write(): Promise<void>;
  verify(): Promise<void>;
  /** Converts an error of the engine to a StoreError. Returns any other error unchanged: it is a bug. */
  toStoreError(error: unknown): unknown;
  close(): Promise<void>;
  readonly listen: Store['listen'];
}

/** The store over an open database. Its methods throw StoreErrors that name the database. */
export function createStore(opened: OpenDatabase): Store {
  const { db } = opened;
  let closing: Promise<void> | undefined;
  return {
    journal: withStoreErrors(opened, {
      ...accountsJournal(db),
      ...accountHistoryJournal(db),
      ...runsJournal(db),
      ...operationsJournal(db),
      ...observationsJournal(db),
    }),
    locks: withStoreErrors(opened, createLocks(db, opened.quick), 0),
    reader: withStoreErrors(opened, journalReader(db), PERSON_PATIENCE_MS),
    operator: withStoreErrors(opened, operatorCommands(db), PERSON_PATIENCE_MS),
    outbox: withStoreErrors(opened, createOutbox(db)),
    settings: withStoreErrors(opened, storedSettings(db), PERSON_PATIENCE_MS),
    listen: (onNotice) => opened.listen(onNotice),
    ...withStoreErrors(
      opened,
      { check: () => opened.write(), verify: () => opened.verify() },
      PERSON_PATIENCE_MS,
    ),
    ...withStoreErrors(opened, {
      prune: (retention: ServiceSettings['retention'], nowMs: number) => prune(db, retention, nowMs),
      newestEndMs: (nowMs: number) => newestEndMs(db, nowMs),
    }),
    close: () => (closing ??= opened.close()),
  };
}

/**
 * Wraps methods so that they throw StoreErrors. Transactions wait for a locked store themselves. A method is repeated only
 * when a statement outside a transaction certainly had no effect. Its database is checked first, because other processes
 * would not see the rows and the locks in a file that was replaced.
 */
function withStoreErrors<T extends object>(
  opened: OpenDatabase,
  methods: T,
  patienceMs = RUN_PATIENCE_MS,
): T {
  const engine = engineOf(opened.db);
  const wrapped = (method: unknown): unknown =>
    typeof method === 'function'
      ? async (...args: unknown[]): Promise<unknown> => {
          try {
            return await whileBusy(engine, patienceMs, async (): Promise<unknown> => {
              opened.assertUsable();
              return await Reflect.apply(method, methods, args);
            });
          } catch (error) {
            throw opened.toStoreError(error);
          }
        }
      : method;
  const entries = Object.entries(methods).map(([name, method]) => [name, wrapped(method)]);
  return Object.fromEntries(entries) as T; // the same names and parameters
}
