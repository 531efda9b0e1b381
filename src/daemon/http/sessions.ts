// Browsers that have signed in. The signed cookie contains the session, so that it is valid after a restart, too.
import { createHmac, randomBytes } from 'node:crypto';
import type { EndedSessions } from '../../core/ended-sessions.ts';
import type { Secret } from '../../core/secret.ts';
import type { HttpContext } from './context.ts';
import { signedCookie } from './signed-cookie.ts';
import type { HttpToken, TokenHolder } from './tokens.ts';

export const SESSION_LIFE_MS = 43_200_000;

export interface Session {
  readonly id: string;
  readonly holder: TokenHolder;
}

export interface Sessions {
  open(context: HttpContext, holder: TokenHolder): Promise<Session>;
  /** Undefined without a session, when it has expired or was ended, and when its token was changed or removed. */
  find(context: HttpContext): Promise<Session | undefined>;
  /** Removes the cookie. Every process refuses copies of it from then on. */
  end(context: HttpContext): Promise<void>;
}

export interface SessionsOptions {
  readonly tokens: readonly HttpToken[];
  readonly sessionKey: Secret;
  readonly endedSessions: EndedSessions;
  readonly nowMs: () => number;
}

/** Sessions of twelve hours. Each is bound to the token that it was opened with. */
export function createSessions({ tokens, sessionKey, endedSessions, nowMs }: SessionsOptions): Sessions {
  const cookie = signedCookie('rolecall_session', sessionKey);
  const known = new Map(
    tokens.map(({ name, role, token }) => [
      name,
      { holder: { name, role }, mark: markOf(token, sessionKey) },
    ]),
  );

  /** The session of a cookie that was signed for a present token and has not expired. */
  async function read(context: HttpContext): Promise<(Session & { readonly expiresMs: number }) | undefined> {
    const [name = '', mark, end, id = ''] = (await cookie.read(context))?.split(':') ?? [];
    const token = known.get(name);
    if (token === undefined || mark !== token.mark || nowMs() >= Number(end)) return undefined;
    return { id, holder: token.holder, expiresMs: Number(end) };
  }

  return {
    async open(context, holder) {
      const id = randomBytes(32).toString('base64url');
      const mark = known.get(holder.name)?.mark ?? '';
      const endMs = nowMs() + SESSION_LIFE_MS;
      await cookie.write(context, [holder.name, mark, endMs, id].join(':'), SESSION_LIFE_MS);
      return { id, holder };
    },
    async find(context) {
      const session = await read(context);
      if (session === undefined) return undefined;
      const { id, holder } = session;
      return (await endedSessions.hasEnded({ holder: holder.name, id })) ? undefined : { id, holder };
    },
    async end(context) {
      const session = await read(context);
      cookie.remove(context);
      if (session === undefined) return;
      const { id, holder, expiresMs } = session;
      await endedSessions.end({ holder: holder.name, id, expiresMs }, nowMs());
    },
  };
}

/** Differs for each token, and does not reveal it. */
function markOf(token: Secret, key: Secret): string {
  return createHmac('sha256', key.reveal()).update(token.reveal()).digest('base64url');
}
