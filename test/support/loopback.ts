// Servers of tests on a free port of this machine.
import type { Server as HttpServer } from 'node:http';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { onTestFinished } from 'vitest';

/** Listens on a free port; resolves with `http://127.0.0.1:PORT`. The server and its connections end with the test. */
export async function listen(server: HttpServer | Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
    if ('closeAllConnections' in server) server.closeAllConnections();
  });
  return `http://127.0.0.1:${portOf(server)}`;
}

/** The port of a server that listens. */
export function portOf(server: HttpServer | Server): number {
  return (server.address() as AddressInfo).port; // a TCP server that listens has an AddressInfo
}

/**
 * A port that was free a moment ago, for programs that cannot choose one. It is below the range from which the system
 * assigns ports, so that no server that listens on port 0 gets it. Two calls rarely return the same port.
 */
export async function freePort(): Promise<number> {
  const port = 20_000 + Math.floor(Math.random() * 12_000);
  const server = createServer();
  const isFree = await new Promise<boolean>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' ? resolve(false) : reject(error),
    );
    server.listen(port, '127.0.0.1', () => resolve(true));
  });
  if (!isFree) return freePort();
  await new Promise((resolve) => server.close(resolve));
  return port;
}
