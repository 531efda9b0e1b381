// Cookies that only this server can make. The browser sends them only to this server, and no script can read them.
import { deleteCookie, getSignedCookie, setSignedCookie } from 'hono/cookie';
import type { CookieOptions } from 'hono/utils/cookie';
import type { Secret } from '../../core/secret.ts';
import type { HttpContext } from './context.ts';
import { isHttps } from './request-site.ts';

export interface SignedCookie {
  /** The value that was written; undefined without a cookie, and for a value that another key signed, or none. */
  read(context: HttpContext): Promise<string | undefined>;
  /** The browser keeps it for `lifeMs`. The value must contain its own end, since a client can keep a cookie longer. */
  write(context: HttpContext, value: string, lifeMs: number): Promise<void>;
  remove(context: HttpContext): void;
}

/** Over https the name begins with `__Host-`, so that no other host of the same domain can set the cookie. */
export function signedCookie(name: string, key: Secret): SignedCookie {
  // The signature covers the value only. The name in the key keeps the value of one cookie from being valid in another.
  const ownKey = (): string => `${name} ${key.reveal()}`;
  return {
    async read(context) {
      const value = isHttps(context)
        ? await getSignedCookie(context, ownKey(), name, 'host')
        : await getSignedCookie(context, ownKey(), name);
      return value === false ? undefined : value;
    },
    async write(context, value, lifeMs) {
      const options = { ...optionsFor(context), maxAge: lifeMs / 1000 };
      await setSignedCookie(context, name, value, ownKey(), options);
    },
    remove(context) {
      deleteCookie(context, name, optionsFor(context));
    },
  };
}

function optionsFor(context: HttpContext): CookieOptions {
  const shared = { path: '/', httpOnly: true, sameSite: 'Strict' } as const;
  return isHttps(context) ? { ...shared, secure: true, prefix: 'host' } : shared;
}
