// Sends the requests of one account in one run: each with its token, a time limit and a size limit, at the rate of the
// account, and again as long as its failure allows that. This is the only layer that retries.
import PQueue from 'p-queue';
import pRetry from 'p-retry';
import type { Dispatcher } from 'undici';
import { LONGEST_WAIT_MS, retryDelayMs, throttledError } from '../core/backoff.ts';
import { ServiceError } from '../core/errors.ts';
import { LARGEST_ANSWER_BYTES } from '../core/limits.ts';
import type { RunSignals } from '../core/ports/clock.ts';
import type { RequestObserver } from '../core/ports/progress.ts';
import type { MayStart, Traffic } from '../core/ports/service.ts';
import type { Secret } from '../core/secret.ts';
import type { ApiSettings } from '../core/settings.ts';
import { sleep, startDeadline } from '../system/clock.ts';
import { NotConnected, request } from '../system/dispatchers.ts';
import { beginningOf, CutOff, unpacked } from './body.ts';
import {
  FailedAttempt,
  type Method,
  notConnected,
  notSent,
  refused,
  type ResponseHead,
  unanswered,
} from './failures.ts';
import { LONGEST_REFUSAL_BYTES } from './service-message.ts';

/** A call, with the function that reads the body of a success. Its errors are passed on. */
export interface Call<T> {
  readonly method: Method;
  readonly path: string;
  readonly body?: object;
  readonly read: (head: ResponseHead, body: AsyncIterable<Uint8Array>) => Promise<T>;
}

/** Where the requests of an account go, and how. */
export interface Service {
  readonly baseUrl: string;
  readonly token: Secret;
  readonly userAgent: string;
  readonly timeoutMs: number;
  readonly retries: number;
  readonly dispatcher: Dispatcher;
  /** Shared by all runs of the account. */
  readonly pace: Pace;
  readonly observer: RequestObserver;
  readonly signals: RunSignals;
}

export interface Sent<T> {
  readonly content: T;
  readonly status: number;
  readonly attempts: number;
}

const STOPPED = 'not sent: the run was interrupted';
const OUTDATED = 'not sent: the data that this change is based on is outdated';

export class Requests {
  readonly token: Secret;
  private readonly service: Service;
  private requests = 0;
  private retries = 0;
  /** A rejected token stops the account immediately: waiting requests are not sent. */
  private refusal: ServiceError | null = null;

  constructor(service: Service) {
    this.service = service;
    this.token = service.token;
  }

  traffic(): Traffic {
    return { requests: this.requests, retries: this.retries };
  }

  /**
   * Sends the request until a response has a 2xx status, as long as `mayRepeat` allows it. `mayStart` is called
   * directly before each attempt. Rejects with the last FailedAttempt, or with the error of reading the body of a
   * success.
   */
  async send<T>(
    call: Call<T>,
    mayRepeat: (failure: FailedAttempt) => boolean,
    mayStart: MayStart = () => true,
  ): Promise<Sent<T>> {
    const { pace, retries, signals } = this.service;
    let attempts = 0;
    const delayMs = ({ error }: FailedAttempt): number =>
      retryDelayMs(attempts, Math.random(), error.retryAfterMs);
    const repeats = (failure: FailedAttempt): boolean =>
      failure.again && (failure.error.retryAfterMs ?? 0) <= LONGEST_WAIT_MS && mayRepeat(failure);
    const attempt = async (): Promise<Omit<Sent<T>, 'attempts'>> => {
      try {
        if (!(await mayStart())) throw notSent(new ServiceError('unavailable', OUTDATED), true);
        this.refuseToSend();
        attempts += 1;
        this.requests += 1;
        if (attempts > 1) this.retries += 1;
        return await this.observed(call, attempts > 1);
      } catch (error) {
        // A throttled account pauses all its calls from now on, not only this one.
        if (error instanceof FailedAttempt && repeats(error) && requestsWait(error)) {
          pace.pauseFor(delayMs(error));
        }
        throw error;
      }
    };
    try {
      const sent = await pRetry(() => pace.run(attempt, signals.stop), {
        retries,
        minTimeout: 0,
        shouldRetry: ({ error }) => error instanceof FailedAttempt && repeats(error),
        async onFailedAttempt({ error, retriesLeft }) {
          if (!(error instanceof FailedAttempt) || retriesLeft === 0 || !repeats(error)) return;
          if (!requestsWait(error)) await sleep(delayMs(error), signals.stop);
        },
      });
      return { ...sent, attempts };
    } catch (error) {
      if (error instanceof FailedAttempt) error.attempts = attempts;
      throw error;
    }
  }

  private refuseToSend(): void {
    const { signals, pace } = this.service;
    signals.check?.();
    if (signals.stop.aborted) throw notSent(new ServiceError('unavailable', STOPPED));
    if (this.refusal !== null) throw notSent(this.refusal);
    const pause = throttledError(pace.throttledUntilMs, Date.now());
    if (pause !== null) throw notSent(pause);
  }

  /** Makes the call once, and notes what it says about the calls after it. */
  private async observed<T>(call: Call<T>, isRetry: boolean): Promise<Omit<Sent<T>, 'attempts'>> {
    const { observer, pace } = this.service;
    const startedAt = performance.now();
    let status: number | 'error' = 'error';
    const read: Call<T>['read'] = (head, body) => {
      ({ status } = head);
      return call.read(head, body);
    };
    try {
      return await this.call({ ...call, read });
    } catch (failure) {
      if (!(failure instanceof FailedAttempt)) throw failure;
      const { kind, httpStatus = 'error', retryAfterMs = 0 } = failure.error;
      status = httpStatus;
      if (kind === 'auth') this.refusal = failure.error;
      // Longer than a run waits.
      if (kind === 'throttled' && retryAfterMs > LONGEST_WAIT_MS)
        pace.throttledUntilMs = Date.now() + retryAfterMs;
      throw failure;
    } finally {
      observer({ method: call.method, status, durationMs: performance.now() - startedAt, isRetry });
    }
  }

  /** Calls the base address of the account. Does not follow redirects, so the token is sent nowhere else. */
  private async call<T>({ method, path, body, read }: Call<T>): Promise<Omit<Sent<T>, 'attempts'>> {
    const { baseUrl, token, userAgent, timeoutMs, dispatcher, signals } = this.service;
    const deadline = startDeadline(timeoutMs, signals.kill);
    let head: ResponseHead | undefined;
    try {
      const response = await request(baseUrl + path, {
        method,
        dispatcher,
        signal: deadline.signal,
        headers: {
          authorization: `Bearer ${token.reveal()}`,
          accept: 'application/json',
          'accept-encoding': 'gzip, br',
          'user-agent': userAgent,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const { statusCode: status, headers } = response;
      const arrived = { status, headers };
      head = arrived;
      if (status >= 200 && status <= 299)
        return { content: await readBody(response, (chunks) => read(arrived, chunks)), status };
      // The text is only part of a message, so an unreadable body is not an error.
      const text = readBody(response, (chunks) => beginningOf(chunks, LONGEST_REFUSAL_BYTES)).catch(() => '');
      throw refused({ method, path }, arrived, await text, token);
    } catch (error) {
      if (error instanceof FailedAttempt) throw error;
      if (error instanceof ServiceError && !isBrokenOff(error, head)) throw error;
      if (error instanceof NotConnected) throw notConnected(error, this.service);
      const ended = { timedOut: deadline.isOver(), killed: signals.kill.aborted, status: head?.status };
      throw unanswered(error, this.service, ended);
    } finally {
      deadline.release();
    }
  }
}

async function readBody<R>(
  { body, headers }: Dispatcher.ResponseData,
  consume: (chunks: AsyncIterable<Uint8Array>) => Promise<R>,
): Promise<R> {
  // An error after the last read must not become an unhandled one.
  body.on('error', () => undefined);
  try {
    return await consume(unpacked(body, headers['content-encoding'], LARGEST_ANSWER_BYTES));
  } finally {
    body.destroy();
  }
}

/**
 * Whether the connection may have broken: without framing headers, a broken connection looks like the end of a body.
 */
function isBrokenOff(error: ServiceError, head: ResponseHead | undefined): boolean {
  const isFramed = ['content-length', 'transfer-encoding'].some((name) => head?.headers[name] !== undefined);
  return !isFramed && error.cause instanceof CutOff;
}

function requestsWait({ error }: FailedAttempt): boolean {
  return error.kind === 'throttled' || error.retryAfterMs !== undefined;
}

/** A little over a second, because clocks differ. */
const RATE_WINDOW_MS = 1020;

/** How soon to check again when running calls use the complete rate. */
const UNTIL_AN_ANSWER_MS = 5;

/**
 * Makes calls at the rate and the concurrency of an account; `host` is the queue that all accounts of one base address share.
 * A call counts from its start until a second after its end, because the time of its arrival is unknown.
 */
export class Pace {
  /** The end of a pause that is longer than a run waits, if a response requested one; epoch milliseconds. */
  throttledUntilMs: number | null = null;
  private readonly queue: PQueue;
  private readonly host: PQueue;
  private readonly requestsPerSecond: number;
  private readonly cooling: number[] = [];
  private underWay = 0;
  private pausedUntilMs = 0;

  constructor({ concurrency, requestsPerSecond }: ApiSettings, host: PQueue) {
    this.queue = new PQueue({ concurrency });
    this.host = host;
    this.requestsPerSecond = requestsPerSecond;
  }

  /**
   * Makes the call when the limits allow it. If `stop` aborts, waiting calls are made immediately and must end
   * themselves.
   */
  run<T>(call: () => Promise<T>, stop: AbortSignal): Promise<T> {
    return this.queue.add(async () => {
      for (;;) {
        // Waits for the account's own rate first, so that it does not use a slot of the host while it waits.
        while (this.waitMs() > 0 && !stop.aborted) await sleep(this.waitMs(), stop);
        const result = await this.host.add(() => this.tryCall(call, stop));
        if (result !== null) return result.value;
      }
    });
  }

  /** Delays every call that is not running yet by this time. */
  pauseFor(ms: number): void {
    this.pausedUntilMs = Math.max(this.pausedUntilMs, performance.now() + ms);
  }

  private waitMs(): number {
    const { cooling } = this;
    const nowMs = performance.now();
    while ((cooling[0] ?? Infinity) <= nowMs) cooling.shift();
    const hasRoom = this.underWay + cooling.length < this.requestsPerSecond;
    const rateMs = hasRoom ? 0 : (cooling[0] ?? nowMs + UNTIL_AN_ANSWER_MS) - nowMs;
    return Math.max(0, rateMs, this.pausedUntilMs - nowMs);
  }

  /** Makes the call if the rate still allows it after the wait in the host's queue; otherwise returns null. */
  private async tryCall<T>(call: () => Promise<T>, stop: AbortSignal): Promise<{ readonly value: T } | null> {
    if (!stop.aborted && this.waitMs() > 0) return null;
    this.underWay += 1;
    try {
      return { value: await call() };
    } finally {
      this.underWay -= 1;
      this.cooling.push(performance.now() + RATE_WINDOW_MS);
    }
  }
}
