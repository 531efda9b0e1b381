// A request to a daemon elsewhere, through the proxy that the environment names.
import type { Secret } from './core/secret.ts';
import { EnvHttpProxyAgent, request } from './service/undici.ts';

/** Sends JSON with a bearer token; redirects are not followed. Rejects when no whole answer came within the time. */
export async function postJson(
  url: URL,
  token: Secret,
  body: string,
  timeoutMs: number,
): Promise<{ readonly status: number; readonly text: string }> {
  const dispatcher = new EnvHttpProxyAgent({ headersTimeout: timeoutMs, bodyTimeout: timeoutMs });
  try {
    const response = await request(url, {
      method: 'POST',
      dispatcher,
      signal: AbortSignal.timeout(timeoutMs),
      headers: {
        authorization: `Bearer ${token.reveal()}`,
        'content-type': 'application/json',
        accept: 'application/json',
      },
      body,
    });
    return { status: response.statusCode, text: await response.body.text() };
  } finally {
    await dispatcher.destroy();
  }
}
