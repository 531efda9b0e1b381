// Why an attempt to send a request failed, in words for the operator; whether it may be repeated, and whether it had an effect.
import { isRetryableStatus, LONGEST_WAIT_MS, parseRetryAfter, throttledMessage } from '../core/backoff.ts';
import { errorCode, ServiceError, type ServiceErrorKind } from '../core/errors.ts';
import { LARGEST_ANSWER_BYTES } from '../core/limits.ts';
import type { Secret } from '../core/secret.ts';
import type { NotConnected } from '../system/dispatchers.ts';
import { BODY_TOO_LARGE } from './body.ts';
import { isWebPage, serviceMessage } from './service-message.ts';

export type Method = 'GET' | 'POST' | 'DELETE';

export interface ResponseHead {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** A failed attempt: whether it may be repeated, and whether it certainly had no effect. */
export class FailedAttempt extends Error {
  override readonly name = 'FailedAttempt';
  readonly error: ServiceError;
  readonly reached: boolean;
  readonly again: boolean;
  /** Whether the caller's `mayStart` rejected the attempt. */
  readonly outdated: boolean;
  /** How many times the request was sent. */
  attempts = 0;

  constructor(error: ServiceError, options: { reached: boolean; again: boolean; outdated?: boolean }) {
    super(error.message);
    this.error = error;
    this.reached = options.reached;
    this.again = options.again;
    this.outdated = options.outdated ?? false;
  }
}

/** An attempt that was not sent, and that is not repeated. */
export function notSent(error: ServiceError, outdated = false): FailedAttempt {
  return new FailedAttempt(error, { reached: false, again: false, outdated });
}

/** `reached` is false only if the request certainly did not arrive; `lasting`: another attempt would fail the same way. */
function noResponse(message: string, reached: boolean, lasting = false): FailedAttempt {
  return new FailedAttempt(new ServiceError('unavailable', message), { reached, again: !lasting });
}

/** Failures of the DNS lookup. */
const UNRESOLVED = new Set(['ENOTFOUND', 'EAI_AGAIN']);

/** The timeouts of the HTTP library, which are set to that of the complete call. */
const TOO_SLOW = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT']);

const TLS_FAILURE = /^(CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|ERR_TLS_|ERR_SSL_|HOSTNAME_MISMATCH)/;

/** There is no complete response: the connection broke, or it took too long. `status`: that of the start of one. */
export function unanswered(
  error: unknown,
  { baseUrl, timeoutMs }: { readonly baseUrl: string; readonly timeoutMs: number },
  ended: { readonly timedOut: boolean; readonly killed: boolean; readonly status: number | undefined },
): FailedAttempt {
  const at = new URL(baseUrl).host;
  const code = errorCode(error);
  const { timedOut, status } = ended;
  if (ended.killed && !timedOut)
    return noResponse('the run was interrupted before the response arrived', true, true);
  if (timedOut || TOO_SLOW.has(code)) {
    const limit = `${timeoutMs / 1000} s (api.timeout)`;
    return noResponse(`no complete response from ${at} within ${limit}; run it again later`, true);
  }
  if (code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE' || code === BODY_TOO_LARGE) {
    const limit = `${LARGEST_ANSWER_BYTES / 1024 ** 2} MiB`;
    return noResponse(`the response of ${at} is larger than ${limit}, the limit of an answer`, true, true);
  }
  const tls = tlsFailure(at, code);
  if (tls !== undefined) return noResponse(tls, true, true);
  const when = status === undefined ? 'before a response arrived' : `during a response with status ${status}`;
  const broke = `the connection to ${at} broke ${when}${shownCode(code)}`;
  return noResponse(`${broke}; check the network and run it again`, true);
}

/** The failure of a request that was certainly not sent. */
export function notConnected(
  { message, cause, proxy }: NotConnected,
  { baseUrl, token }: { readonly baseUrl: string; readonly token: Secret },
): FailedAttempt {
  const at = new URL(baseUrl).host;
  const code = errorCode(cause);
  const tls = tlsFailure(proxy?.shown ?? at, code);
  if (tls !== undefined) return noResponse(tls, false, true);
  const check = `${UNRESOLVED.has(code) ? 'its name cannot be resolved; ' : ''}check`;
  if (proxy === undefined)
    return noResponse(
      `cannot connect to ${at}${shownCode(code)}; ${check} the base address and the network`,
      false,
    );
  const { status, words = [] } = proxy;
  const cleaned = words.flatMap((text) => serviceMessage(text, { token, aboutPeople: false }) ?? []);
  const quoted = cleaned.length === 0 ? '' : `: ${cleaned.join('; ')}`;
  const refusal = status === 407 ? 'write its user and password into that variable' : 'ask its operator';
  const advice = status === undefined ? `${check} that variable and the network` : refusal;
  const isLasting = status !== undefined && !isRetryableStatus(status);
  return noResponse(`cannot connect to ${at}: ${message}${quoted}; ${advice}`, false, isLasting);
}

/** Codes of the HTTP library are not shown; those of the system can be looked up. */
function shownCode(code: string): string {
  return code === 'unknown' || code.startsWith('UND_ERR_') ? '' : ` (${code})`;
}

function tlsFailure(at: string, code: string): string | undefined {
  if (!TLS_FAILURE.test(code)) return undefined;
  switch (code) {
    case 'CERT_HAS_EXPIRED':
      return `the TLS certificate of ${at} has expired (${code}); its operator must renew it`;
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
    case 'HOSTNAME_MISMATCH':
      return `the TLS certificate of ${at} is for another host name (${code}); check its address`;
    default:
      return code.startsWith('ERR_SSL_')
        ? `${at} did not complete the TLS handshake (${code}); check the base address, its port and the proxy`
        : `the TLS certificate of ${at} is not trusted (${code}); if its authority is your own, set api.caFile`;
  }
}

/** The failure for a response with another status than 2xx. */
export function refused(
  { method, path }: { readonly method: Method; readonly path: string },
  { status, headers }: ResponseHead,
  text: string,
  token: Pick<Secret, 'scrub' | 'problem'>,
): FailedAttempt {
  const header = headers['retry-after'];
  const retryAfterMs = parseRetryAfter(Array.isArray(header) ? header[0] : header, Date.now(), (date) =>
    Date.parse(date),
  );
  const isLong = retryAfterMs !== undefined && retryAfterMs > LONGEST_WAIT_MS;
  // A 401 is about the token, even if it requests a pause.
  const asksToWait = retryAfterMs !== undefined && status !== 401;
  // Of a 4xx other than 408, it is certain that it had no effect. Before a redirect, the service may have made the change.
  const isRejected = status >= 400 && status < 500 && status !== 408;
  const isThrottled = isLong || status === 429 || (isRejected && asksToWait);
  const again = asksToWait || isRetryableStatus(status);
  const kind = isThrottled ? 'throttled' : kindOf(status);
  const said = serviceMessage(text, { token, aboutPeople: path.endsWith('/resource') });
  const what = `the ${VERBS[method]} ${path.split('/')[4] ?? 'entry'}${method === 'GET' ? 's' : ''}`;
  const refusal = { method, status, kind, what, isPage: isWebPage(text), tokenProblem: token.problem };
  const quoted = said === undefined ? '' : `: ${said}`;
  const message = isLong
    ? `${throttledMessage(Date.now() + retryAfterMs)} (status ${status} for ${what}${quoted})`
    : describeRefusal(refusal, quoted);
  const error = new ServiceError(kind, message, { httpStatus: status, retryAfterMs });
  return new FailedAttempt(error, { reached: !isRejected, again });
}

function kindOf(status: number): ServiceErrorKind {
  if (status === 401 || status === 403) return 'auth';
  return status >= 500 || isRetryableStatus(status) ? 'unavailable' : 'rejected';
}

const VERBS = { GET: 'list of', POST: 'create of a', DELETE: 'delete of a' } as const;

interface Refusal {
  readonly method: Method;
  readonly status: number;
  readonly kind: ServiceErrorKind;
  /** What was refused: `the create of a skill`. */
  readonly what: string;
  readonly isPage: boolean;
  /** What is wrong with the token, as far as its text shows. */
  readonly tokenProblem: string | undefined;
}

/** `the service rejected the create of a skill (status 400): …; check the name in the account's file`. */
function describeRefusal(refusal: Refusal, quoted: string): string {
  const { status, kind, what, isPage, tokenProblem } = refusal;
  if (kind === 'auth' && (!isPage || tokenProblem !== undefined))
    return `the service rejected the token (status ${status}) for ${what}${quoted}; ${tokenProblem ?? "check the account's token reference"}`;
  const sentence =
    kind === 'rejected' && status >= 400 && !isPage
      ? `the service rejected ${what} (status ${status})${quoted}`
      : `${what} failed with status ${status}${quoted}`;
  const advice = adviceFor(refusal);
  return advice === null ? sentence : `${sentence}; ${advice}`;
}

/** What to do, if the status or the body shows it. */
function adviceFor({ method, status, kind, isPage }: Refusal): string | null {
  if (kind === 'throttled') return 'run it later, or lower api.requestsPerSecond';
  if (status >= 300 && status < 400) return 'redirects are not followed; check the base address';
  if (isPage)
    return 'the service sends no pages, so probably a proxy, a gateway or a firewall answered; check the base address, or ask its operator';
  if (kind === 'unavailable') return 'this is a failure of the service; run it again later';
  if (method === 'GET') return 'check the base address';
  if (method === 'POST' && (status === 400 || status === 422)) return "check the name in the account's file";
  return null;
}
