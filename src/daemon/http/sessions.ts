// Browsers that have signed in. The signed cookie contains the session, so that it is valid after a restart, too.
import { createHmac, randomBytes } from 'node:crypto';
import type { Secret } from '../../core/secret.ts';
import type { HttpContext } from './context.ts';
import { signedCookie } from './signed-cookie.ts';
import type { HttpToken, TokenHolder } from './tokens.ts';

export const SESSION_LIFE_MS = 43_200_000;
/** When one more is ended, the first of these may be used again by somebody who has kept a copy of its cookie. */
const MAX_ENDED = 10_000;

export interface Session {
  readonly id: string;
  readonly holder: TokenHolder;
}

export interface Sessions {
  open(context: HttpContext, holder: TokenHolder): Promise<Session>;
  /** Undefined without a session, when it has expired or was ended, and when its token was changed or removed. */
  find(context: HttpContext): Promise<Session | undefined>;
  /** Removes the cookie. This process refuses copies of it from then on. */
  end(context: HttpContext): Promise<void>;
}

export interface SessionsOptions {
  readonly tokens: readonly HttpToken[];
  readonly sessionKey: Secret;
  readonly nowMs: () => number;
}

/** Sessions of twelve hours. Each is bound to the token that it was opened with. */
export function createSessions({ tokens, sessionKey, nowMs }: SessionsOptions): Sessions {
  const cookie = signedCookie('rolecall_session', sessionKey);
  const known = new Map(
    tokens.map(({ name, role, token }) => [
      name,
      { holder: { name, role }, mark: markOf(token, sessionKey) },
    ]),
  );
  const ended = new Set<string>();

  async function find(context: HttpContext): Promise<Session | undefined> {
    const [name = '', mark, end, id = ''] = (await cookie.read(context))?.split(':') ?? [];
    const token = known.get(name);
    if (token === undefined || mark !== token.mark || ended.has(id)) return undefined;
    return nowMs() < Number(end) ? { id, holder: token.holder } : undefined;
  }

  return {
    async open(context, holder) {
      const id = randomBytes(32).toString('base64url');
      const mark = known.get(holder.name)?.mark ?? '';
      const endMs = nowMs() + SESSION_LIFE_MS;
      await cookie.write(context, [holder.name, mark, endMs, id].join(':'), SESSION_LIFE_MS);
      return { id, holder };
    },
    find,
    async end(context) {
      const session = await find(context);
      cookie.remove(context);
      if (session === undefined) return;
      ended.add(session.id);
      const [first] = ended;
      if (ended.size > MAX_ENDED && first !== undefined) ended.delete(first);
    },
  };
}

/** Differs for each token, and does not reveal it. */
function markOf(token: Secret, key: Secret): string {
  return createHmac('sha256', key.reveal()).update(token.reveal()).digest('base64url');
}
