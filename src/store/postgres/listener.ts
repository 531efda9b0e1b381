// Connections of a replica outside the pool. One listens for changes of the turns; nothing depends on it: behind a pooler
// that drops notifications, replicas only notice changes later.
import pg from 'pg';
import { sleep } from '../../platform/clock.ts';
import type { TurnListeners } from '../../core/turn-store.ts';
import { endConnection } from './end-connection.ts';
import type { PostgresLocation } from './location.ts';
import { toStoreError } from './postgres-errors.ts';

const RECONNECT_MS = 1000;
/** The connection is opened again after so long, about 25 days. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Keeps a connection open until the returned function is called. */
export function listen(
  open: () => pg.Client,
  schema: string,
  { onTurn, onReplica }: TurnListeners,
): () => Promise<void> {
  const ended = new AbortController();
  const listeners = new Map([
    [`${schema} turn`, onTurn],
    [`${schema} replica`, onReplica],
  ]);

  async function listenOnce(): Promise<void> {
    const client = open();
    const broken = new AbortController();
    const stop = (): void => broken.abort();
    client.on('error', stop);
    client.on('end', stop);
    ended.signal.addEventListener('abort', stop, { once: true });
    client.on('notification', ({ payload = '' }) => listeners.get(payload)?.());
    try {
      await client.connect();
      await client.query('listen rolecall_turns');
      // What happened without a connection was not noticed.
      for (const notice of listeners.values()) notice();
      await sleep(LONGEST_TIMER_MS, broken.signal);
    } finally {
      ended.signal.removeEventListener('abort', stop);
      await endConnection(client);
    }
  }

  async function keepListening(): Promise<void> {
    while (!ended.signal.aborted) {
      // The replica itself reports a database that is not available.
      await listenOnce().catch(() => undefined);
      await sleep(RECONNECT_MS, ended.signal);
    }
  }

  const listening = keepListening();
  return async () => {
    ended.abort();
    await listening;
  };
}

/** Writes on a connection of its own, since the connections of the pool may be older than what refuses this process. */
export async function probe(client: pg.Client, location: PostgresLocation): Promise<void> {
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query(`update ${pg.escapeIdentifier(location.schema)}.store_version set version = version`);
  } catch (error) {
    throw toStoreError(error, location);
  } finally {
    await endConnection(client);
  }
}
