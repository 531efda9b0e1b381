// What a pooler in transaction mode, such as PgBouncer, does to a client of PostgreSQL: nothing that a session has set
// is left in its next transaction, and the number of the server's process is invented.
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

const SOCKET = '.s.PGSQL.5432';
const DISCARD = Buffer.from('Q\0\0\0\x10discard all\0', 'latin1');
/** Types of messages of the server. */
const READY = 'Z';
const KEY = 'K';

/** Starts a pooler before the socket in a folder. Returns the address for clients. */
export async function transactionPooler(url: string): Promise<string> {
  const folder = mkdtempSync('/tmp/rolecall-pooler-');
  const behind = new URL(url).searchParams.get('host') ?? '';
  const clients = new Set<Socket>();
  const server = createServer((client) => {
    clients.add(client);
    serve(client, connect(join(behind, SOCKET)));
  });
  await new Promise<void>((resolve) => server.listen(join(folder, SOCKET), resolve));
  onTestFinished(() => {
    for (const client of clients) client.destroy();
    server.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const own = new URL(url);
  own.searchParams.set('host', folder);
  return own.href;
}

function serve(client: Socket, server: Socket): void {
  let state: 'busy' | 'idle' | 'discarding' = 'busy';
  let waiting: Buffer[] = [];
  let received = Buffer.alloc(0);
  for (const [one, other] of [
    [client, server],
    [server, client],
  ] as const) {
    one.on('error', () => other.destroy());
    one.on('close', () => other.destroy());
  }
  client.on('data', (bytes: Buffer) => {
    if (state === 'busy') return void server.write(bytes);
    waiting.push(bytes);
    if (state === 'idle') server.write(DISCARD);
    state = 'discarding';
  });
  server.on('data', (bytes: Buffer) => {
    received = Buffer.concat([received, bytes]);
    while (received.length >= 5 && received.length >= received.readInt32BE(1) + 1) {
      const message = Buffer.from(received.subarray(0, received.readInt32BE(1) + 1));
      received = received.subarray(message.length);
      const type = String.fromCharCode(message[0] ?? 0);
      if (type === KEY) message.writeInt32BE(7, 5);
      const isIdle = type === READY && message[5] === 'I'.charCodeAt(0);
      if (state !== 'discarding') {
        client.write(message);
        if (isIdle) state = 'idle';
      } else if (isIdle) {
        state = 'busy';
        for (const each of waiting) server.write(each);
        waiting = [];
      }
    }
  });
}
