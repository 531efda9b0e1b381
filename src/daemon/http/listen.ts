// The daemon's HTTP interface, joined with the configuration: its tokens, its certificate and its address.
import { errorCode } from '../../core/error-code.ts';
import { SecretError, UsageError } from '../../core/errors.ts';
import { isLoopback } from '../../core/loopback.ts';
import type { HttpSettings, ServiceSettings } from '../../core/settings.ts';
import { FileError, readRegularFile } from '../../platform/regular-file.ts';
import { resolveSecret } from '../../config/secrets.ts';
import type { HttpToken } from './access.ts';
import type { HttpOptions, HttpServer, TlsPair } from './server.ts';
import { startHttp } from './server.ts';

/** A shorter token can be guessed by trying. */
const SHORTEST_TOKEN = 16;
/** No certificate with its chain is larger. */
const MOST_PEM_BYTES = 1024 ** 2;

/** All tokens with their names and roles. Throws SecretError for one that is missing, too short, or used twice. */
export async function readTokens({ http }: ServiceSettings): Promise<HttpToken[]> {
  const written = [
    ...(http.token === undefined
      ? []
      : [{ name: 'http', role: 'operate' as const, token: http.token, what: 'http.token' }]),
    ...http.tokens.map((each) => ({ ...each, what: `the token ${each.name} of http.tokens` })),
  ];
  const tokens: HttpToken[] = [];
  for (const { name, role, token: ref, what } of written) {
    const token = await resolveSecret(ref, what);
    if (token.reveal().length < SHORTEST_TOKEN) {
      throw new SecretError(
        `${what} has fewer than ${SHORTEST_TOKEN} characters, so that it can be guessed; use a longer one, such as the output of \`openssl rand -hex 32\``,
      );
    }
    const other = tokens.find((each) => each.token.reveal() === token.reveal());
    if (other !== undefined) {
      throw new SecretError(`${what} is the same as the token ${other.name}; give each name its own token`);
    }
    tokens.push({ name, role, token });
  }
  return tokens;
}

export interface OpenHttp extends HttpServer {
  /** Reads certificate and key again. A pair that cannot be used changes nothing and is logged. */
  reloadTls(): Promise<void>;
}

/** Listens as the configuration says. Throws UsageError when it cannot. */
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
      'the HTTP interface listens beyond this machine without TLS: tokens, sessions and every report travel in the clear; set http.tls, or put a proxy with TLS in front',
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
    return (await readRegularFile(file, MOST_PEM_BYTES)).bytes.toString('utf8');
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
        `http.tls: the certificate and the key cannot be used together (${reason}); write a PEM certificate and its own PEM key`,
      );
    }
    throw new UsageError(
      reason === 'EADDRINUSE'
        ? `another program listens on ${host}:${port} (${reason}); end it, or choose another http.listen`
        : `cannot listen on ${host}:${port} (${reason}); choose another http.listen`,
    );
  }
}
