// Browsers that have signed in. The signed cookie contains the session, so that it is valid on every process that uses the
// same store, and after a restart. No script can read it.
import { createHmac, randomBytes } from 'node:crypto';
import { deleteCookie, getSignedCookie, setSignedCookie } from 'hono/cookie';
import type { CookieOptions } from 'hono/utils/cookie';
import { Secret } from '../../core/secret.ts';
import type { HttpToken, TokenHolder } from './access.ts';
import type { HttpContext } from './context.ts';
import { isHttps } from './request-checks.ts';

export const SESSION_LIFE_MS = 43_200_000;
const COOKIE = 'rolecall_session';

export type Sessions = ReturnType<typeof createSessions>;

export interface SessionsOptions {
  readonly tokens: readonly HttpToken[];
  readonly sessionKey: () => Promise<Secret>;
  readonly nowMs: () => number;
}

/** The key in the store, which is made once and read when it is first needed. Rejects with StoreError. */
export function sessionKeyIn(settings: {
  valueOr(name: string, fresh: string): Promise<string>;
}): () => Promise<Secret> {
  let key: Secret | undefined;
  return async () =>
    (key ??= new Secret(await settings.valueOr('session_key', randomBytes(32).toString('base64url'))));
}

/** Sessions of twelve hours. Each is bound to the token that it was opened with. */
export function createSessions({ tokens, sessionKey, nowMs }: SessionsOptions) {
  return {
    async open(context: HttpContext, holder: TokenHolder): Promise<void> {
      const key = await sessionKey();
      const token = tokens.find(({ name }) => name === holder.name);
      const mark = token === undefined ? '' : markOf(token.token, key);
      const value = [holder.name, mark, nowMs() + SESSION_LIFE_MS].join(':');
      const options = { ...optionsFor(context), maxAge: SESSION_LIFE_MS / 1000 };
      await setSignedCookie(context, COOKIE, value, key.reveal(), options);
    },
    /** Undefined without a session, when it has expired, and when its token was changed or removed. */
    async find(context: HttpContext): Promise<TokenHolder | undefined> {
      const key = await sessionKey();
      const value = await getSignedCookie(context, key.reveal(), COOKIE, optionsFor(context).prefix);
      const [name = '', mark, end] = typeof value === 'string' ? value.split(':') : [];
      const token = tokens.find((each) => each.name === name);
      if (token === undefined || mark !== markOf(token.token, key) || nowMs() >= Number(end))
        return undefined;
      return { name, role: token.role };
    },
    /** Removes the cookie from the browser. A new key in the store, or a new token, ends copies of it too. */
    end(context: HttpContext): void {
      deleteCookie(context, COOKIE, optionsFor(context));
    },
  };
}

/**
 * Over https the name begins with `__Host-`, so that no other host of the same domain can set the cookie. Where other
 * programs share the host, browsers send it only below the path of this one, which that name does not allow.
 */
function optionsFor(context: HttpContext): CookieOptions {
  const { base } = context.get('page');
  const shared = { path: base || '/', httpOnly: true, sameSite: 'Lax' } as const;
  return isHttps(context) ? { ...shared, secure: true, prefix: base === '' ? 'host' : 'secure' } : shared;
}

/** Differs for each token, and does not reveal it. */
function markOf(token: Secret, key: Secret): string {
  return createHmac('sha256', key.reveal()).update(token.reveal()).digest('base64url');
}
