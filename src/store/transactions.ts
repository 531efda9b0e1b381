// Write transactions. Each takes the write lock at its start and waits while another program keeps the store locked.
import { sql } from 'kysely';
import { RUN_PATIENCE_MS, whileBusy } from './busy.ts';
import type { Database } from './tables.ts';

/**
 * A transaction that takes the write lock at its start, so that it never fails half-way for a second writer. While
 * another program keeps the store locked it is tried again, and leaves the connection to others between the attempts.
 */
export async function immediately<T>(
  db: Database,
  work: (connection: Database) => Promise<T>,
  patienceMs = RUN_PATIENCE_MS,
): Promise<T> {
  return await whileBusy(patienceMs, () =>
    db.connection().execute((connection) => transact(connection, work)),
  );
}

/**
 * The same, on the disk when it resolves, with all that was committed before: for what was sent, for results, and for
 * an operator's word.
 */
export async function durably<T>(
  db: Database,
  work: (connection: Database) => Promise<T>,
  patienceMs = RUN_PATIENCE_MS,
): Promise<T> {
  return await whileBusy(patienceMs, () =>
    db.connection().execute(async (connection) => {
      await sql`pragma synchronous = full`.execute(connection);
      try {
        return await transact(connection, work);
      } finally {
        await sql`pragma synchronous = normal`.execute(connection);
      }
    }),
  );
}

async function transact<T>(connection: Database, work: (connection: Database) => Promise<T>): Promise<T> {
  await sql`begin immediate`.execute(connection);
  try {
    const result = await work(connection);
    await sql`commit`.execute(connection);
    return result;
  } catch (error) {
    // A full disk may have rolled back already; then this fails, and the first error is the one that counts.
    await sql`rollback`.execute(connection).catch(() => undefined);
    throw error;
  }
}
