// Checks who sent a request: bearer tokens, those that a browser sent with the sign-in form to open a session, and names that
// a proxy reports.
import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import proxyAddr from 'proxy-addr';
import { SecretError } from '../../core/errors.ts';
import { globMatcher } from '../../core/names.ts';
import { HTTP_OPERATOR } from '../../core/operator.ts';
import type { Secret } from '../../core/secret.ts';
import type { HttpRole, HttpSettings, SecretRef, ServiceSettings } from '../../core/settings.ts';
import { sha256 } from '../../system/digest.ts';

/** A name and its role, in the log and on the pages. */
export interface TokenHolder {
  readonly name: string;
  readonly role: HttpRole;
}

export interface HttpToken extends TokenHolder {
  readonly token: Secret;
}

/** The longest name that a proxy may report. */
const MAX_NAME = 255;
/** A shorter token can be guessed by trying. */
const MIN_TOKEN_LENGTH = 16;

/** All tokens of the settings. Throws SecretError for one that is missing, too short, or used twice. */
export async function readTokens(
  { http }: Pick<ServiceSettings, 'http'>,
  resolveSecret: (ref: SecretRef, what: string) => Promise<Secret>,
): Promise<HttpToken[]> {
  const configured = [
    ...(http.token === undefined
      ? []
      : [{ name: HTTP_OPERATOR, role: 'operate' as const, token: http.token, what: 'http.token' }]),
    ...http.tokens.map((each) => ({ ...each, what: `the token ${each.name} of http.tokens` })),
  ];
  const tokens: HttpToken[] = [];
  for (const { name, role, token: ref, what } of configured) {
    const token = await resolveSecret(ref, what);
    if (token.reveal().length < MIN_TOKEN_LENGTH) {
      throw new SecretError(
        `${what} has fewer than ${MIN_TOKEN_LENGTH} characters and can be guessed; use a longer one, such as the output of \`openssl rand -hex 32\``,
      );
    }
    const other = tokens.find((each) => each.token.reveal() === token.reveal());
    if (other !== undefined) {
      throw new SecretError(`${what} is the same as the token ${other.name}; give each name its own token`);
    }
    tokens.push({ name, role, token });
  }
  return tokens;
}

/** The name that a trusted proxy reports of a request, with its role; null without one. */
export type ReadIdentity = (request: IncomingMessage) => TokenHolder | null;

type IdentitySettings = Pick<HttpSettings, 'trustedProxies' | 'identity'>;

/**
 * Only the peer of the connection is believed, and only one value without a comma: where a proxy adds its value to that of
 * the client, either could be meant.
 */
export function createIdentityReader({ trustedProxies, identity }: IdentitySettings): ReadIdentity {
  if (identity === undefined) return () => null;
  const isTrusted = proxyAddr.compile([...trustedProxies]);
  const operators = identity.operators.map(globMatcher);
  return ({ socket, headersDistinct }) => {
    const [text = '', ...others] = headersDistinct[identity.header.toLowerCase()] ?? [];
    // Node.js reads headers as Latin-1.
    const name = Buffer.from(text, 'latin1').toString().trim();
    const isOne = others.length === 0 && name !== '' && name.length <= MAX_NAME && !name.includes(',');
    if (!isOne || !isTrusted(socket.remoteAddress ?? '', 0)) return null;
    return { name, role: operators.some((matches) => matches(name)) ? 'operate' : 'read' };
  };
}

/** `throttled`: also wrong, and the address has sent too many wrong tokens in this minute. */
export type Verdict =
  | { readonly type: 'right'; readonly holder: TokenHolder }
  | { readonly type: 'wrong' }
  | { readonly type: 'throttled'; readonly waitMs: number };

export interface AccessOptions {
  readonly tokens: readonly HttpToken[];
  /** A clock that nobody can set. */
  readonly steadyMs: () => number;
  readonly onWrong: (address: string, verdict: Verdict['type']) => void;
}

const MINUTE_MS = 60_000;
const MAX_FAILURES = 10;
/** Wrong tokens of more addresses in a minute are not counted, so that they need no more memory. */
const MAX_ADDRESSES = 10_000;

/** A right token is never throttled: others behind the same address may have sent the wrong ones. */
export type JudgeToken = (given: string, address: string) => Verdict;

export function createTokenJudge({ tokens, steadyMs, onWrong }: AccessOptions): JudgeToken {
  const known = tokens.map(({ name, role, token }) => ({
    holder: { name, role },
    digest: Buffer.from(sha256(token.reveal())),
  }));
  /** How many wrong tokens each address has sent in the present minute. */
  const failures = new Map<string, number>();
  let endsMs = 0;

  function refuse(address: string): Verdict {
    const now = steadyMs();
    if (now >= endsMs) {
      failures.clear();
      endsMs = now + MINUTE_MS;
    }
    const count = failures.get(address) ?? 0;
    if (count >= MAX_FAILURES) return { type: 'throttled', waitMs: endsMs - now };
    if (count > 0 || failures.size < MAX_ADDRESSES) failures.set(address, count + 1);
    return { type: 'wrong' };
  }

  return (given, address) => {
    const digest = Buffer.from(sha256(given));
    // Compares the digests of all tokens, so that the time that this takes reveals nothing about any of them.
    const holder = known.filter((each) => timingSafeEqual(each.digest, digest))[0]?.holder;
    if (holder !== undefined) return { type: 'right', holder };
    const verdict = refuse(address);
    onWrong(address, verdict.type);
    return verdict;
  };
}
