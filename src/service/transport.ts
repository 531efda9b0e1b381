// Makes one HTTP call to one account, with its token, a timeout and a size limit. Does not retry.
import type { Dispatcher } from 'undici';
import { isRetryableStatus } from '../core/backoff.ts';
import { errorCode, ServiceError } from '../core/errors.ts';
import type { Secret } from '../core/secret.ts';
import type { ApiSettings } from '../core/settings.ts';
import { LARGEST_ANSWER_BYTES } from '../core/limits.ts';
import { beginningOf, BODY_TOO_LARGE, CutOff, unpacked } from './body.ts';
import { startDeadline } from '../system/clock.ts';
import { NotConnected, request } from '../system/dispatchers.ts';
import { LONGEST_REFUSAL_BYTES, type Method, serviceMessage } from './service-message.ts';

export interface ResponseHead {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** A call, with the function that reads the body of a success. The transport passes on the errors of `read`. */
export interface Call<T> {
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

  constructor(message: string, reached: boolean, lasting = false) {
    super(message);
    this.reached = reached;
    this.lasting = lasting;
  }
}

export interface TransportOptions extends Pick<ApiSettings, 'timeoutMs'> {
  readonly baseUrl: string;
  readonly token: Secret;
  readonly userAgent: string;
  readonly dispatcher: Dispatcher;
  /** Aborts the call in flight. */
  readonly kill: AbortSignal;
}

export type Transport = <T>(call: Call<T>) => Promise<HttpResponse<T>>;

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
      if (arrived.status < 200 || arrived.status > 299)
        return { ...arrived, type: 'refusal', text: await refusalText(response) };
      const content = await readBody(response, (chunks) => read(arrived, chunks));
      return { ...arrived, type: 'success', content };
    } catch (error) {
      if (error instanceof ServiceError && !isBrokenOff(error, head)) throw error;
      if (error instanceof NotConnected) throw notConnected(error, options);
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
        return await consume(unpacked(response.body, encoding, LARGEST_ANSWER_BYTES));
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

function toNoResponse(
  error: unknown,
  options: TransportOptions,
  timedOut: boolean,
  status: number | undefined,
): NoResponse {
  if (error instanceof NoResponse) return error;
  const at = new URL(options.baseUrl).host;
  const code = errorCode(error);
  if (options.kill.aborted && !timedOut)
    return new NoResponse('the run was interrupted before the response arrived', true, true);
  if (timedOut || TOO_SLOW.has(code)) {
    const limit = `${options.timeoutMs / 1000} s (api.timeout)`;
    return new NoResponse(`no complete response from ${at} within ${limit}; run it again later`, true);
  }
  if (code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE' || code === BODY_TOO_LARGE) {
    const limit = `${LARGEST_ANSWER_BYTES / 1024 ** 2} MiB`;
    return new NoResponse(
      `the response of ${at} is larger than ${limit}, the limit of an answer`,
      true,
      true,
    );
  }
  const tls = tlsFailure(at, code);
  if (tls !== undefined) return new NoResponse(tls, true, true);
  const when = status === undefined ? 'before a response arrived' : `during a response with status ${status}`;
  const broke = `the connection to ${at} broke ${when}${shownCode(code)}`;
  return new NoResponse(`${broke}; check the network and run it again`, true);
}

/** The failure of a request that was certainly not sent. */
function notConnected({ message, cause, proxy }: NotConnected, options: TransportOptions): NoResponse {
  const at = new URL(options.baseUrl).host;
  const code = errorCode(cause);
  const tls = tlsFailure(proxy?.shown ?? at, code);
  if (tls !== undefined) return new NoResponse(tls, false, true);
  const check = `${UNRESOLVED.has(code) ? 'its name cannot be resolved; ' : ''}check`;
  if (proxy === undefined)
    return new NoResponse(
      `cannot connect to ${at}${shownCode(code)}; ${check} the base address and the network`,
      false,
    );
  const { status, words = [] } = proxy;
  const messageOptions = { token: options.token, aboutPeople: false };
  const cleaned = words.flatMap((text) => serviceMessage(text, messageOptions) ?? []);
  const quoted = cleaned.length === 0 ? '' : `: ${cleaned.join('; ')}`;
  const refusal = status === 407 ? 'write its user and password into that variable' : 'ask its operator';
  const advice = status === undefined ? `${check} that variable and the network` : refusal;
  const isLasting = status !== undefined && !isRetryableStatus(status);
  return new NoResponse(`cannot connect to ${at}: ${message}${quoted}; ${advice}`, false, isLasting);
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
