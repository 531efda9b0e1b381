// Listens for changes of the turns on a connection of its own. Nothing depends on it: behind a pooler that drops
// notifications, replicas only notice changes later.
import type pg from 'pg';
import { sleep } from '../../platform/clock.ts';
import type { TurnListeners } from '../../core/turn-store.ts';

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
    const end = (): void => broken.abort();
    client.on('error', end);
    client.on('end', end);
    ended.signal.addEventListener('abort', end, { once: true });
    client.on('notification', ({ payload = '' }) => listeners.get(payload)?.());
    try {
      await client.connect();
      await client.query('listen rolecall_turns');
      // What happened without a connection was not noticed.
      for (const notice of listeners.values()) notice();
      await sleep(LONGEST_TIMER_MS, broken.signal);
    } finally {
      ended.signal.removeEventListener('abort', end);
      await client.end().catch(() => undefined);
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
