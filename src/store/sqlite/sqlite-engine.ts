// SQLite as the engine of the store: one writer at a time, for all processes of one machine.
import { sql } from 'kysely';
import { SQLite } from '../../system/sqlite.ts';
import type { Engine } from '../engine.ts';
import { isDead } from '../process-identity.ts';
import type { Database } from '../tables.ts';
import { toIso } from '../row-values.ts';

export function sqliteEngine(leaseMs: number): Engine {
  return {
    async transact(connection, options, work) {
      if (!options.isDurable) return await transact(connection, work);
      await sql`pragma synchronous = full`.execute(connection);
      try {
        return await transact(connection, work);
      } finally {
        await sql`pragma synchronous = normal`.execute(connection);
      }
    },
    // A row that another one refers to may be pruned meanwhile.
    isRepeatable: (error) =>
      error instanceof SQLite.SqliteError && /^SQLITE_(BUSY|LOCKED|CONSTRAINT_FOREIGNKEY)/.test(error.code),
    // The transaction has the write lock from its start.
    forShare: sql``,
    timeAfter: (ms, nowMs) => sql`${toIso(nowMs + ms)}`,
    clockMs: (_connection, nowMs) => Promise.resolve(nowMs),
    isDead,
    leaseMs,
  };
}

/** Takes the write lock at the start, so that a second writer cannot make the transaction fail later. */
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
