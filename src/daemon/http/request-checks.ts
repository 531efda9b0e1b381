// Facts about a request: which page sent it, whether by https, and whether it leads to another server.
import type { HttpContext } from './context.ts';

/** Without an encoded slash, backslash or control character, which a proxy could decode. */
const SEGMENT = String.raw`(?:[\w.~!'()*-]|%(?![01]|2[Ff]|5[Cc])[0-9A-Fa-f]{2})+`;
const LOCAL_PATH = new RegExp(String.raw`^/(${SEGMENT}(/${SEGMENT})*)?(\?[A-Za-z0-9._~%&=+:,-]*)?$`);

/** The path, or `/` when it could lead to another server: with two slashes at its beginning, a backslash or a scheme. */
export function localPath(text: string): string {
  return text.length <= 2000 && LOCAL_PATH.test(text) ? text : '/';
}

/** `unknown`: no header names a page, so it may be a command or a very old browser. */
export type Site = 'same' | 'other' | 'unknown';

/** Whether the client used TLS, as the proxy in front of this server reports. */
export function isHttps(context: HttpContext): boolean {
  const forwarded = context.req.header('x-forwarded-proto') ?? '';
  return forwarded.split(',')[0]?.trim().toLowerCase() === 'https';
}

/**
 * Reads `Origin` and `Sec-Fetch-Site`, which a page cannot set. The site is another one as soon as one of them names
 * another site, or another host name of the same site. The check of hono refuses commands without these headers.
 */
export function siteOf(context: HttpContext): Site {
  const site = context.req.header('sec-fetch-site')?.toLowerCase();
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return 'other';
  const origin = context.req.header('origin')?.toLowerCase();
  if (origin === undefined) return site === 'same-origin' ? 'same' : 'unknown';
  // A page that hides its address sends `null`; only `Sec-Fetch-Site` shows whether it is ours.
  if (origin === 'null') return site === 'same-origin' ? 'same' : 'other';
  return isOwnOrigin(context, origin) ? 'same' : 'other';
}

/**
 * Proxies change and report the host in many ways, so with `http.publicUrl` only that address counts. Without it, a proxy may
 * accept https without reporting it, so https is accepted too. The reverse would accept plain http.
 */
function isOwnOrigin(context: HttpContext, origin: string): boolean {
  const { publicUrl } = context.get('page');
  if (publicUrl !== undefined) return new URL(publicUrl).origin === origin;
  const schemes = isHttps(context) ? ['https'] : ['http', 'https'];
  const hosts = ['host', 'x-forwarded-host'].map((name) => context.req.header(name)?.toLowerCase() ?? '');
  return hosts.some((host) => schemes.some((scheme) => origin === `${scheme}://${host}`));
}

/** Whether a `Host` header names this machine by a name that no other machine can have. */
export function isLoopbackHost(host: string): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d{1,5})?$/i.test(host);
}
