// Limits the connections, in total and for each client, and decides which one to close. A flood of connections without
// requests must not prevent health checks.
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

/** Ranks of connections; the lowest rank is closed first. */
const SILENT = 0;
const STALLED = 1;
const WORKING = 2;

/**
 * When there are too many connections, closes the oldest one without complete headers. If there is none, closes one whose
 * client does not send its body or read its answer. If all are working, the newest one is closed.
 */
export function limitConnections(server: Server, limits: ConnectionLimits, onDropped: () => void): void {
  /** By remote address and port, in the order in which they were opened or became silent. */
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

  /** Reads the requests that arrived first: otherwise a burst of connections would close a health check before it is read. */
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
      // Moves it to the end: it is the newest silent one.
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

/** The same key for a connection and for its TLS session. */
function keyOf({ remoteAddress = '', remotePort = 0 }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
