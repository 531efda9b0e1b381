// A request to a daemon elsewhere, through the proxy that the environment names.
import type { Secret } from './core/secret.ts';
import { openRoutes } from './service/routes.ts';
import { request } from './service/undici.ts';

/** Sends JSON with a bearer token; redirects are not followed. Rejects when no whole answer came within the time, with ServiceError when the proxy is none. */
export async function postJson(
  url: URL,
  token: Secret,
  body: string,
  timeoutMs: number,
): Promise<{ readonly status: number; readonly text: string }> {
  const routes = openRoutes({ headersTimeout: timeoutMs, bodyTimeout: timeoutMs });
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
    return { status: response.statusCode, text: await response.body.text() };
  } finally {
    await routes.close();
  }
}
