// One POST to a webhook: no redirect is followed, and of the answer only its status and Retry-After are looked at.
import type { Dispatcher } from 'undici';
import { isLoopback } from '../../core/loopback.ts';
import type { Secret } from '../../core/secret.ts';

/** `code` says why no answer came; it never quotes anything. */
export type PostResult =
  { readonly status: number; readonly retryAfter: string | undefined } | { readonly code: string };

export interface Poster {
  /** Ends early when the signal aborts. Never rejects. */
  post(
    url: Secret,
    headers: Readonly<Record<string, string>>,
    body: string,
    signal: AbortSignal,
  ): Promise<PostResult>;
  close(): Promise<void>;
}

const MOST_BODY_BYTES = 65_536;

/** The HTTP client is loaded when the first notice goes out: most daemons never send one. */
export function createPoster(userAgent: string): Poster {
  let loaded: Promise<Loaded> | undefined;

  async function send(
    url: Secret,
    headers: Readonly<Record<string, string>>,
    body: string,
    signal: AbortSignal,
  ): Promise<PostResult> {
    loaded ??= load();
    const { request, straight, proxied } = await loaded;
    const isHere = isLoopback(new URL(url.reveal()).hostname);
    const response = await request(url.reveal(), {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'user-agent': userAgent, ...headers },
      body,
      signal,
      dispatcher: isHere ? straight : proxied,
    });
    const retryAfter = response.headers['retry-after'];
    // The status says all; the rest is read only so that the connection can be used again.
    await response.body.dump({ limit: MOST_BODY_BYTES, signal }).catch(() => undefined);
    return {
      status: response.statusCode,
      retryAfter: typeof retryAfter === 'string' ? retryAfter : undefined,
    };
  }

  return {
    post: (url, headers, body, signal) =>
      send(url, headers, body, signal).catch((error: unknown) => ({ code: errorCode(error) })),
    async close() {
      // One that could not be made was told at the delivery.
      const made = await loaded?.catch(() => undefined);
      await Promise.all([made?.straight.destroy(), made?.proxied.destroy()]);
    },
  };
}

interface Loaded {
  readonly request: typeof import('undici').request;
  readonly straight: Dispatcher;
  /** Through the proxy that the environment names, if it names one; never to what stands on this machine. */
  readonly proxied: Dispatcher;
}

async function load(): Promise<Loaded> {
  const { Agent, EnvHttpProxyAgent, request } = await import('undici');
  const options = { pipelining: 1, keepAliveTimeout: 4000, keepAliveMaxTimeout: 30_000 };
  const isProxied = ['HTTP_PROXY', 'HTTPS_PROXY', 'http_proxy', 'https_proxy'].some(
    (name) => (process.env[name] ?? '') !== '',
  );
  return {
    request,
    straight: new Agent(options),
    proxied: isProxied ? new EnvHttpProxyAgent(options) : new Agent(options),
  };
}

/** The first code of an error, its parts and its causes. Messages may quote an address, so none is used. */
function errorCode(error: unknown, depth = 0): string {
  if (typeof error !== 'object' || error === null || depth > 4) return 'unknown';
  if ('code' in error && typeof error.code === 'string') return error.code;
  const parts: unknown[] = 'errors' in error && Array.isArray(error.errors) ? error.errors : [];
  const inner = 'cause' in error ? [...parts, error.cause] : parts;
  return inner.map((part) => errorCode(part, depth + 1)).find((code) => code !== 'unknown') ?? 'unknown';
}
