// The refusals of the HTTP server: status, stable code, and a message with the fix.
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { StoreError } from '../../core/errors.ts';
import type { HttpContext } from './context.ts';

export interface Failure {
  readonly status: ContentfulStatusCode;
  /** Stable, for programs. */
  readonly code: string;
  /** The problem and the fix. */
  readonly message: string;
  /** The heading of its page; by default the message. */
  readonly title?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether its page is loaded again now and then. */
  readonly isTemporary?: boolean;
  /** Further fields of the JSON. */
  readonly more?: Readonly<Record<string, string>>;
}

export function failure(
  status: ContentfulStatusCode,
  code: string,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): Failure {
  return { status, code, message, headers };
}

export function badRequest(message: string): Failure {
  return failure(400, 'bad_request', message);
}

export function tooManyAttempts(waitMs: number): Failure {
  const seconds = String(Math.ceil(waitMs / 1000));
  const message = `Too many wrong tokens were sent from this address; try again in ${seconds} s.`;
  return failure(429, 'too_many_attempts', message, { 'retry-after': seconds });
}

export const NOT_FOUND = failure(404, 'not_found', 'This page does not exist.');
export const NO_ACCOUNT = failure(404, 'not_found', 'There is no such account.');
export const NO_RUN = failure(404, 'not_found', 'There is no such run.');

const BEARER_REALM = { 'www-authenticate': 'Bearer realm="rolecall"' };
export const UNAUTHORIZED = failure(
  401,
  'unauthorized',
  'The bearer token is missing or wrong.',
  BEARER_REALM,
);
export const WRONG_TOKEN = failure(401, 'unauthorized', 'The token is wrong.', BEARER_REALM);

/** Names the addresses that were compared, since each can be the wrong one. */
export function crossSite({ req, var: { page } }: HttpContext): Failure {
  const origin = req.header('origin')?.slice(0, 200) ?? 'missing';
  const compared = `its Origin is ${origin}, its Host is ${req.header('host')}, and http.publicUrl is ${page.publicUrl ?? 'not set'}`;
  const message = `The request was refused, because a page of another site sent it: ${compared}. Set http.publicUrl to the address at which people open the pages, and open them there.`;
  return { ...failure(403, 'cross_site', message), title: 'Sent by another site' };
}

export const WRITING_OFF: Failure = {
  status: 403,
  code: 'writing_off',
  title: 'Buttons are off',
  message:
    'Nothing can be changed over HTTP, because neither http.token nor http.tokens is set in the service file. Set one, then restart the daemon.',
};

export const READ_ONLY = failure(
  403,
  'read_only',
  'You have the role read, which may read and request plans. To change something, use a token with the role operate, or a name that http.operators matches.',
);

export const WRONG_HOST = failure(
  421,
  'wrong_host',
  'Without a configured token this server answers only to a loopback host such as 127.0.0.1. Use such an address, or set http.token.',
);

export const NOT_JSON = failure(415, 'not_json', 'Send each POST with `Content-Type: application/json`.');

/** The rest of the body is not read, so the connection cannot be used again. */
const CLOSED = { connection: 'close' };

export function tooLarge(maxBytes: number): Failure {
  return failure(413, 'too_large', `The body has more than ${maxBytes / 1024} KiB.`, CLOSED);
}

export const SIGN_IN_TOO_SLOW = failure(408, 'too_slow', 'The sign-in took too long; try again.', CLOSED);

function busy(problem: string): Failure {
  return failure(503, 'busy', `${problem}; try again in 10 s.`, { 'retry-after': '10' });
}

export const TOO_MANY_PLANS = busy('Too many posted plans are waiting');
export const TOO_MANY_SIGN_INS = busy('Too many sign-ins are open');

export const INTERNAL = failure(
  500,
  'internal',
  'The server failed; the daemon’s log contains the error (event http_failed).',
);

/** Outages that end without a change of this process. */
const OUTAGES: ReadonlySet<string> = new Set(['store_unavailable', 'store_busy', 'store_unopenable']);

/** The connection may have broken after the change. */
const UNKNOWN_EFFECT =
  'It is not known whether the action was done: check that when the store is available again.';

/** A store that cannot be used. The message of the error contains the fix. `mayHaveActed`: the request changes something. */
export function storeFailed(error: StoreError, mayHaveActed: boolean): Failure {
  const { message } = error;
  if (!OUTAGES.has(error.code)) return { ...INTERNAL, message };
  const complete = mayHaveActed ? `${message}. ${UNKNOWN_EFFECT}` : message;
  return {
    ...failure(503, 'store_unavailable', complete, { 'retry-after': '5' }),
    title: 'The store is not available',
    isTemporary: true,
  };
}
