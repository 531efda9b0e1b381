// The cookie of a session. The browser sends it only to this server, and no script can read it.
import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import type { CookieOptions } from 'hono/utils/cookie';
import type { HttpContext } from './context.ts';
import { isHttps } from './request-site.ts';
import { SESSION_LIFE_MS } from './sessions.ts';

const NAME = 'rolecall_session';

/** Over https the name is `__Host-rolecall_session`, which no other host of the same domain can set. */
function options(context: HttpContext): CookieOptions {
  const shared = { path: '/', httpOnly: true, sameSite: 'Strict' } as const;
  return isHttps(context) ? { ...shared, secure: true, prefix: 'host' } : shared;
}

/** The id in the cookie of a request, unchecked. */
export function sessionOf(context: HttpContext): string | undefined {
  return isHttps(context) ? getCookie(context, NAME, 'host') : getCookie(context, NAME);
}

export function setSessionCookie(context: HttpContext, id: string): void {
  setCookie(context, NAME, id, { ...options(context), maxAge: SESSION_LIFE_MS / 1000 });
}

export function deleteSessionCookie(context: HttpContext): void {
  deleteCookie(context, NAME, options(context));
}
