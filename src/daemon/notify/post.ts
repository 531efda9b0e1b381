// Sends one POST to a webhook. No redirect is followed, and only the status and Retry-After of the answer are used.
import type { Dispatcher } from 'undici';
import { isLoopback } from '../../core/loopback.ts';
import type { Secret } from '../../core/secret.ts';

/** `code`: why there is no answer. It contains nothing from the address. */
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

const MAX_BODY_BYTES = 65_536;

/** Loads the HTTP client with the first notification: many daemons send none. */
export function createPoster(userAgent: string): Poster {
  let loaded: Promise<Loaded> | undefined;

  async function send(
    url: Secret,
    headers: Readonly<Record<string, string>>,
    body: string,
    signal: AbortSignal,
  ): Promise<PostResult> {
    loaded ??= load();
    const { request, direct, proxied } = await loaded;
    const isHere = isLoopback(new URL(url.reveal()).hostname);
    const response = await request(url.reveal(), {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'user-agent': userAgent, ...headers },
      body,
      signal,
      dispatcher: isHere ? direct : proxied,
    });
    const retryAfter = response.headers['retry-after'];
    // The body is read only so that the connection can be used again.
    await response.body.dump({ limit: MAX_BODY_BYTES, signal }).catch(() => undefined);
    return {
      status: response.statusCode,
      retryAfter: typeof retryAfter === 'string' ? retryAfter : undefined,
    };
  }

  return {
    post: (url, headers, body, signal) =>
      send(url, headers, body, signal).catch((error: unknown) => ({ code: errorCode(error) })),
    async close() {
      // A failure to load was already reported by the delivery.
      const made = await loaded?.catch(() => undefined);
      await Promise.all([made?.direct.destroy(), made?.proxied.destroy()]);
    },
  };
}

interface Loaded {
  readonly request: typeof import('undici').request;
  readonly direct: Dispatcher;
  /** Through the proxy of the environment, if there is one; never for addresses of this machine. */
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
    direct: new Agent(options),
    proxied: isProxied ? new EnvHttpProxyAgent(options) : new Agent(options),
  };
}

/** The first code of an error, its parts and its causes. Messages are not used, because they may quote the address. */
function errorCode(error: unknown, depth = 0): string {
  if (typeof error !== 'object' || error === null || depth > 4) return 'unknown';
  if ('code' in error && typeof error.code === 'string') return error.code;
  const parts: unknown[] = 'errors' in error && Array.isArray(error.errors) ? error.errors : [];
  const inner = 'cause' in error ? [...parts, error.cause] : parts;
  return inner.map((part) => errorCode(part, depth + 1)).find((code) => code !== 'unknown') ?? 'unknown';
}
