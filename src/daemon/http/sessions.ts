// Browsers that have signed in. Kept in memory only: a restart signs everybody out.
import { randomBytes } from 'node:crypto';
import { sha256 } from '../../platform/digest.ts';
import type { TokenHolder } from './tokens.ts';

export const SESSION_LIFE_MS = 43_200_000;
/** When one more is opened, the oldest session ends. */
const MAX_SESSIONS = 1000;

export interface Sessions {
  /** The id of a new session: 256 random bits, for the cookie. */
  open(holder: TokenHolder): string;
  /** The holder of the token that opened the session; undefined when the session does not exist or has expired. */
  holder(id: string): TokenHolder | undefined;
  close(id: string): void;
}

/** Sessions of twelve hours, at most a thousand of them. */
export function createSessions(steadyMs: () => number): Sessions {
  // By digest, so that the time of a look-up reveals nothing about an id. All have the same lifetime, so the first is the
  // oldest.
  const sessions = new Map<string, { readonly holder: TokenHolder; readonly endMs: number }>();

  return {
    open(holder) {
      const id = randomBytes(32).toString('base64url');
      sessions.set(sha256(id), { holder, endMs: steadyMs() + SESSION_LIFE_MS });
      const [oldest] = sessions.keys();
      if (sessions.size > MAX_SESSIONS && oldest !== undefined) sessions.delete(oldest);
      return id;
    },
    holder(id) {
      const session = sessions.get(sha256(id));
      return session !== undefined && steadyMs() < session.endMs ? session.holder : undefined;
    },
    close(id) {
      sessions.delete(sha256(id));
    },
  };
}
