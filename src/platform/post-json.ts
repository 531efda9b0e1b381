// Sends a request to another daemon, through the proxy of the environment.
import { ServiceError } from '../core/errors.ts';
import type { Secret } from '../core/secret.ts';
import { openDispatchers } from './dispatchers.ts';
import { request } from './undici.ts';

/** More than the plans of all the accounts that a daemon accepts. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

/**
 * Posts JSON with a bearer token; redirects are not followed. Rejects when no complete answer arrives in time. Throws
 * ServiceError when the proxy is not a valid URL or the answer is too large.
 */
export async function postJson(
  url: URL,
  token: Secret,
  body: string,
  timeoutMs: number,
): Promise<{ readonly status: number; readonly text: string }> {
  const dispatchers = openDispatchers({ headersTimeout: timeoutMs, bodyTimeout: timeoutMs });
  try {
    const response = await request(url, {
      method: 'POST',
      dispatcher: dispatchers.to(url),
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
          `the daemon at ${url.host} sent more than ${MAX_ANSWER_BYTES / 1024 / 1024} MiB, which is more than any plan; check the address`,
        );
      }
      chunks.push(chunk);
    }
    return { status: response.statusCode, text: Buffer.concat(chunks).toString('utf8') };
  } finally {
    await dispatchers.close();
  }
}
