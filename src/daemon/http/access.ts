// The tokens and what each opens: bearers, and sessions of browsers that gave one in the form.
import { createHash, timingSafeEqual } from 'node:crypto';
import type { Secret } from '../../core/secret.ts';
import type { HttpRole } from '../../core/settings.ts';
import { createAttempts } from './attempts.ts';
import { createSessions, type Sessions } from './sessions.ts';

/** Whom a token stands for, in the log and on the pages. */
export interface TokenHolder {
  readonly name: string;
  readonly role: HttpRole;
}

export interface HttpToken extends TokenHolder {
  readonly token: Secret;
}

/** `throttled`: wrong as well, and the address has given too many wrong ones lately. */
export type Verdict =
  | { readonly type: 'right'; readonly holder: TokenHolder }
  | { readonly type: 'wrong' }
  | { readonly type: 'throttled'; readonly waitMs: number };

export interface Access {
  readonly sessions: Sessions;
  /** A right token always opens: others behind the same address may have given wrong ones. */
  judge(given: string, address: string): Verdict;
}

export interface AccessOptions {
  readonly tokens: readonly HttpToken[];
  /** A clock that nobody sets. */
  readonly steadyMs: () => number;
  readonly onWrong: (address: string, verdict: Verdict['type']) => void;
}

export function createAccess({ tokens, steadyMs, onWrong }: AccessOptions): Access {
  const known = tokens.map(({ name, role, token }) => ({
    holder: { name, role },
    digest: sha256(token.reveal()),
  }));
  const attempts = createAttempts(steadyMs);

  /** Every token is compared, by digests of one length: the time that this takes shows nothing of any of them. */
  function holderOf(given: string): TokenHolder | undefined {
    const digest = sha256(given);
    return known.filter((each) => timingSafeEqual(each.digest, digest))[0]?.holder;
  }

  function refuse(address: string): Verdict {
    const waitMs = attempts.waitMs(address);
    if (waitMs > 0) return { type: 'throttled', waitMs };
    attempts.failed(address);
    return { type: 'wrong' };
  }

  return {
    sessions: createSessions(steadyMs),
    judge(given, address) {
      const holder = holderOf(given);
      if (holder !== undefined) return { type: 'right', holder };
      const verdict = refuse(address);
      onWrong(address, verdict.type);
      return verdict;
    },
  };
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
