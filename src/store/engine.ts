// What differs between SQLite and PostgreSQL. The queries in this folder are the same for both and ask here for the rest.
import type { RawBuilder } from 'kysely';
import type { Database } from './tables.ts';

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
  /** The end of a `select` whose rows must not be deleted before the transaction ends. */
  readonly forKeyShare: RawBuilder<unknown>;
  /** The time of `clockMs` so much later, as text. */
  timeAfter(ms: number, nowMs: number): RawBuilder<string>;
  /** Differs after a failover to another server, which may lack the last commits. */
  readonly timeline: RawBuilder<string>;
  /** Whether the database can be replaced by a copy of it. */
  readonly isReplicated: boolean;
  /** Wakes the daemon that leads, if it listens. */
  notify(connection: Database): Promise<void>;
  /** The time that decides about locks: that of the database where several machines share it, otherwise `nowMs`. */
  clockMs(connection: Database, nowMs: number): Promise<number>;
  /** Whether a process is certainly dead. */
  isDead(holder: Holder): boolean;
  /** How long a lock is valid after its last renewal, if its holder may be alive. */
  readonly leaseMs: number;
}

const engines = new WeakMap<object, Engine>();

/** Makes this the engine of a database and of its connections. */
export function setEngine(db: Database, engine: Engine): void {
  engines.set(db.getExecutor().adapter, engine);
}

export function engineOf(db: Database): Engine {
  const engine = engines.get(db.getExecutor().adapter);
  if (engine === undefined) throw new Error('the database has no engine');
  return engine;
}
