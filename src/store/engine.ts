// What differs between SQLite and PostgreSQL. The queries in this folder are the same for both and ask here for the rest,
// such as their write transactions.
import { type Dialect, Kysely, type RawBuilder } from 'kysely';
import type { Database, Tables } from './tables.ts';

export interface TransactionOptions {
  /** What no other write transaction with the same key may change meanwhile. SQLite has one writer at a time anyway. */
  readonly key: string;
  /** Whether the commit must survive a power failure. PostgreSQL's always does. */
  readonly isDurable: boolean;
}

export interface Holder {
  readonly host: string | null;
  readonly pid: number | null;
}

export interface Engine {
  /** Runs `work` in a write transaction. Throws what `work` throws, after a rollback. */
  transact<T>(
    connection: Database,
    options: TransactionOptions,
    work: (connection: Database) => Promise<T>,
  ): Promise<T>;
  /** Whether the same work may succeed when it is repeated, and certainly had no effect. */
  isRepeatable(error: unknown): boolean;
  /** The end of a `select` whose rows must not change before the transaction ends. */
  readonly forShare: RawBuilder<unknown>;
  /** The time that decides about leases, so much later, as text. */
  timeAfter(ms: number, nowMs: number): RawBuilder<string>;
  /** The time that decides about leases: that of the database where several machines share it, otherwise `nowMs`. */
  clockMs(connection: Database, nowMs: number): Promise<number>;
  /** Whether a process is certainly dead. */
  isDead(holder: Holder): boolean;
  /** How long a lease is valid after its last renewal, if its holder may be alive. */
  readonly leaseMs: number;
}

/** The database over a dialect of kysely, with the engine for the queries of this folder. */
export function databaseOver(dialect: Dialect, engine: Engine): Database {
  return new Kysely<Tables>({
    dialect: {
      createDriver: () => dialect.createDriver(),
      createQueryCompiler: () => dialect.createQueryCompiler(),
      createAdapter: () => Object.assign(dialect.createAdapter(), { engine }),
      createIntrospector: (db) => dialect.createIntrospector(db),
    },
  });
}

/** The engine of a database, or of one of its connections. */
export function engineOf(db: Database): Engine {
  const { adapter } = db.getExecutor();
  if (!('engine' in adapter)) throw new Error('the database has no engine');
  return adapter.engine as Engine; // only databaseOver sets it
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
}

export interface OpenOptions {
  /** Fails when the store does not exist. */
  readonly mustExist?: boolean;
  /**
   * Called for a file that cannot be written. It is read nevertheless, as it is now, and what is written to the store is
   * dropped. Without this, such a file cannot be opened.
   */
  readonly onReadOnly?: (file: string) => void;
  /** Waits for a database that is not available. Until then each method of the store throws that StoreError. */
  readonly isPatient?: boolean;
}

type Work<T> = (connection: Database) => Promise<T>;

/** Runs `work` in a transaction. `key` names what no other transaction may change meanwhile, usually the account. */
export async function immediately<T>(db: Database, key: string, work: Work<T>): Promise<T> {
  return await db
    .connection()
    .execute((connection) => engineOf(db).transact(connection, { key, isDurable: false }, work));
}

/**
 * Does the same, and resolves when this commit and all earlier ones are on the disk. Used for `sent` rows, for results and
 * for approvals.
 */
export async function durably<T>(db: Database, key: string, work: Work<T>): Promise<T> {
  return await db
    .connection()
    .execute((connection) => engineOf(db).transact(connection, { key, isDurable: true }, work));
}
