// Every refusal that is not about one account or run: its status, its stable code, and words that say the mend.
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { StoreError } from '../../core/errors.ts';

export interface Failure {
  readonly status: ContentfulStatusCode;
  /** Stable, for programs. */
  readonly code: string;
  /** What is wrong, and the mend. */
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>>;
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
  message: 'This was sent by a page of another site, and is refused.',
};

export const WRITING_OFF: Failure = {
  status: 403,
  code: 'writing_off',
  message:
    'Writing is off, because neither http.token nor http.tokens is set in the configuration of the service; set one, and restart.',
};

export const READ_ONLY: Failure = {
  status: 403,
  code: 'read_only',
  message:
    'This token has the role read: it may look and request plans. To change something, use a token with the role operate.',
};

export const WRONG_HOST: Failure = {
  status: 421,
  code: 'wrong_host',
  message:
    'Without a token in the configuration this server answers to a name of loopback only, such as 127.0.0.1.',
};

export const ODD_TARGET: Failure = {
  status: 400,
  code: 'bad_request',
  message: 'The address is malformed.',
};

export const NOT_FOUND: Failure = { status: 404, code: 'not_found', message: 'There is nothing here.' };

export const NO_ACCOUNT: Failure = {
  status: 404,
  code: 'not_found',
  message: 'There is no such account.',
};

export const NO_RUN: Failure = { status: 404, code: 'not_found', message: 'There is no such run.' };

/** The rest of the body is not read, so the connection is of no more use. */
export const TOO_LARGE: Failure = {
  status: 413,
  code: 'too_large',
  message: 'The body is too large.',
  headers: { connection: 'close' },
};

/** The body is not read, so the connection is of no more use. */
export const TOO_MANY_PLANS: Failure = {
  status: 503,
  code: 'busy',
  message: 'Too many posted plans wait already; try again in 10 s.',
  headers: { 'retry-after': '10', connection: 'close' },
};

export const TOO_MANY_LARGE_RUNS: Failure = {
  status: 503,
  code: 'busy',
  message: 'Too many large runs are being read; try again in 10 s.',
  headers: { 'retry-after': '10' },
};

export const INTERNAL: Failure = {
  status: 500,
  code: 'internal',
  message: 'The server failed; its log says how.',
};

/** A store that cannot be read; its own words say the mend. */
export function storeFailed({ message }: StoreError): Failure {
  return { ...INTERNAL, message };
}

/** For the page of a large run that could not be made. */
export function runNotShown(runId: string, reason: string): Failure {
  const message = `The run cannot be shown as a page: ${reason}. Read /api/v1/runs/${runId}, or run \`rolecall show ${runId}\`.`;
  return { ...INTERNAL, message };
}

export function badRequest(message: string): Failure {
  return { status: 400, code: 'bad_request', message };
}

/** For who has to wait. */
export function tooManyAttempts(waitMs: number): Failure {
  const seconds = Math.ceil(waitMs / 1000);
  return {
    status: 429,
    code: 'too_many_attempts',
    message: `There were too many wrong tokens; try again in ${seconds} s.`,
    headers: { 'retry-after': String(seconds) },
  };
}

export function methodNotAllowed(methods: readonly string[]): Failure {
  const allow = methods.join(', ');
  return {
    status: 405,
    code: 'method_not_allowed',
    message: `This takes ${allow}.`,
    headers: { allow },
  };
}
