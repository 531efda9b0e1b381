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

/** A port that was free a moment ago, for programs that cannot choose one. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const port = portOf(server);
  await new Promise((resolve) => server.close(resolve));
  return port;
}
