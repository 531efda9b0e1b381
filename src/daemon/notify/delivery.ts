// One attempt to deliver a notification: signs it, posts it, and returns an outcome in every case.
import type { DeliveryOutcome, QueuedMessage, QueuedNotice } from '../../core/ports/outbox.ts';
import { parseRetryAfter } from '../../core/backoff.ts';
import type { Clock } from '../../core/ports/clock.ts';
import { startDeadline } from '../../system/clock.ts';
import type { Links, NotifySettings } from '../../core/settings.ts';
import { renderNotices } from './formats.ts';
import type { NoticeMessage } from './message.ts';
import { type Destination, isStatusTarget, resolveDestination, type ResolveSecret } from './target.ts';
import { type CommitStatus, statusRequest } from './commit-status.ts';
import { createHmac } from 'node:crypto';
import type { Secret } from '../../core/secret.ts';
import { errorCode, ServiceError } from '../../core/errors.ts';

export interface Attempt {
  readonly outcome: DeliveryOutcome;
  /** Until when the receiver requested a pause, in epoch milliseconds; 0 when it did not. */
  readonly quietUntilMs: number;
}

export interface DeliveryOptions {
  readonly userAgent: string;
  readonly clock: Clock;
  readonly resolveSecret: ResolveSecret;
  readonly random: () => number;
  readonly commitsAt?: Links['commitsAt'];
}

/** `code`: why there is no answer. It contains nothing from the address. */
type PostResult =
  { readonly status: number; readonly retryAfter: string | undefined } | { readonly code: string };

/** The longest time of an attempt. */
export const TIMEOUT_MS = 10_000;
const GONE = 410;
/** Of a status, which would be refused again. */
const REFUSALS: readonly number[] = [400, 401, 403, 404, 409, 422];
const MAX_BODY_BYTES = 65_536;

/** Loads the HTTP client with the first notification: many daemons send none. */
export function createDelivery(options: DeliveryOptions) {
  const { userAgent, clock, resolveSecret, random, commitsAt } = options;
  let loaded: ReturnType<typeof loadClient> | undefined;

  async function send(message: QueuedMessage, settings: NotifySettings): Promise<PostResult> {
    const destination = await resolveDestination(settings, resolveSecret);
    if ('problem' in destination) return { code: destination.problem };
    const { url, headers, body } = requestOf(message, destination, settings);
    const deadline = startDeadline(TIMEOUT_MS, new AbortController().signal, clock);
    return await post(url, headers, body, deadline.signal)
      .catch((error: unknown) => ({ code: deadline.signal.aborted ? 'timeout' : reasonOf(error) }))
      .finally(() => deadline.release());
  }

  function requestOf([first, ...more]: QueuedMessage, to: Destination, settings: NotifySettings) {
    // Only composeMessage and nextStatus make bodies, so the shape is known.
    const read = (notice: QueuedNotice): unknown => JSON.parse(notice.body);
    if (first.type === 'status') return statusRequest(read(first) as CommitStatus, settings, to);
    const messages = [read(first), ...more.map(read)] as [NoticeMessage, ...NoticeMessage[]];
    const body = renderNotices(messages, { ...settings, commitsAt });
    return { url: to.url.reveal(), headers: webhookHeaders(first.id, clock.nowMs(), body, to.secret), body };
  }

  async function post(
    url: string,
    headers: Readonly<Record<string, string>>,
    body: string,
    signal: AbortSignal,
  ): Promise<PostResult> {
    loaded ??= loadClient();
    const { request, dispatchers } = await loaded;
    const response = await request(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'user-agent': userAgent, ...headers },
      body,
      signal,
      dispatcher: dispatchers.to(url),
    });
    const retryAfter = response.headers['retry-after'];
    // The body is read only so that the connection can be used again.
    await response.body.dump({ limit: MAX_BODY_BYTES, signal }).catch(() => undefined);
    return {
      status: response.statusCode,
      retryAfter: typeof retryAfter === 'string' ? retryAfter : undefined,
    };
  }

  function outcomeOf(result: PostResult, attempts: number, isStatus: boolean): Attempt {
    const nowMs = clock.nowMs();
    const status = 'status' in result ? result.status : null;
    if (status !== null && status >= 200 && status < 300)
      return { outcome: { type: 'delivered' }, quietUntilMs: 0 };
    const reason = 'status' in result ? `http_${result.status}` : result.code;
    const requestedMs = 'status' in result ? (parseRetryAfter(result.retryAfter, nowMs, Date.parse) ?? 0) : 0;
    const isRefused = isStatus && requestedMs === 0 && REFUSALS.includes(status ?? 0);
    const waitMs = status === GONE || isRefused ? null : retryWaitMs(attempts, random(), requestedMs);
    if (waitMs === null) return { outcome: { type: 'undelivered', reason }, quietUntilMs: 0 };
    return {
      outcome: { type: 'retry', atMs: nowMs + waitMs, reason },
      quietUntilMs: requestedMs === 0 ? 0 : nowMs + Math.min(requestedMs, MAX_RETRY_AFTER_MS),
    };
  }

  return {
    /** Never rejects. */
    async attempt(message: QueuedMessage, settings: NotifySettings): Promise<Attempt> {
      // An exception is a bug, such as a body of an unknown shape. It must not end the daemon.
      const result = await send(message, settings).catch(() => ({ code: 'internal' }));
      return outcomeOf(result, message[0].attempts + 1, isStatusTarget(settings));
    },
    /** Closes the connections; a later attempt opens new ones. */
    async close(): Promise<void> {
      // A failure to load was already reported by the delivery.
      const client = await loaded?.catch(() => undefined);
      loaded = undefined;
      await client?.dispatchers.close();
    },
  };
}

/** The waits after the first, the second … failed attempt. After the last wait one more attempt is made. */
const WAITS_MS = [1000, 4000, 16_000, 64_000, 256_000, 1_024_000] as const;

/** A longer Retry-After counts as this. */
export const MAX_RETRY_AFTER_MS = 3_600_000;

/**
 * The wait before the next attempt; null when no further attempt is made. It varies randomly by a fifth, so that
 * notifications that failed together are not sent again together. `random` is in [0, 1).
 */
export function retryWaitMs(attempts: number, random: number, retryAfterMs = 0): number | null {
  const waitMs = WAITS_MS[attempts - 1];
  if (waitMs === undefined) return null;
  return Math.max(Math.round(waitMs * (0.8 + 0.4 * random)), Math.min(retryAfterMs, MAX_RETRY_AFTER_MS));
}

const PREFIX = 'whsec_';

/**
 * `id` is the same at every attempt, so that receivers can detect repetitions; `timestampMs` is that of the attempt. With a
 * secret, the signature covers id, time and body.
 */
export function webhookHeaders(
  id: string,
  timestampMs: number,
  body: string,
  secret: Secret | null,
): Record<string, string> {
  const timestamp = String(Math.floor(timestampMs / 1000));
  const headers = { 'webhook-id': id, 'webhook-timestamp': timestamp };
  if (secret === null) return headers;
  const signature = createHmac('sha256', keyOf(secret)).update(`${id}.${timestamp}.${body}`).digest('base64');
  return { ...headers, 'webhook-signature': `v1,${signature}` };
}

/** The specification writes keys as base64 after a prefix. The bytes of any other text are the key. */
function keyOf(secret: Secret): Buffer {
  const text = secret.reveal();
  const encoded = text.startsWith(PREFIX) ? text.slice(PREFIX.length) : '';
  return /^[A-Za-z0-9+/]+={0,2}$/.test(encoded) ? Buffer.from(encoded, 'base64') : Buffer.from(text, 'utf8');
}

async function loadClient() {
  const { openDispatchers, request } = await import('../../system/dispatchers.ts');
  const options = { pipelining: 1, keepAliveTimeout: 4000, keepAliveMaxTimeout: 30_000 };
  return { request, dispatchers: openDispatchers(options) };
}

/** The message of an error is not used, because it may quote the address. */
function reasonOf(error: unknown): string {
  return error instanceof ServiceError ? 'proxy_invalid' : errorCode(error);
}
