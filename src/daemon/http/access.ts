// The token and what it opens: bearers, and sessions of browsers that gave it in the form (contract, section 7).
import { createHash, timingSafeEqual } from 'node:crypto';
import type { Secret } from '../../core/secret.ts';
import { createAttempts } from './attempts.ts';
import { createSessions, type Sessions } from './sessions.ts';

/** `throttled`: wrong, or not even looked at, and the address has to wait. */
export type Verdict =
  { readonly type: 'right' } | { readonly type: 'wrong' } | { readonly type: 'throttled'; waitMs: number };

export interface Access {
  readonly sessions: Sessions;
  /** A right token always opens; a wrong one counts, and over the limit it is `throttled`. */
  judgeBearer(given: string, address: string): Verdict;
  /** Over the limit nobody signs in, also not with the right token. */
  judgeSignIn(given: string, address: string): Verdict;
}

export function createAccess(token: Secret, nowMs: () => number): Access {
  const expected = sha256(token.reveal());
  const attempts = createAttempts(nowMs);

  /** Digests are of one length, so neither length nor content of the token shows in the time that this takes. */
  function fits(given: string): boolean {
    return timingSafeEqual(sha256(given), expected);
  }

  function judge(isRight: boolean, address: string): Verdict {
    if (isRight) return { type: 'right' };
    attempts.failed(address);
    return { type: 'wrong' };
  }

  return {
    sessions: createSessions(nowMs),
    judgeBearer(given, address) {
      const isRight = fits(given);
      const waitMs = attempts.waitMs(address);
      return !isRight && waitMs > 0 ? { type: 'throttled', waitMs } : judge(isRight, address);
    },
    judgeSignIn(given, address) {
      const waitMs = attempts.waitMs(address);
      return waitMs > 0 ? { type: 'throttled', waitMs } : judge(fits(given), address);
    },
  };
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
