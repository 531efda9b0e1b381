// The store: the journal, the locks and the outbox over one database, which is opened where the configuration places it.
import type { DueAccounts, Locks } from '../core/ports/locks.ts';
import type { JournalReader } from '../core/ports/journal-reader.ts';
import type { Journal } from '../core/ports/journal.ts';
import type { OperatorCommands } from '../core/operator.ts';
import type { Outbox } from '../core/ports/outbox.ts';
import type { OpenLocation } from '../core/settings.ts';
import { sleep } from '../system/clock.ts';
import { journalReader } from './journal-reader.ts';
import { dueAccounts } from './due-accounts.ts';
import { createLocks } from './locks.ts';
import { observationsJournal } from './observations.ts';
import { operatorCommands } from './operator-commands.ts';
import { operationsJournal } from './operations.ts';
import { engineOf, type OpenDatabase, type OpenOptions } from './engine.ts';
import { createOutbox } from './outbox.ts';
import { newestEndMs, prune } from './retention.ts';
import { accountHistoryJournal } from './account-history.ts';
import { accountsJournal } from './accounts.ts';
import { rolloutJournal } from './rollout-history.ts';
import { runsJournal } from './runs.ts';
import { type StoredSettings, storedSettings } from './stored-settings.ts';

export interface Store {
  readonly journal: Journal;
  readonly locks: Locks;
  readonly due: DueAccounts;
  readonly reader: JournalReader;
  readonly operator: OperatorCommands;
  readonly outbox: Outbox;
  readonly settings: StoredSettings;
  /** Resolves when the store can be written; throws StoreError when not. */
  check(): Promise<void>;
  /** Reads every page, without a pause for other work. Throws `store_corrupt` when the store is damaged. */
  verify(): Promise<void>;
  prune(retentionMs: number, nowMs: number): Promise<void>;
  /** When the newest run ended that began and ended before `nowMs`; null when there is none. */
  newestEndMs(nowMs: number): Promise<number | null>;
  /** Closes the store; a second call has no effect. */
  close(): Promise<void>;
}

/**
 * Opens or creates the store, with the driver that its location needs. Its methods throw StoreErrors that name it. Throws
 * StoreError when it cannot be opened.
 */
export async function openStore(location: OpenLocation, options: OpenOptions = {}): Promise<Store> {
  if ('file' in location) {
    const { openSqlite } = await import('./sqlite/database.ts');
    return createStore(openSqlite(location, options));
  }
  const { openPostgres } = await import('./postgres/database.ts');
  return createStore(await openPostgres(location, options));
}

/** How long a run waits, and how long a command or a page waits. */
const RUN_PATIENCE_MS = 30_000;
const PERSON_PATIENCE_MS = 3000;
/** The first pruning of a large store takes minutes. */
const PRUNING_PATIENCE_MS = 600_000;

/** The store over an open database. */
export function createStore(opened: OpenDatabase): Store {
  const { db } = opened;
  const observations = observationsJournal(db);
  let closing: Promise<void> | undefined;
  return {
    journal: withStoreErrors(opened, RUN_PATIENCE_MS, {
      ...accountsJournal(db),
      ...accountHistoryJournal(db, observations),
      ...runsJournal(db, observations),
      ...rolloutJournal(db),
      ...operationsJournal(db),
    }),
    locks: withStoreErrors(opened, 0, createLocks(db, opened.quick), {
      // The others decide whether this process may write, so they never wait.
      acquire: RUN_PATIENCE_MS,
      release: RUN_PATIENCE_MS,
    }),
    due: withStoreErrors(opened, 0, dueAccounts(db)),
    reader: withStoreErrors(opened, PERSON_PATIENCE_MS, journalReader(db)),
    operator: withStoreErrors(opened, PERSON_PATIENCE_MS, operatorCommands(db)),
    outbox: withStoreErrors(opened, RUN_PATIENCE_MS, createOutbox(db)),
    settings: withStoreErrors(opened, PERSON_PATIENCE_MS, storedSettings(db)),
    ...withStoreErrors(opened, PERSON_PATIENCE_MS, {
      check: () => opened.write(),
      verify: () => opened.verify(),
    }),
    ...withStoreErrors(opened, PRUNING_PATIENCE_MS, {
      prune: (retentionMs: number, nowMs: number) => prune(db, retentionMs, nowMs),
      newestEndMs: (nowMs: number) => newestEndMs(db, nowMs),
    }),
    close: () => (closing ??= opened.close()),
  };
}

/**
 * Wraps methods so that they throw StoreErrors. A method is repeated while another program keeps the store locked, or while
 * the store is unavailable for a moment. Only a statement that certainly had no effect is repeated, so each method can
 * begin again after some of its transactions. The database is checked first, because other processes would not see the rows
 * and the locks in a file that was replaced.
 */
function withStoreErrors<T extends object>(
  opened: OpenDatabase,
  patienceMs: number,
  methods: T,
  patienceOf: Readonly<Record<string, number>> = {},
): T {
  const wrapped = (method: unknown, ownMs: number): unknown =>
    typeof method === 'function'
      ? async (...args: unknown[]): Promise<unknown> => {
          try {
            return await whileBusy(opened, ownMs, async (): Promise<unknown> => {
              opened.assertUsable();
              return await Reflect.apply(method, methods, args);
            });
          } catch (error) {
            throw opened.toStoreError(error);
          }
        }
      : method;
  const entries = Object.entries(methods).map(([name, method]) => [
    name,
    wrapped(method, patienceOf[name] ?? patienceMs),
  ]);
  return Object.fromEntries(entries) as T; // the same names and parameters
}

const PAUSE_MS = 20;

/** Repeats the work while its engine allows it, without blocking this process. */
export async function whileBusy<T>(
  { db }: Pick<OpenDatabase, 'db'>,
  patienceMs: number,
  work: () => Promise<T>,
): Promise<T> {
  const deadline = performance.now() + patienceMs;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (!engineOf(db).isRepeatable(error) || performance.now() >= deadline) throw error;
    }
    // Longer pauses later: otherwise every run would send an unavailable database fifty requests a second.
    await sleep(PAUSE_MS * Math.min(attempt, 10) * (1 + Math.random()));
  }
}
