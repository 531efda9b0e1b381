// A connection outside the pool that listens for what other processes write for the daemon that leads. Nothing depends on it:
// behind a pooler that drops notifications, the daemon only notices later.
import type pg from 'pg';
import { sleep } from '../../system/clock.ts';
import { endConnection } from './pool.ts';
import { NOTICES } from './postgres-engine.ts';

const RECONNECT_MS = 1000;
/** The connection is opened again after so long, about 25 days. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Keeps a connection open until the returned function is called. */
export function listen(open: () => pg.Client, schema: string, onNotice: () => void): () => Promise<void> {
  const ended = new AbortController();

  async function listenOnce(): Promise<void> {
    const client = open();
    const broken = new AbortController();
    const stop = (): void => broken.abort();
    client.on('error', stop);
    client.on('end', stop);
    ended.signal.addEventListener('abort', stop, { once: true });
    client.on('notification', ({ payload }) => {
      if (payload === schema) onNotice();
    });
    try {
      await client.connect();
      await client.query(`listen ${NOTICES}`);
      // What happened without a connection was not noticed.
      onNotice();
      await sleep(LONGEST_TIMER_MS, broken.signal);
    } finally {
      ended.signal.removeEventListener('abort', stop);
      await endConnection(client);
    }
  }

  async function keepListening(): Promise<void> {
    while (!ended.signal.aborted) {
      // The daemon itself reports a database that is not available.
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
