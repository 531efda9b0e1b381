// The HTTP server of the daemon: sockets, their limits, and TLS. The answers are made in app.ts.
import { getRequestListener } from '@hono/node-server';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Hono } from 'hono';
import { errorCode } from '../../core/error-code.ts';
import { type AppOptions, buildApp } from './app.ts';
import { limitConnections } from './connections.ts';
import type { HttpEnv } from './context.ts';
import { DEFAULT_LIMITS, type HttpLimits } from './limits.ts';
import { MALFORMED_TARGET } from './refusals.ts';
import { SECURITY_HEADERS } from './security-headers.ts';

/** A certificate with its chain and its private key, as PEM. */
export interface TlsPair {
  readonly cert: string;
  readonly key: string;
}

export interface HttpOptions extends Omit<AppOptions, 'limits' | 'nowMs' | 'steadyMs'> {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** Plain http without it. */
  readonly tls?: TlsPair;
  /** Changes to DEFAULT_LIMITS. */
  readonly limits?: Partial<HttpLimits>;
  readonly nowMs?: () => number;
  readonly steadyMs?: () => number;
}

export interface HttpServer {
  readonly url: string;
  /** Uses another certificate for new connections. Throws, and changes nothing, when it does not match its key. */
  replaceTls(pair: TlsPair): void;
  /** Accepts no more connections, waits a moment for the answers in progress, and closes the other connections. */
  close(): Promise<void>;
}

const CLOSE_GRACE_MS = 1000;
/** Connections that wait in the kernel. With fewer, a flood would delay health checks by seconds. */
const BACKLOG = 2048;

/** Resolves when the server listens. Rejects with the error of the system when it cannot. */
export async function startHttp(options: HttpOptions): Promise<HttpServer> {
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const app = buildApp({
    ...options,
    limits,
    nowMs: options.nowMs ?? Date.now,
    steadyMs: options.steadyMs ?? (() => performance.now()),
  });
  const server = createLimitedServer(app, limits, options.tls);
  limitConnections(server, limits, () => options.metrics.connectionDropped());
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port: options.port, host: options.host, backlog: BACKLOG }, resolve);
  });
  server.removeAllListeners('error');
  server.on('error', (error) => {
    const reason = errorCode(error);
    options.log.error({ event: 'http_failed', reason }, 'the HTTP server failed');
  });
  const { address, family, port } = server.address() as AddressInfo; // a TCP server that listens has an AddressInfo
  return {
    url: `${options.tls === undefined ? 'http' : 'https'}://${family === 'IPv6' ? `[${address}]` : address}:${port}`,
    replaceTls: (pair) => {
      if ('setSecureContext' in server) server.setSecureContext({ ...pair });
    },
    close: () => close(server),
  };
}

function createLimitedServer(app: Hono<HttpEnv>, limits: HttpLimits, tls?: TlsPair): Server | TlsServer {
  const listener = getRequestListener(app.fetch, {
    overrideGlobalObjects: false,
    // For HTTP/1.0, which has no host; the check of the host still refuses it.
    hostname: 'localhost',
    // For requests that hono cannot parse, such as one with an invalid Host.
    errorHandler: () =>
      new Response(`${MALFORMED_TARGET.message}\n`, {
        status: MALFORMED_TARGET.status,
        headers: { ...SECURITY_HEADERS, 'cache-control': 'no-store', 'content-type': 'text/plain' },
      }),
  });
  const settings = {
    headersTimeout: limits.headersMs,
    requestTimeout: limits.requestMs,
    // Node.js checks timeouts at this interval; the limits are precise to about a tenth.
    connectionsCheckingInterval: Math.max(50, Math.min(limits.headersMs, limits.requestMs) / 10),
  };
  const answer: RequestListener = (incoming, outgoing) => void listener(incoming, outgoing);
  const server =
    tls === undefined
      ? createServer(settings, answer)
      : createTlsServer({ ...settings, ...tls, handshakeTimeout: limits.headersMs }, answer);
  server.timeout = limits.idleMs;
  return server;
}

async function close(server: Server | TlsServer): Promise<void> {
  const grace = setTimeout(() => server.closeAllConnections(), CLOSE_GRACE_MS);
  await new Promise((resolve) => server.close(resolve));
  clearTimeout(grace);
}
