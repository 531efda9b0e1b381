// Makes one HTTP call to one account, with its token, a timeout and a size limit. Does not retry.
import type { Dispatcher } from 'undici';
import { ServiceError } from '../core/errors.ts';
import type { Secret } from '../core/secret.ts';
import type { ApiSettings } from '../core/settings.ts';
import { beginningOf, BODY_TOO_LARGE, CutOff, unpacked } from './body.ts';
import { startDeadline } from '../system/clock.ts';
import { request } from '../system/dispatchers.ts';

/** Only this much of a body is read, because messages are at its start. */
export const LONGEST_REFUSAL_BYTES = 65_536;

export type Method = 'GET' | 'POST' | 'DELETE';

export interface ResponseHead {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** A call, with the function that reads the body of a success. The transport passes on the errors of `read`. */
export interface Call<T> {
  /** Whether the run has sent the same request before, so that every attempt counts as a retry. */
  readonly isAgain?: boolean;
  readonly method: Method;
  readonly path: string;
  readonly body?: object;
  readonly read: (head: ResponseHead, body: AsyncIterable<Uint8Array>) => Promise<T>;
}

/** Any 2xx status is a success. For other statuses `text` is the start of the body, as far as it could be read. */
export type HttpResponse<T> =
  | (ResponseHead & { readonly type: 'success'; readonly content: T })
  | (ResponseHead & { readonly type: 'refusal'; readonly text: string });

/** There is no complete response. `reached` is false only if the request certainly did not arrive. */
export class NoResponse extends Error {
  override readonly name = 'NoResponse';
  readonly reached: boolean;
  /** Whether another attempt would fail the same way. */
  readonly lasting: boolean;

  constructor(message: string, options: { reached: boolean; lasting?: boolean; cause?: unknown }) {
    super(message, { cause: options.cause });
    this.reached = options.reached;
    this.lasting = options.lasting ?? false;
  }
}

export interface TransportOptions extends Pick<ApiSettings, 'timeoutMs' | 'maxResponseBytes'> {
  readonly baseUrl: string;
  readonly token: Secret;
  readonly userAgent: string;
  readonly dispatcher: Dispatcher;
  /** Aborts the call in flight. */
  readonly kill: AbortSignal;
}

export type Transport = <T>(call: Call<T>) => Promise<HttpResponse<T>>;

/** Failures to connect: the request certainly did not arrive. */
const NEVER_CONNECTED = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENETDOWN',
  'EADDRNOTAVAIL',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** Failures of the DNS lookup. */
const UNRESOLVED = new Set(['ENOTFOUND', 'EAI_AGAIN']);

/** The timeouts of the HTTP library, which are set to that of the complete call. */
const TOO_SLOW = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT']);

const TLS_FAILURE = /^(CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|ERR_TLS_|ERR_SSL_|HOSTNAME_MISMATCH)/;

/** Calls the base address of one account. Does not follow redirects, so the token is sent nowhere else. */
export function createTransport(options: TransportOptions): Transport {
  return async <T>({ method, path, body, read }: Call<T>): Promise<HttpResponse<T>> => {
    const deadline = startDeadline(options.timeoutMs, options.kill);
    let head: ResponseHead | undefined;
    try {
      const response = await request(options.baseUrl + path, {
        method,
        dispatcher: options.dispatcher,
        signal: deadline.signal,
        headers: {
          authorization: `Bearer ${options.token.reveal()}`,
          accept: 'application/json',
          'accept-encoding': 'gzip, br',
          'user-agent': options.userAgent,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const arrived = { status: response.statusCode, headers: response.headers };
      head = arrived;
      if (!isSuccess(arrived.status))
        return { ...arrived, type: 'refusal', text: await refusalText(response) };
      const content = await readBody(response, (chunks) => read(arrived, chunks));
      return { ...arrived, type: 'success', content };
    } catch (error) {
      if (error instanceof ServiceError && !isBrokenOff(error, head)) throw error;
      throw toNoResponse(error, options, deadline.isOver(), head?.status);
    } finally {
      deadline.release();
    }

    async function readBody<R>(
      response: Dispatcher.ResponseData,
      consume: (chunks: AsyncIterable<Uint8Array>) => Promise<R>,
    ): Promise<R> {
      // An error after the last read must not become an unhandled one.
      response.body.on('error', () => undefined);
      try {
        const encoding = response.headers['content-encoding'];
        return await consume(unpacked(response.body, encoding, options.maxResponseBytes));
      } finally {
        response.body.destroy();
      }
    }

    /** The text is only part of a message, so an unreadable body is not an error. */
    async function refusalText(response: Dispatcher.ResponseData): Promise<string> {
      return await readBody(response, (chunks) => beginningOf(chunks, LONGEST_REFUSAL_BYTES)).catch(() => '');
    }
  };
}

/**
 * Whether the connection may have broken: without framing headers, a broken connection looks like the end of a body.
 */
function isBrokenOff(error: ServiceError, head: ResponseHead | undefined): boolean {
  const isFramed = ['content-length', 'transfer-encoding'].some((name) => head?.headers[name] !== undefined);
  return !isFramed && error.cause instanceof CutOff;
}

function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

function toNoResponse(
  error: unknown,
  options: TransportOptions,
  timedOut: boolean,
  status: number | undefined,
): NoResponse {
  if (error instanceof NoResponse) return error;
  const at = new URL(options.baseUrl).host;
  const codes = errorCodes(error);
  // Codes of the HTTP library are not shown; those of the system can be looked up.
  const known = codes.find((each) => !each.startsWith('UND_ERR_'));
  const code = known === undefined ? '' : ` (${known})`;
  if (options.kill.aborted && !timedOut)
    return new NoResponse('the run was interrupted before the response arrived', {
      reached: true,
      lasting: true,
    });
  if (timedOut || codes.some((each) => TOO_SLOW.has(each))) {
    const limit = `${options.timeoutMs / 1000} s (api.timeout)`;
    return new NoResponse(`no complete response from ${at} within ${limit}; run it again later`, {
      reached: true,
    });
  }
  if (codes.includes('UND_ERR_RES_EXCEEDED_MAX_SIZE') || codes.includes(BODY_TOO_LARGE)) {
    return new NoResponse(
      `the response of ${at} is larger than api.maxResponseBytes (${options.maxResponseBytes} bytes); raise it if a list may be that large`,
      { reached: true, lasting: true },
    );
  }
  if (codes.some((each) => TLS_FAILURE.test(each))) {
    return new NoResponse(tlsFailure(at, known ?? ''), { reached: false, lasting: true });
  }
  if (codes.some((each) => NEVER_CONNECTED.has(each)) && beforeConnection(error)) {
    const advice = UNRESOLVED.has(known ?? '')
      ? 'its name cannot be resolved; check the base address and the DNS'
      : 'check the base address and the network';
    return new NoResponse(`cannot connect to ${at}${code}; ${advice}`, { reached: false });
  }
  const when = status === undefined ? 'before a response arrived' : `during a response with status ${status}`;
  return new NoResponse(`the connection to ${at} broke ${when}${code}; check the network and run it again`, {
    reached: true,
  });
}

function tlsFailure(at: string, code: string): string {
  switch (code) {
    case 'CERT_HAS_EXPIRED':
      return `the TLS certificate of ${at} has expired (${code}); the operator of the service must renew it`;
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
    case 'HOSTNAME_MISMATCH':
      return `the TLS certificate of ${at} is for another host name (${code}); check the base address`;
    default:
      return code.startsWith('ERR_SSL_')
        ? `${at} did not complete the TLS handshake (${code}); check the base address, its port and the proxy`
        : `the TLS certificate of ${at} is not trusted (${code}); if its authority is your own, set api.caFile`;
  }
}

/** Whether an error occurred during the connect. An established connection can fail with the same codes. */
function beforeConnection(error: unknown, depth = 0): boolean {
  if (typeof error !== 'object' || error === null || depth > 4) return false;
  if ('syscall' in error) return error.syscall === 'connect' || error.syscall === 'getaddrinfo';
  if ('code' in error && error.code === 'UND_ERR_CONNECT_TIMEOUT') return true;
  const parts: unknown[] = 'errors' in error && Array.isArray(error.errors) ? error.errors : [];
  const inner = 'cause' in error ? [...parts, error.cause] : parts;
  return inner.length > 0 && inner.every((part) => beforeConnection(part, depth + 1));
}

/** The codes of an error, its causes and its parts. Messages are not used, because they may quote the request. */
function errorCodes(error: unknown, depth = 0): string[] {
  if (typeof error !== 'object' || error === null || depth > 4) return [];
  const own = 'code' in error && typeof error.code === 'string' ? [error.code] : [];
  const parts = 'errors' in error && Array.isArray(error.errors) ? error.errors : [];
  const cause = 'cause' in error ? [error.cause] : [];
  return [...own, ...[...parts, ...cause].flatMap((part) => errorCodes(part, depth + 1))];
}
