// Browsers that have signed in. Kept in memory only: a restart signs everybody out.
import { createHash, randomBytes } from 'node:crypto';
import type { TokenHolder } from './access.ts';

export const SESSION_LIFE_MS = 43_200_000;
/** Beyond it the oldest session ends. */
const MOST_SESSIONS = 1000;

export interface Sessions {
  /** The id of a new session: 256 random bits, for the cookie. */
  open(holder: TokenHolder): string;
  /** Whose token opened the session; undefined when there is none, or not any more. */
  holder(id: string): TokenHolder | undefined;
  close(id: string): void;
}

/** Sessions of twelve hours, at most a thousand of them. */
export function createSessions(steadyMs: () => number): Sessions {
  // By digest: how long a look-up takes then says nothing of an id. All live as long, so the first is the oldest.
  const sessions = new Map<string, { readonly holder: TokenHolder; readonly endMs: number }>();

  return {
    open(holder) {
      const id = randomBytes(32).toString('base64url');
      sessions.set(digest(id), { holder, endMs: steadyMs() + SESSION_LIFE_MS });
      const [oldest] = sessions.keys();
      if (sessions.size > MOST_SESSIONS && oldest !== undefined) sessions.delete(oldest);
      return id;
    },
    holder(id) {
      const session = sessions.get(digest(id));
      return session !== undefined && steadyMs() < session.endMs ? session.holder : undefined;
    },
    close(id) {
      sessions.delete(digest(id));
    },
  };
}

function digest(id: string): string {
  return createHash('sha256').update(id).digest('base64url');
}
