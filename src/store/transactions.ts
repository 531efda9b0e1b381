// Write transactions. Each takes the write lock at its start and waits while another program keeps the store locked.
import { sql } from 'kysely';
import { RUN_PATIENCE_MS, whileBusy } from './busy.ts';
import type { Database } from './tables.ts';

/**
 * Runs `work` in a transaction that takes the write lock at its start, so that a second writer cannot make it fail later.
 * While another program keeps the store locked, it is repeated; between attempts, others can use the connection.
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
 * Does the same, and resolves when this commit and all earlier ones are on the disk. Used for `sent` rows, for results and
 * for approvals.
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
    // After a full disk SQLite may have rolled back already. Then this fails, and the first error is the cause.
    await sql`rollback`.execute(connection).catch(() => undefined);
    throw error;
  }
}
