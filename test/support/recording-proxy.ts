// A proxy of one process: records which requests to the service it sent, and when they arrived.
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** A host that only the proxy knows, since requests to this machine use no proxy. */
export const PROXIED = 'http://planning.test';

export interface ProxiedRequest {
  /** Epoch milliseconds. */
  readonly atMs: number;
  readonly method: string;
  readonly token: string;
}

export interface RecordingProxy {
  readonly env: Readonly<Record<string, string>>;
  readonly requests: readonly ProxiedRequest[];
  /** Called with each request when it has arrived, before it is sent on. */
  onRequest: ((arrived: ProxiedRequest) => void) | null;
}

/** `target` is the address of the service. The proxy ends with the test. */
export async function startProxy(target: string): Promise<RecordingProxy> {
  const requests: ProxiedRequest[] = [];
  const { hostname, port } = new URL(target);

  function forward(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const { method = '', url = '/', headers } = incoming;
    const arrived = {
      atMs: Date.now(),
      method,
      token: (headers.authorization ?? '').replace('Bearer ', ''),
    };
    requests.push(arrived);
    proxy.onRequest?.(arrived);
    const path = url.replace(/^http:\/\/[^/]*/, '');
    const to = request({ hostname, port, method, path, headers, agent: false }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    to.on('error', () => outgoing.destroy());
    incoming.on('error', () => to.destroy());
    outgoing.on('close', () => to.destroy());
    incoming.pipe(to);
  }

  const server = createServer(forward);
  server.on('connect', (_request, socket) => {
    socket.on('error', () => undefined);
    socket.write('HTTP/1.1 200 Connected\r\n\r\n');
    server.emit('connection', socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const proxy: RecordingProxy = {
    env: { HTTP_PROXY: address, http_proxy: address, NO_PROXY: '', no_proxy: '' },
    requests,
    onRequest: null,
  };
  return proxy;
}
