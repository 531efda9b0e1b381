// Work that one process at a time does for all replicas, such as pruning.
import type pg from 'pg';

/**
 * Does the work unless another process does it now; then resolves with null. `client` is a connection of its own, so that
 * a small pool has room for the work, and a process that dies releases the lock. It is connected and ended here.
 */
export async function alone<T>(client: pg.Client, schema: string, work: () => Promise<T>): Promise<T | null> {
  client.on('error', () => undefined);
  await client.connect();
  try {
    const { rows } = await client.query<{ taken: boolean }>(
      'select pg_try_advisory_lock(hashtextextended($1, 0)) as taken',
      [`rolecall maintenance ${schema}`],
    );
    return rows[0]?.taken === true ? await work() : null;
  } finally {
    await client.end().catch(() => undefined);
  }
}
