// Decides where a request comes from: a page of this server, a page of another site, or no page.
import type { HttpContext } from './context.ts';

/** `unknown`: no header names a page, so it may be a command or a very old browser. */
export type Site = 'same' | 'other' | 'unknown';

/** Whether the client used TLS: with this server, or as the proxy in front of it reports. */
export function isHttps(context: HttpContext): boolean {
  if ('encrypted' in context.env.incoming.socket) return true;
  const forwarded = context.req.header('x-forwarded-proto') ?? '';
  return forwarded.split(',')[0]?.trim().toLowerCase() === 'https';
}

/**
 * Reads `Origin` and `Sec-Fetch-Site`, which a page cannot set. The site is another one as soon as one of them names
 * another site, or another host name of the same site.
 */
export function siteOf(context: HttpContext): Site {
  const site = context.req.header('sec-fetch-site')?.toLowerCase();
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return 'other';
  const origin = context.req.header('origin')?.toLowerCase();
  if (origin === undefined) return site === 'same-origin' ? 'same' : 'unknown';
  // A page that hides its address sends `null`; only `Sec-Fetch-Site` shows whether it is ours.
  if (origin === 'null') return site === 'same-origin' ? 'same' : 'other';
  return ownOrigins(context).has(origin) ? 'same' : 'other';
}

/**
 * A proxy may use another host name than the browser, and reports that in `X-Forwarded-Host`, which no page can set. The
 * proxy may accept https without reporting it, so https is accepted too. The reverse would accept plain http.
 */
function ownOrigins(context: HttpContext): ReadonlySet<string> {
  const hosts = [context.req.header('host'), context.req.header('x-forwarded-host')].flatMap((host) =>
    host === undefined || host === '' ? [] : [host.toLowerCase()],
  );
  const schemes = isHttps(context) ? ['https'] : ['http', 'https'];
  return new Set(schemes.flatMap((scheme) => hosts.map((host) => `${scheme}://${host}`)));
}

/** Whether a `Host` header names this machine by a name that no other machine can have. */
export function isLoopbackHost(host: string): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d{1,5})?$/i.test(host);
}
