// Sends one POST to a webhook. No redirect is followed, and only the status and Retry-After of the answer are used.
import { ServiceError } from '../../core/errors.ts';
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
  let loaded: ReturnType<typeof loadClient> | undefined;

  async function send(
    url: Secret,
    headers: Readonly<Record<string, string>>,
    body: string,
    signal: AbortSignal,
  ): Promise<PostResult> {
    loaded ??= loadClient();
    const { request, dispatchers } = await loaded;
    const response = await request(url.reveal(), {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'user-agent': userAgent, ...headers },
      body,
      signal,
      dispatcher: dispatchers.to(url.reveal()),
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
      send(url, headers, body, signal).catch((error: unknown) => ({ code: firstCode(error) })),
    async close() {
      // A failure to load was already reported by the delivery.
      const client = await loaded?.catch(() => undefined);
      await client?.dispatchers.close();
    },
  };
}

async function loadClient() {
  const { openDispatchers, request } = await import('../../platform/dispatchers.ts');
  const options = { pipelining: 1, keepAliveTimeout: 4000, keepAliveMaxTimeout: 30_000 };
  return { request, dispatchers: openDispatchers(options) };
}

/** The first code of an error, its parts and its causes. Messages are not used, because they may quote the address. */
function firstCode(error: unknown, depth = 0): string {
  if (typeof error !== 'object' || error === null || depth > 4) return 'unknown';
  if (error instanceof ServiceError) return 'proxy_invalid';
  if ('code' in error && typeof error.code === 'string') return error.code;
  const parts: unknown[] = 'errors' in error && Array.isArray(error.errors) ? error.errors : [];
  const inner = 'cause' in error ? [...parts, error.cause] : parts;
  return inner.map((part) => firstCode(part, depth + 1)).find((code) => code !== 'unknown') ?? 'unknown';
}
