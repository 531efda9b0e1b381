// One PostgreSQL cluster for all files of a vitest run, started when the first test needs it and removed after the last.
import { createServer, type Server } from 'node:net';
import type { AddressInfo } from 'node:net';
import { startCluster, type Cluster } from './postgres-cluster.ts';
import { findPostgres, NO_POSTGRES } from './postgres-programs.ts';

/** The port of this process; test processes inherit it. */
export const HUB_PORT = 'ROLECALL_TEST_POSTGRES_PORT';

/** What a test process receives: the cluster's socket, or why there is none. */
export type HubAnswer = { readonly socket: string } | { readonly error: string };

/** For vitest's `globalSetup`: returns what ends the cluster. */
export async function setup(): Promise<() => Promise<void>> {
  const programs = findPostgres();
  if (programs === null) {
    console.log(`Tests on PostgreSQL are skipped: ${NO_POSTGRES}`);
    return () => Promise.resolve();
  }
  let cluster: Promise<Cluster> | undefined;
  const first = async (): Promise<Cluster> => {
    const started = await startCluster(programs);
    console.log(`Tests on PostgreSQL use version ${started.version} (${programs.folder})`);
    return started;
  };
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    void (cluster ??= first()).then(
      (started) => socket.end(JSON.stringify({ socket: started.socket } satisfies HubAnswer)),
      (error: unknown) => socket.end(JSON.stringify({ error: String(error) } satisfies HubAnswer)),
    );
  });
  process.env[HUB_PORT] = String(await portOf(server));
  return async () => {
    server.close();
    await (await cluster?.catch(() => undefined))?.remove();
  };
}

async function portOf(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}
