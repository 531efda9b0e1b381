// Write transactions. Each locks what it changes at its start, and waits while another writer holds that.
import { RUN_PATIENCE_MS, whileBusy } from './busy.ts';
import { engineOf, type TransactionOptions } from './engine.ts';
import type { Database } from './tables.ts';

type Work<T> = (connection: Database) => Promise<T>;

/**
 * Runs `work` in a transaction. `key` names what no other transaction may change meanwhile, usually the account. While
 * another program keeps the store locked, it is repeated; between attempts, others can use the connection.
 */
export async function immediately<T>(
  db: Database,
  key: string,
  work: Work<T>,
  patienceMs = RUN_PATIENCE_MS,
): Promise<T> {
  return await repeated(db, { key, isDurable: false }, work, patienceMs);
}

/**
 * Does the same, and resolves when this commit and all earlier ones are on the disk. Used for `sent` rows, for results and
 * for approvals.
 */
export async function durably<T>(
  db: Database,
  key: string,
  work: Work<T>,
  patienceMs = RUN_PATIENCE_MS,
): Promise<T> {
  return await repeated(db, { key, isDurable: true }, work, patienceMs);
}

async function repeated<T>(
  db: Database,
  options: TransactionOptions,
  work: Work<T>,
  patienceMs: number,
): Promise<T> {
  const engine = engineOf(db);
  return await whileBusy(engine, patienceMs, () =>
    db.connection().execute((connection) => engine.transact(connection, options, work)),
  );
}
