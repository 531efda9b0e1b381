// Work that one process at a time does for all replicas, such as pruning.
import type pg from 'pg';
import { endConnection } from './end-connection.ts';
import type { PostgresLocation } from './location.ts';
import { prepareSession, WITHOUT_LIMITS } from './session.ts';

/**
 * Does the work unless another process does it now; then resolves with null. `client` is a connection of its own, so that
 * a small pool has room for the work, and a process that dies releases the lock. It is connected and ended here.
 */
export async function alone<T>(
  client: pg.Client,
  location: PostgresLocation,
  work: () => Promise<T>,
): Promise<T | null> {
  await client.connect();
  try {
    await prepareSession(client, location);
    // A lock of the transaction, because a pooler gives the session of this connection to others.
    await client.query(`begin isolation level read committed; ${WITHOUT_LIMITS}`);
    const { rows } = await client.query<{ taken: boolean }>(
      'select pg_try_advisory_xact_lock(hashtextextended($1, 0)) as taken',
      [`rolecall maintenance ${location.schema}`],
    );
    return rows[0]?.taken === true ? await work() : null;
  } finally {
    await endConnection(client);
  }
}
