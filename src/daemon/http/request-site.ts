// Where a request comes from: our own pages, somebody else's page, or something that is no page.
import type { HttpContext } from './context.ts';

/** `unknown`: nothing says that a page sent it, so it may be a command, or a very old browser. */
export type Site = 'same' | 'other' | 'unknown';

/** Whether the client reached us encrypted: by our own TLS, or as a proxy in front reports. */
export function isHttps(context: HttpContext): boolean {
  if ('encrypted' in context.env.incoming.socket) return true;
  const forwarded = context.req.header('x-forwarded-proto') ?? '';
  return forwarded.split(',')[0]?.trim().toLowerCase() === 'https';
}

/**
 * Reads `Origin` and `Sec-Fetch-Site`, neither of which a page can set for itself. As soon as one of them names
 * another site (also another name of the same site), it is another site.
 */
export function siteOf(context: HttpContext): Site {
  const site = context.req.header('sec-fetch-site')?.toLowerCase();
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return 'other';
  const origin = context.req.header('origin')?.toLowerCase();
  if (origin === undefined) return site === 'same-origin' ? 'same' : 'unknown';
  // What a page that keeps its address to itself sends; only the browser's own word can tell whether it is ours.
  if (origin === 'null') return site === 'same-origin' ? 'same' : 'other';
  return ownOrigins(context).has(origin) ? 'same' : 'other';
}

/**
 * A proxy may call us by another name than the browser does, and says so in `X-Forwarded-Host`; no page can set that.
 * One that takes https and does not say so is believed to have taken it; the reverse would let plain http in.
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
