// The HTTP server of the daemon: sockets and their limits, at the address of the service file. The answers are made in app.ts.
import { getRequestListener } from '@hono/node-server';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ListenError, errorCode } from '../../core/errors.ts';
import { type AppOptions, buildApp } from './app.ts';

const DEFAULT_LIMITS = {
  /** How long the headers of a request may take, and the complete request. */
  headersMs: 5000,
  requestMs: 30_000,
  /** How long a connection may be silent, except during a plan. */
  idleMs: 30_000,
  connections: 1000,
};

export interface HttpOptions extends Omit<AppOptions, 'nowMs' | 'steadyMs'> {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** Changes to DEFAULT_LIMITS. */
  readonly limits?: Partial<typeof DEFAULT_LIMITS>;
  readonly nowMs?: () => number;
  readonly steadyMs?: () => number;
}

const CLOSE_GRACE_MS = 1000;
/** Connections that wait in the kernel. With fewer, a flood would delay health checks by seconds. */
const BACKLOG = 2048;

/** Resolves when the server listens. Throws ListenError when that is not possible. */
export async function startHttp(options: HttpOptions) {
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const app = buildApp({
    ...options,
    nowMs: options.nowMs ?? Date.now,
    steadyMs: options.steadyMs ?? (() => performance.now()),
  });
  const listener = getRequestListener(app.fetch, {
    // For HTTP/1.0, which has no host; the check of the host still refuses it.
    hostname: 'localhost',
  });
  const server = createServer(
    {
      headersTimeout: limits.headersMs,
      requestTimeout: limits.requestMs,
      // Node.js checks timeouts at this interval; the limits are precise to about a tenth.
      connectionsCheckingInterval: Math.max(50, Math.min(limits.headersMs, limits.requestMs) / 10),
    },
    (incoming, outgoing) => void listener(incoming, outgoing),
  );
  server.timeout = limits.idleMs;
  server.maxConnections = limits.connections;
  server.on('drop', () => options.metrics.connectionDropped());
  const { host, port: wanted } = options;
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(listenError(errorCode(error), host, wanted)));
    server.listen({ port: wanted, host, backlog: BACKLOG }, resolve);
  });
  server.removeAllListeners('error');
  server.on('error', (error) => {
    const reason = errorCode(error);
    options.log.error({ event: 'http_failed', reason }, 'the HTTP server failed');
  });
  const { address, family, port } = server.address() as AddressInfo; // a TCP server that listens has an AddressInfo
  return {
    url: `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`,
    /** Accepts no more connections, waits a moment for the answers in progress, and closes the other connections. */
    close: () => close(server),
  };
}

async function close(server: Server): Promise<void> {
  const grace = setTimeout(() => server.closeAllConnections(), CLOSE_GRACE_MS);
  await new Promise((resolve) => server.close(resolve));
  clearTimeout(grace);
}

function listenError(reason: string, host: string, port: number): ListenError {
  const address = host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
  return new ListenError(
    reason === 'EADDRINUSE'
      ? `another program listens on ${address} (${reason}); stop it, or set another http.listen`
      : `cannot listen on ${address} (${reason}); set another http.listen`,
  );
}
