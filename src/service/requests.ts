// Sends requests with retries, at the rate of the account. This is the only layer that retries.
import pRetry from 'p-retry';
import {
  isRetryableStatus,
  LONGEST_WAIT_MS,
  parseRetryAfter,
  retryDelayMs,
  throttledError,
} from '../core/backoff.ts';
import { ServiceError, type ServiceErrorKind } from '../core/errors.ts';
import type { Secret } from '../core/secret.ts';
import type { MayStart, Traffic } from '../core/ports/service.ts';
import type { RequestObserver } from '../core/ports/progress.ts';
import { sleep } from '../system/clock.ts';
import type { Pace } from './pacing.ts';
import { describeRefusal, isWebPage, serviceMessage } from './service-message.ts';
import { type Call, type HttpResponse, NoResponse, type Transport } from './transport.ts';

type Success<T> = Extract<HttpResponse<T>, { type: 'success' }>;

export interface RequestOptions {
  readonly retries: number;
  readonly stop: AbortSignal;
  /** May abort `stop`. */
  readonly check?: (() => void) | undefined;
  readonly token: Pick<Secret, 'scrub' | 'problem'>;
  readonly observer: RequestObserver;
  /** The end of the pause that an earlier response requested; nothing is sent before. Epoch milliseconds. */
  readonly throttledUntilMs: number | null;
  /** Called when a response requests a longer pause than a run waits; epoch milliseconds. */
  readonly onThrottled: (untilMs: number) => void;
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

export interface Sent<T> {
  readonly content: T;
  readonly status: number;
  readonly attempts: number;
}

export interface Requests {
  /**
   * Sends the request until a response has a 2xx status, as long as `mayRepeat` allows it. `mayStart` is called
   * directly before each attempt. Rejects with the last FailedAttempt, or with the error of reading the body of a
   * success.
   */
  send<T>(
    call: Call<T>,
    mayRepeat: (failure: FailedAttempt) => boolean,
    mayStart?: MayStart,
  ): Promise<Sent<T>>;
  traffic(): Traffic;
}

export function createRequests(transport: Transport, pace: Pace, options: RequestOptions): Requests {
  let requests = 0;
  let retries = 0;
  let refusal: ServiceError | null = null;
  let { throttledUntilMs } = options;

  async function attempt<T>(call: Call<T>, onSend: () => void): Promise<Success<T>> {
    options.check?.();
    if (options.stop.aborted) throw notSent(new ServiceError('unavailable', STOPPED));
    // A rejected token stops the account immediately: waiting requests are not sent.
    if (refusal !== null) throw notSent(refusal);
    const pause = throttledError(throttledUntilMs, Date.now());
    if (pause !== null) throw notSent(pause);
    onSend();
    requests += 1;
    const startedAt = performance.now();
    let status: number | 'error' = 'error';
    let response: HttpResponse<T>;
    try {
      response = await transport({
        ...call,
        read(head, body) {
          ({ status } = head);
          return call.read(head, body);
        },
      });
      ({ status } = response);
    } catch (error) {
      if (!(error instanceof NoResponse)) throw error;
      status = 'error';
      const failure = new ServiceError('unavailable', error.message);
      throw new FailedAttempt(failure, { reached: error.reached, again: !error.lasting });
    } finally {
      options.observer.request({
        method: call.method,
        status,
        durationMs: performance.now() - startedAt,
      });
    }
    if (response.type === 'success') return response;
    const failure = refused(call, response, options.token);
    if (failure.error.kind === 'auth') refusal = failure.error;
    const untilMs = throttledUntil(failure.error);
    if (untilMs !== undefined) {
      throttledUntilMs = untilMs;
      options.onThrottled(untilMs);
    }
    throw failure;
  }

  return {
    async send<T>(
      call: Call<T>,
      mayRepeat: (failure: FailedAttempt) => boolean,
      mayStart: MayStart = () => true,
    ) {
      let attempts = 0;
      const onSend = (): void => {
        attempts += 1;
        if (attempts === 1) return;
        retries += 1;
        options.observer.retry();
      };
      const delayMs = ({ error }: FailedAttempt): number =>
        retryDelayMs(attempts, Math.random(), error.retryAfterMs);
      const repeats = (failure: FailedAttempt): boolean =>
        failure.again && (failure.error.retryAfterMs ?? 0) <= LONGEST_WAIT_MS && mayRepeat(failure);
      const paced = async (): Promise<Success<T>> => {
        try {
          if (!(await mayStart())) throw notSent(new ServiceError('unavailable', OUTDATED), true);
          return await attempt(call, onSend);
        } catch (error) {
          // A throttled account pauses all its calls from now on, not only this one.
          if (error instanceof FailedAttempt && repeats(error) && requestsWait(error)) {
            pace.pauseFor(delayMs(error));
          }
          throw error;
        }
      };
      try {
        const { content, status } = await pRetry(() => pace.run(paced, options.stop), {
          retries: options.retries,
          minTimeout: 0,
          shouldRetry: ({ error }) => error instanceof FailedAttempt && repeats(error),
          async onFailedAttempt({ error, retriesLeft }) {
            if (!(error instanceof FailedAttempt) || retriesLeft === 0 || !repeats(error)) return;
            if (!requestsWait(error)) await sleep(delayMs(error), options.stop);
          },
        });
        return { content, status, attempts };
      } catch (error) {
        if (error instanceof FailedAttempt) error.attempts = attempts;
        throw error;
      }
    },
    traffic: () => ({ requests, retries }),
  };
}

/** The ServiceError of a failed call. Throws any other error. */
export function serviceErrorOf(error: unknown): ServiceError {
  if (error instanceof FailedAttempt) return error.error;
  if (error instanceof ServiceError) return error;
  throw error;
}

/** When the service may be called again, if a run does not wait that long; epoch milliseconds. */
function throttledUntil({ kind, retryAfterMs = 0 }: ServiceError): number | undefined {
  return kind === 'throttled' && retryAfterMs > LONGEST_WAIT_MS ? Date.now() + retryAfterMs : undefined;
}

function requestsWait({ error }: FailedAttempt): boolean {
  return error.kind === 'throttled' || error.retryAfterMs !== undefined;
}

/** An attempt that was not sent, and that is not repeated. */
function notSent(error: ServiceError, outdated = false): FailedAttempt {
  return new FailedAttempt(error, { reached: false, again: false, outdated });
}

const STOPPED = 'not sent: the run was interrupted';
const OUTDATED = 'not sent: the data that this change is based on is outdated';

/** The failure for a response with another status than 2xx. */
function refused(
  { method, path }: Call<unknown>,
  response: Extract<HttpResponse<unknown>, { type: 'refusal' }>,
  token: RequestOptions['token'],
): FailedAttempt {
  const { status, text } = response;
  const header = response.headers['retry-after'];
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
  const message = describeRefusal(method, path, {
    status,
    kind,
    serviceMessage: serviceMessage(text, { token, aboutPeople: path.endsWith('/resource') }),
    isWebPage: isWebPage(text),
    tokenProblem: token.problem,
    untilMs: isLong ? Date.now() + retryAfterMs : undefined,
  });
  const error = new ServiceError(kind, message, { httpStatus: status, retryAfterMs });
  return new FailedAttempt(error, { reached: !isRejected, again });
}

function kindOf(status: number): ServiceErrorKind {
  if (status === 401 || status === 403) return 'auth';
  return status >= 500 || isRetryableStatus(status) ? 'unavailable' : 'rejected';
}
