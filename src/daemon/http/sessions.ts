// Browsers that have signed in. Kept in memory only: a restart signs everybody out.
import { randomBytes } from 'node:crypto';
import { sha256 } from '../../platform/digest.ts';
import type { TokenHolder } from './tokens.ts';

export const SESSION_LIFE_MS = 43_200_000;
/** When one more is opened, the oldest session ends. */
const MAX_SESSIONS = 1000;
/** A message that no page has shown by then is dropped: later it would look like news. */
const MESSAGE_LIFE_MS = 60_000;

/** The result of the last button of a session, for the next page of its account. */
export interface SessionMessages {
  leave(account: string, outcome: string): void;
  /** Returns each message once; undefined when there is none for the account. */
  take(account: string): string | undefined;
}

export interface Session {
  readonly holder: TokenHolder;
  readonly messages: SessionMessages;
}

export interface Sessions {
  /** The id of a new session: 256 random bits, for the cookie. */
  open(holder: TokenHolder): string;
  /** Undefined when the session does not exist or has expired. */
  find(id: string): Session | undefined;
  close(id: string): void;
}

/** Sessions of twelve hours, at most a thousand of them. */
export function createSessions(steadyMs: () => number): Sessions {
  // By digest, so that the time of a look-up reveals nothing about an id. All have the same lifetime, so the first is the
  // oldest.
  const sessions = new Map<string, { readonly session: Session; readonly endMs: number }>();

  return {
    open(holder) {
      const id = randomBytes(32).toString('base64url');
      const session = { holder, messages: createMessages(steadyMs) };
      sessions.set(sha256(id), { session, endMs: steadyMs() + SESSION_LIFE_MS });
      const [oldest] = sessions.keys();
      if (sessions.size > MAX_SESSIONS && oldest !== undefined) sessions.delete(oldest);
      return id;
    },
    find(id) {
      const known = sessions.get(sha256(id));
      return known !== undefined && steadyMs() < known.endMs ? known.session : undefined;
    },
    close(id) {
      sessions.delete(sha256(id));
    },
  };
}

function createMessages(steadyMs: () => number): SessionMessages {
  let last: { readonly account: string; readonly outcome: string; readonly endMs: number } | null = null;
  return {
    leave(account, outcome) {
      last = { account, outcome, endMs: steadyMs() + MESSAGE_LIFE_MS };
    },
    take(account) {
      if (last?.account !== account) return undefined;
      const { outcome, endMs } = last;
      last = null;
      return steadyMs() < endMs ? outcome : undefined;
    },
  };
}
