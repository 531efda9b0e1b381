// How many connections are kept, in total and of one client, and which one is closed when there are more: a flood of
// connections that ask for nothing must not keep probes from their answer.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Server, Socket } from 'node:net';
import { clientOf } from './attempts.ts';

export interface ConnectionLimits {
  readonly connections: number;
  readonly connectionsPerClient: number;
}

interface Exchange {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
}

interface Connection {
  readonly socket: Socket;
  readonly client: string;
  readonly exchanges: Set<Exchange>;
}

/** The lower, the sooner it is closed. */
const SILENT = 0;
const STALLED = 1;
const WORKING = 2;

/**
 * Closes the oldest connection that has no complete headers when there are too many; then one whose client does not send
 * its body or read its answer; never one whose answer is being made: then it is the newest.
 */
export function limitConnections(server: Server, limits: ConnectionLimits, onDropped: () => void): void {
  /** By remote address and port, in the order in which they came or fell silent. */
  const open = new Map<string, Connection>();
  const counts = new Map<string, number>();
  let isScheduled = false;

  function remove(key: string, connection: Connection): void {
    if (open.get(key) !== connection) return;
    open.delete(key);
    const count = (counts.get(connection.client) ?? 1) - 1;
    if (count === 0) counts.delete(connection.client);
    else counts.set(connection.client, count);
  }

  function drop(isCandidate: (connection: Connection) => boolean): void {
    let victim: readonly [string, Connection] | undefined;
    let least = WORKING;
    for (const [key, connection] of open) {
      if (!isCandidate(connection)) continue;
      const rank = rankOf(connection);
      if (rank < least || least === WORKING) victim = [key, connection];
      least = Math.min(least, rank);
      if (least === SILENT) break;
    }
    if (victim === undefined) return;
    const [key, connection] = victim;
    remove(key, connection);
    connection.socket.destroy();
    onDropped();
  }

  /** What came together with a connection is read first: otherwise a burst would close a probe before it asks. */
  function scheduleCheck(): void {
    if (isScheduled) return;
    isScheduled = true;
    setImmediate(() =>
      setImmediate(() => {
        isScheduled = false;
        check();
      }),
    );
  }

  function check(): void {
    for (const [client, count] of counts) {
      for (let more = count - limits.connectionsPerClient; more > 0; more -= 1) {
        drop((each) => each.client === client);
      }
    }
    for (let more = open.size - limits.connections; more > 0; more -= 1) drop(() => true);
  }

  server.on('connection', (socket: Socket) => {
    const key = keyOf(socket);
    const connection = {
      socket,
      client: clientOf(socket.remoteAddress ?? ''),
      exchanges: new Set<Exchange>(),
    };
    const { client } = connection;
    open.set(key, connection);
    counts.set(client, (counts.get(client) ?? 0) + 1);
    socket.once('close', () => remove(key, connection));
    scheduleCheck();
  });

  server.on('request', (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const key = keyOf(incoming.socket);
    const connection = open.get(key);
    if (connection === undefined) return;
    const exchange = { incoming, outgoing };
    connection.exchanges.add(exchange);
    outgoing.once('close', () => {
      connection.exchanges.delete(exchange);
      // It is silent from now on, and the youngest of the silent ones.
      if (open.get(key) === connection && open.delete(key)) open.set(key, connection);
    });
  });
}

function rankOf({ exchanges }: Connection): number {
  if (exchanges.size === 0) return SILENT;
  const isStalled = [...exchanges].every(
    ({ incoming, outgoing }) => !incoming.complete || outgoing.writableEnded,
  );
  return isStalled ? STALLED : WORKING;
}

/** The same for a connection and for the TLS session upon it. */
function keyOf({ remoteAddress = '', remotePort = 0 }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
