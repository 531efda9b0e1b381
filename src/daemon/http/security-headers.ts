// The security headers of every answer.
import type { HttpContext, HttpMiddleware } from './context.ts';
import { isHttps } from './request-site.ts';

/**
 * Pages contain text, our own stylesheet, script and icon, and forms that send to this server; no frame, no font, and
 * nothing inline. The script reads from this server only.
 */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "style-src 'self'",
  "script-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join('; ');

export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': CONTENT_SECURITY_POLICY,
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
};

const NO_STORE = 'no-store';
const HSTS = 'max-age=31536000';

/** An answer without a `cache-control` of its own must not be cached. */
export function headersOf(context: HttpContext): Readonly<Record<string, string>> {
  return {
    'cache-control': NO_STORE,
    ...SECURITY_HEADERS,
    // Must not be sent over plain http.
    ...(isHttps(context) ? { 'strict-transport-security': HSTS } : {}),
  };
}

/** Adds the headers to every answer, including errors. */
export const withSecurityHeaders: HttpMiddleware = async (context, next) => {
  await next();
  const { headers } = context.res;
  for (const [name, value] of Object.entries(headersOf(context))) {
    if (name !== 'cache-control' || !headers.has(name)) headers.set(name, value);
  }
};
