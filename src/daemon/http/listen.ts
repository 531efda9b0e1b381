// Starts the HTTP server with the address, the certificate and the proxies of the service file.
import { errorCode } from '../../core/error-code.ts';
import { ListenError, UsageError } from '../../core/errors.ts';
import { isLoopback } from '../../core/loopback.ts';
import type { HttpSettings, ServiceSettings } from '../../core/settings.ts';
import { FileError, readRegularFile } from '../../platform/regular-file.ts';
import type { HttpOptions, HttpServer, TlsPair } from './server.ts';
import { startHttp } from './server.ts';

/** No certificate with its chain is larger. */
const MAX_PEM_BYTES = 1024 ** 2;

export interface OpenHttp extends HttpServer {
  /** Reads certificate and key again. An unusable pair is logged and not used. */
  reloadTls(): Promise<void>;
}

/** Listens at `http.listen`. Throws ListenError when that is not possible, and UsageError for an unusable certificate. */
export async function openHttp(
  { http }: ServiceSettings,
  options: Omit<HttpOptions, 'host' | 'port' | 'tls' | 'trustedProxies'>,
): Promise<OpenHttp> {
  const { log } = options;
  const tls = http.tls === undefined ? {} : { tls: await readPair(http.tls) };
  const server = await listen(http, { ...options, ...tls, trustedProxies: http.trustedProxies });
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
