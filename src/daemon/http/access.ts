// Checks tokens: bearer tokens, and those that a browser sent with the sign-in form to open a session.
import { timingSafeEqual } from 'node:crypto';
import { sha256 } from '../../platform/digest.ts';
import { createAttempts } from './attempts.ts';
import { createSessions, type Sessions, type SessionsOptions } from './sessions.ts';
import type { TokenHolder } from './tokens.ts';

/** `throttled`: also wrong, and the address has sent too many wrong tokens lately. */
export type Verdict =
  | { readonly type: 'right'; readonly holder: TokenHolder }
  | { readonly type: 'wrong' }
  | { readonly type: 'throttled'; readonly waitMs: number };

export interface Access {
  readonly sessions: Sessions;
  /** A right token is never throttled: others behind the same address may have sent the wrong ones. */
  judge(given: string, address: string): Verdict;
}

export interface AccessOptions extends SessionsOptions {
  /** A clock that nobody can set, for wrong tokens. */
  readonly steadyMs: () => number;
  readonly onWrong: (address: string, verdict: Verdict['type']) => void;
}

export function createAccess({ steadyMs, onWrong, ...options }: AccessOptions): Access {
  const known = options.tokens.map(({ name, role, token }) => ({
    holder: { name, role },
    digest: Buffer.from(sha256(token.reveal())),
  }));
  const attempts = createAttempts(steadyMs);

  /** Compares the digests of all tokens, so that the time that this takes reveals nothing about any of them. */
  function holderOf(given: string): TokenHolder | undefined {
    const digest = Buffer.from(sha256(given));
    return known.filter((each) => timingSafeEqual(each.digest, digest))[0]?.holder;
  }

  function refuse(address: string): Verdict {
    const waitMs = attempts.waitMs(address);
    if (waitMs > 0) return { type: 'throttled', waitMs };
    attempts.failed(address);
    return { type: 'wrong' };
  }

  return {
    sessions: createSessions(options),
    judge(given, address) {
      const holder = holderOf(given);
      if (holder !== undefined) return { type: 'right', holder };
      const verdict = refuse(address);
      onWrong(address, verdict.type);
      return verdict;
    },
  };
}
