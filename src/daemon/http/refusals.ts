// The refusals of the HTTP server: status, stable code, and a message with the fix.
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { StoreError } from '../../core/errors.ts';

export interface Failure {
  readonly status: ContentfulStatusCode;
  /** Stable, for programs. */
  readonly code: string;
  /** The heading of its page; by default the message. */
  readonly title?: string;
  /** The problem and the fix. */
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether its page is loaded again now and then. */
  readonly isTemporary?: boolean;
  /** Further fields of the JSON. */
  readonly more?: Readonly<Record<string, string>>;
}

export const UNAUTHORIZED: Failure = {
  status: 401,
  code: 'unauthorized',
  message: 'The bearer token is missing or wrong.',
  headers: { 'www-authenticate': 'Bearer realm="rolecall"' },
};

export const CROSS_SITE: Failure = {
  status: 403,
  code: 'cross_site',
  message: 'The request was refused, because a page of another site sent it.',
};

export const WRITING_OFF: Failure = {
  status: 403,
  code: 'writing_off',
  message:
    'Writing is off, because neither http.token nor http.tokens is set in the service file. Set one, then restart the daemon.',
};

export const READ_ONLY: Failure = {
  status: 403,
  code: 'read_only',
  message:
    'This token has the role read, which may read and request plans. To change something, use a token with the role operate.',
};

export const WRONG_HOST: Failure = {
  status: 421,
  code: 'wrong_host',
  message:
    'Without a configured token this server answers only to a loopback host such as 127.0.0.1. Use such an address, or set http.token.',
};

export const MALFORMED_TARGET: Failure = {
  status: 400,
  code: 'bad_request',
  message: 'The address is malformed.',
};

export const NOT_FOUND: Failure = { status: 404, code: 'not_found', message: 'This page does not exist.' };

export const NO_ACCOUNT: Failure = {
  status: 404,
  code: 'not_found',
  message: 'There is no such account.',
};

export const NO_RUN: Failure = { status: 404, code: 'not_found', message: 'There is no such run.' };

/** The rest of the body is not read, so the connection cannot be used again. */
export const TOO_LARGE: Failure = {
  status: 413,
  code: 'too_large',
  message: 'The body is too large.',
  headers: { connection: 'close' },
};

/** The body is not read, so the connection cannot be used again. */
export const TOO_MANY_PLANS: Failure = {
  status: 503,
  code: 'busy',
  message: 'Too many posted plans are waiting; try again in 10 s.',
  headers: { 'retry-after': '10', connection: 'close' },
};

export const TOO_MANY_REQUESTS: Failure = {
  status: 503,
  code: 'busy',
  message: 'Too many requests of this client wait for an answer; try again in 10 s.',
  headers: { 'retry-after': '10' },
};

export const INTERNAL: Failure = {
  status: 500,
  code: 'internal',
  message: 'The server failed; the daemon’s log contains the error (event http_failed).',
};

/** Outages that end without a change of this process. */
const OUTAGES: ReadonlySet<string> = new Set(['store_unavailable', 'store_busy', 'store_unopenable']);

/** A store that cannot be used. The message of the error contains the fix. `mayHaveActed`: the request changes something. */
export function storeFailed(error: StoreError, mayHaveActed: boolean): Failure {
  const { message } = error;
  if (!OUTAGES.has(error.code)) return { ...INTERNAL, message };
  return {
    status: 503,
    code: 'store_unavailable',
    title: 'The store is not available',
    message: mayHaveActed ? `${message}. ${UNKNOWN_EFFECT}` : message,
    headers: { 'retry-after': '5' },
    isTemporary: true,
  };
}

/** The connection may have broken after the change. */
const UNKNOWN_EFFECT =
  'It is not known whether the action was done: check that when the store is available again.';

/** For the page of a large run that could not be rendered. */
export function badRequest(message: string): Failure {
  return { status: 400, code: 'bad_request', message };
}

export function tooManyAttempts(waitMs: number): Failure {
  const seconds = Math.ceil(waitMs / 1000);
  return {
    status: 429,
    code: 'too_many_attempts',
    message: `Too many wrong tokens were sent from this address; try again in ${seconds} s.`,
    headers: { 'retry-after': String(seconds) },
  };
}

export function methodNotAllowed(methods: readonly string[]): Failure {
  const allow = methods.join(', ');
  return {
    status: 405,
    code: 'method_not_allowed',
    message: `The allowed methods are ${allow}.`,
    headers: { allow },
  };
}
