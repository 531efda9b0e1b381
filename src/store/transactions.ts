// Write transactions, each of which locks what it changes at its start. The store repeats a method while another writer
// holds a lock, so a method of several transactions may begin again after some of them.
import { engineOf } from './engine.ts';
import type { Database } from './tables.ts';

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
