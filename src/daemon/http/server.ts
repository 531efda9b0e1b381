// The HTTP server of the daemon: sockets, their limits, and TLS, with the address, the certificate and the proxies of the
// service file. The answers are made in app.ts.
import { getRequestListener } from '@hono/node-server';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Hono } from 'hono';
import { ListenError, UsageError, errorCode } from '../../core/errors.ts';
import { isLoopback } from '../../core/remote-address.ts';
import type { HttpSettings, ServiceSettings } from '../../core/settings.ts';
import { FileError, readRegularFile } from '../../system/regular-file.ts';
import { type AppOptions, buildApp } from './app.ts';
import type { HttpEnv } from './context.ts';
import { MALFORMED_TARGET } from './refusals.ts';

export interface HttpLimits {
  /** How long the headers of a request may take, and the complete request. */
  readonly headersMs: number;
  readonly requestMs: number;
  /** How long a connection may be silent, except during a plan. */
  readonly idleMs: number;
  readonly connections: number;
}

const DEFAULT_LIMITS: HttpLimits = {
  headersMs: 5000,
  requestMs: 30_000,
  idleMs: 30_000,
  connections: 1000,
};

/** A certificate with its chain and its private key, as PEM. */
export interface TlsPair {
  readonly cert: string;
  readonly key: string;
}

export interface HttpOptions extends Omit<AppOptions, 'nowMs' | 'steadyMs'> {
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
    nowMs: options.nowMs ?? Date.now,
    steadyMs: options.steadyMs ?? (() => performance.now()),
  });
  const server = createLimitedServer(app, limits, options.tls);
  server.maxConnections = limits.connections;
  server.on('drop', () => options.metrics.connectionDropped());
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
    // For HTTP/1.0, which has no host; the check of the host still refuses it.
    hostname: 'localhost',
    // For requests that hono cannot parse, such as one with an invalid Host.
    errorHandler: () =>
      new Response(`${MALFORMED_TARGET.message}\n`, {
        status: MALFORMED_TARGET.status,
        headers: {
          'content-security-policy': "default-src 'none'",
          'cache-control': 'no-store',
          'content-type': 'text/plain',
          connection: 'close',
        },
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

/** No certificate with its chain is larger. */
const MAX_PEM_BYTES = 1024 ** 2;

export interface OpenHttp extends HttpServer {
  /** Reads certificate and key again. An unusable pair is logged and not used. */
  reloadTls(): Promise<void>;
}

/** Listens at `http.listen`. Throws ListenError when that is not possible, and UsageError for an unusable certificate. */
export async function openHttp(
  { http }: ServiceSettings,
  options: Omit<HttpOptions, 'host' | 'port' | 'tls' | 'title' | 'trustedProxies' | 'identity' | 'publicUrl'>,
): Promise<OpenHttp> {
  const { log } = options;
  const tls = http.tls === undefined ? {} : { tls: await readPair(http.tls) };
  const { title, trustedProxies, identity, publicUrl } = http;
  const server = await listen(http, { ...options, ...tls, title, trustedProxies, identity, publicUrl });
  if (http.tls === undefined && !isLoopback(http.host)) {
    log.warn(
      { event: 'without_tls', host: http.host },
      'the HTTP interface listens beyond this machine without TLS: tokens, sessions and reports are sent unencrypted; set http.tls, or use a proxy with TLS',
    );
  }
  return {
    ...server,
    async reloadTls() {
      if (http.tls === undefined) return;
      try {
        server.replaceTls(await readPair(http.tls));
        log.info({ event: 'tls_reloaded' }, 'the certificate was read again');
      } catch (error) {
        const reason = error instanceof Error ? error.message : 'unknown';
        log.error(
          { event: 'tls_reload_failed', reason },
          'the new certificate cannot be used; the old one stays in use',
        );
      }
    },
  };
}

async function readPair({ cert, key }: NonNullable<HttpSettings['tls']>): Promise<TlsPair> {
  return { cert: await readPem(cert, 'http.tls.cert'), key: await readPem(key, 'http.tls.key') };
}

async function readPem(file: string, what: string): Promise<string> {
  try {
    return (await readRegularFile(file, MAX_PEM_BYTES)).bytes.toString('utf8');
  } catch (error) {
    const code = error instanceof FileError ? error.code : 'unknown';
    throw new UsageError(
      code === 'irregular' || code === 'too_large'
        ? `${what}: ${file} is not a PEM file; name a file of at most 1 MiB`
        : `${what}: ${file} cannot be read (${code}); check the path and its permissions`,
    );
  }
}

async function listen(http: HttpSettings, options: Omit<HttpOptions, 'host' | 'port'>): Promise<HttpServer> {
  const { host, port } = http;
  try {
    return await startHttp({ ...options, host, port });
  } catch (error) {
    const reason = errorCode(error);
    if (reason.startsWith('ERR_SSL') || reason.startsWith('ERR_OSSL')) {
      throw new UsageError(
        `http.tls: the certificate and the key cannot be used together (${reason}); use a PEM certificate and the PEM key that belongs to it`,
      );
    }
    const address = host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
    throw new ListenError(
      reason === 'EADDRINUSE'
        ? `another program listens on ${address} (${reason}); stop it, or set another http.listen`
        : `cannot listen on ${address} (${reason}); set another http.listen`,
    );
  }
}
