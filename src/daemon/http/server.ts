// The HTTP server of the daemon: sockets and their limits; what it answers stands in app.ts (contract, section 7).
import { getRequestListener } from '@hono/node-server';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Hono } from 'hono';
import { type AppOptions, buildApp } from './app.ts';
import type { HttpEnv } from './context.ts';
import { DEFAULT_LIMITS, type HttpLimits } from './limits.ts';
import { ODD_TARGET } from './refusals.ts';
import { SECURITY_HEADERS } from './security-headers.ts';

export interface HttpOptions extends Omit<AppOptions, 'limits' | 'nowMs'> {
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  /** What differs from DEFAULT_LIMITS. */
  readonly limits?: Partial<HttpLimits>;
  /** The clock of sessions and attempts. */
  readonly nowMs?: () => number;
}

export interface HttpServer {
  readonly url: string;
  /** Takes no more connections, lets answers that are under way go out for a moment, and breaks the rest. */
  close(): Promise<void>;
}

const CLOSE_GRACE_MS = 1000;

/** Listens, or rejects with the reason why it cannot. */
export async function startHttp(options: HttpOptions): Promise<HttpServer> {
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const app = buildApp({ ...options, limits, nowMs: options.nowMs ?? Date.now });
  const server = createLimitedServer(app, limits);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host, resolve);
  });
  server.removeAllListeners('error');
  server.on('error', (error) => {
    const reason = 'code' in error ? String(error.code) : 'unknown';
    options.log.error({ event: 'http_failed', reason }, 'the HTTP server failed');
  });
  const { address, family, port } = server.address() as AddressInfo; // a TCP server that listens has an AddressInfo
  return {
    url: `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`,
    close: () => close(server),
  };
}

function createLimitedServer(app: Hono<HttpEnv>, limits: HttpLimits): Server {
  const listener = getRequestListener(app.fetch, {
    overrideGlobalObjects: false,
    // For HTTP/1.0, which names no host; the check of the host sees that there is none.
    hostname: 'localhost',
    // What cannot even be made a request of, such as a Host that is no host.
    errorHandler: () =>
      new Response(`${ODD_TARGET.message}\n`, {
        status: ODD_TARGET.status,
        headers: { ...SECURITY_HEADERS, 'cache-control': 'no-store', 'content-type': 'text/plain' },
      }),
  });
  const server = createServer(
    {
      headersTimeout: limits.headersMs,
      requestTimeout: limits.requestMs,
      // Timeouts are looked for only so often; a limit is to be true to a tenth or so.
      connectionsCheckingInterval: Math.max(50, Math.min(limits.headersMs, limits.requestMs) / 10),
    },
    (incoming, outgoing) => void listener(incoming, outgoing),
  );
  server.timeout = limits.idleMs;
  server.maxConnections = limits.connections;
  return server;
}

async function close(server: Server): Promise<void> {
  const grace = setTimeout(() => server.closeAllConnections(), CLOSE_GRACE_MS);
  await new Promise((resolve) => server.close(resolve));
  clearTimeout(grace);
}
