// Shares the time of the process between clients, so that the many requests of one delay neither probes nor the others.
import type { Socket } from 'node:net';
import { sleep } from '../../platform/clock.ts';
import { turn } from '../../platform/turns.ts';
import { clientOf } from './attempts.ts';
import type { HttpContext, HttpMiddleware } from './context.ts';
import { answerFailure } from './failure.tsx';
import type { HttpLimits } from './limits.ts';
import { TOO_MANY_REQUESTS } from './refusals.ts';

/** The event loop accepts one connection in each iteration. In this time it accepts all that wait. */
const PAUSE_MS = 2;

/** A token at one address. */
interface Client {
  /** The requests whose connection is free. */
  readonly waiting: (() => void)[];
  /** The requests that are handled. */
  running: number;
  /** All requests without an answer. */
  open: number;
}

/**
 * Starts requests one after another: one of each client in its turn, a limited number of each client at a time, and one of
 * each connection, whose answers are sent in order anyway. A request that comes alone is handled at once. What it waits
 * for itself, such as a large run, delays no other client.
 */
export function takeTurns(
  probes: ReadonlySet<string>,
  limits: Pick<HttpLimits, 'runningPerClient' | 'openPerClient'>,
): HttpMiddleware {
  /** Those with requests; the first one is served next. */
  const clients = new Map<string, Client>();
  /** The end of the last request of each connection. */
  const ends = new WeakMap<Socket, Promise<unknown>>();
  let isBusy = false;

  /** Starts a request of the next client, if one may start. */
  function startOne(): boolean {
    for (const [key, client] of clients) {
      const start = client.running < limits.runningPerClient ? client.waiting.shift() : undefined;
      if (start === undefined) continue;
      clients.delete(key);
      clients.set(key, client);
      client.running += 1;
      start();
      return true;
    }
    return false;
  }

  async function startAll(): Promise<void> {
    if (isBusy) return;
    isBusy = true;
    while (startOne()) {
      // After what the handler does at once.
      await turn();
      await sleep(PAUSE_MS);
    }
    isBusy = false;
  }

  async function handle(client: Client, next: () => Promise<void>): Promise<void> {
    await new Promise<void>((resolve) => {
      client.waiting.push(resolve);
      void startAll();
    });
    try {
      await next();
    } finally {
      client.running -= 1;
      void startAll();
    }
  }

  return async (context, next) => {
    if (probes.has(context.req.path)) return await next();
    const key = keyOf(context);
    const client = clients.get(key) ?? { waiting: [], running: 0, open: 0 };
    if (client.open >= limits.openPerClient) return await answerFailure(context, TOO_MANY_REQUESTS);
    clients.set(key, client);
    client.open += 1;
    const { socket } = context.env.incoming;
    const before = ends.get(socket) ?? Promise.resolve();
    const end = before.then(() => handle(client, next));
    ends.set(
      socket,
      end.catch(() => undefined),
    );
    try {
      await end;
    } finally {
      client.open -= 1;
      if (client.open === 0) clients.delete(key);
    }
  };
}

function keyOf(context: HttpContext): string {
  return `${clientOf(context.get('address'))} ${context.get('visitor')?.name ?? ''}`;
}
