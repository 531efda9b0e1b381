// Ends a connection to PostgreSQL that is not one of the pool.
import type pg from 'pg';
import { sleep } from '../../platform/clock.ts';

/** A connection to a machine that is lost does not answer its end. */
const END_MS = 1000;

/** Never rejects, and resolves after a second although the server has not answered. */
export async function endConnection(client: Pick<pg.Client, 'end'>): Promise<void> {
  const ended = new AbortController();
  const ending = client.end().then(
    () => ended.abort(),
    () => ended.abort(),
  );
  await Promise.race([ending, sleep(END_MS, ended.signal)]);
}
