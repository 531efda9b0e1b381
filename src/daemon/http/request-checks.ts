// Facts about a request: whether every program reads its target in the same way, which page sent it, and whether by https.
import type { HttpContext } from './context.ts';

/** Much longer than any target of this server. */
const MAX_LENGTH = 8192;

/**
 * Whether the raw target is a path of this server in ASCII, with percent encodings of valid UTF-8. No segment may be one
 * that some programs read as a parent folder, a separator or an end, and others don't.
 */
export function isValidTarget(target: string): boolean {
  if (target.length > MAX_LENGTH || !/^\/[\x21-\x7e]*$/.test(target) || /[#\\]/.test(target)) return false;
  const queryAt = target.indexOf('?');
  const path = queryAt === -1 ? target : target.slice(0, queryAt);
  const query = queryAt === -1 ? '' : target.slice(queryAt + 1);
  return decoded(query) !== null && path.split('/').every(isValidSegment);
}

function isValidSegment(segment: string): boolean {
  const text = decoded(segment);
  return text !== null && text !== '.' && text !== '..' && !/[\p{Cc}/\\]/u.test(text);
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

const SEGMENT = String.raw`(?:[\w.~!'()*-]|%[0-9A-Fa-f]{2})+`;
const LOCAL_PATH = new RegExp(String.raw`^/(${SEGMENT}(/${SEGMENT})*)?(\?[A-Za-z0-9._~%&=+:,-]*)?$`);

/** The path, or `/` when it could lead to another server: with two slashes at its beginning, a backslash or a scheme. */
export function localPath(text: string): string {
  return text.length <= 2000 && LOCAL_PATH.test(text) && isValidTarget(text) ? text : '/';
}

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
