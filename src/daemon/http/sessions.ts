// Browsers that have signed in. Kept in memory only: a restart signs everybody out.
import { createHash, randomBytes } from 'node:crypto';

export const SESSION_LIFE_MS = 43_200_000;
/** Beyond it the oldest session ends. */
const MOST_SESSIONS = 1000;

export interface Sessions {
  /** The id of a new session: 256 random bits, for the cookie. */
  open(): string;
  has(id: string): boolean;
  close(id: string): void;
}

/** Sessions of twelve hours, at most a thousand of them. */
export function createSessions(nowMs: () => number): Sessions {
  // By digest: how long a look-up takes then says nothing of an id. All live as long, so the first is the oldest.
  const endsAtMs = new Map<string, number>();

  return {
    open() {
      const id = randomBytes(32).toString('base64url');
      endsAtMs.set(digest(id), nowMs() + SESSION_LIFE_MS);
      const [oldest] = endsAtMs.keys();
      if (endsAtMs.size > MOST_SESSIONS && oldest !== undefined) endsAtMs.delete(oldest);
      return id;
    },
    has(id) {
      const endMs = endsAtMs.get(digest(id));
      return endMs !== undefined && nowMs() < endMs;
    },
    close(id) {
      endsAtMs.delete(digest(id));
    },
  };
}

function digest(id: string): string {
  return createHash('sha256').update(id).digest('base64url');
}
