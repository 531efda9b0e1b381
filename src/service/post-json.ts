// A request to a daemon elsewhere, through the proxy that the environment names.
import type { Secret } from '../core/secret.ts';
import { openDispatchers } from './dispatchers.ts';
import { request } from './undici.ts';
import { ServiceError } from '../core/errors.ts';

/** No plan of all the accounts that a daemon takes is larger. */
export const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

/**
 * Sends JSON with a bearer token; redirects are not followed. Rejects when no complete answer came within the time, with
 * ServiceError when the proxy is not a valid URL or the answer is too large.
 */
export async function postJson(
  url: URL,
  token: Secret,
  body: string,
  timeoutMs: number,
): Promise<{ readonly status: number; readonly text: string }> {
  const routes = openDispatchers({ headersTimeout: timeoutMs, bodyTimeout: timeoutMs });
  try {
    const response = await request(url, {
      method: 'POST',
      dispatcher: routes.to(url),
      signal: AbortSignal.timeout(timeoutMs),
      headers: {
        authorization: `Bearer ${token.reveal()}`,
        'content-type': 'application/json',
        accept: 'application/json',
      },
      body,
    });
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of response.body as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > MAX_ANSWER_BYTES) {
        throw new ServiceError(
          'malformed',
          `the daemon at ${url.host} sent more than ${MAX_ANSWER_BYTES / 1024 / 1024} MiB, which no answer of a daemon has`,
        );
      }
      chunks.push(chunk);
    }
    return { status: response.statusCode, text: Buffer.concat(chunks).toString('utf8') };
  } finally {
    await routes.close();
  }
}
