// One attempt to deliver a notification: from the row of the outbox to an outcome, in every case.
import type { DeliveryOutcome, QueuedNotice } from '../../core/outbox.ts';
import { parseRetryAfter } from '../../core/backoff.ts';
import type { Clock } from '../../core/ports.ts';
import type { NotifySettings } from '../../core/settings.ts';
import { renderNotice } from './formats.ts';
import type { NoticeMessage } from './message.ts';
import type { Poster, PostResult } from './post.ts';
import { MAX_RETRY_AFTER_MS, retryWaitMs } from './retry-plan.ts';
import type { ResolveSecret } from './target.ts';
import { resolveDestination } from './target.ts';
import { webhookHeaders } from './webhook.ts';

export interface Attempt {
  readonly outcome: DeliveryOutcome;
  /** Until when the receiver requested a pause, in epoch milliseconds; 0 when it did not. */
  readonly quietUntilMs: number;
}

/** Resolves with null when `kill` ended it. Never rejects. */
export type Delivery = (
  notice: QueuedNotice,
  settings: NotifySettings,
  kill: AbortSignal,
) => Promise<Attempt | null>;

export interface DeliveryOptions {
  readonly poster: Poster;
  readonly clock: Clock;
  readonly resolveSecret: ResolveSecret;
  readonly random: () => number;
}

const TIMEOUT_MS = 10_000;
const GONE = 410;

export function createDelivery({ poster, clock, resolveSecret, random }: DeliveryOptions): Delivery {
  return async (notice, settings, kill) => {
    // An exception is a bug, such as a body of an unknown shape. It must not end the daemon.
    const result = await send(notice, settings, kill).catch(() => ({ code: 'internal' }));
    if (kill.aborted) return null;
    return outcomeOf(result, notice.attempts + 1);
  };

  async function send(
    notice: QueuedNotice,
    settings: NotifySettings,
    kill: AbortSignal,
  ): Promise<PostResult | { readonly code: string }> {
    const destination = await resolveDestination(settings, resolveSecret);
    if ('problem' in destination) return { code: destination.problem };
    // Only composeMessage writes bodies, so the shape is known.
    const body = renderNotice(JSON.parse(notice.body) as NoticeMessage, settings.format);
    const headers = webhookHeaders(notice.id, clock.nowMs(), body, destination.secret);
    return await withinTime((signal) => poster.post(destination.url, headers, body, signal), kill);
  }

  /** Limits the complete call, including the reading of its answer, by the injected clock. */
  async function withinTime(
    call: (signal: AbortSignal) => Promise<PostResult>,
    kill: AbortSignal,
  ): Promise<PostResult> {
    // Not AbortSignal.any, which up to Node.js 22 leaks memory on `kill` at each call.
    const ending = new AbortController();
    const done = new AbortController();
    const abort = (): void => ending.abort();
    kill.addEventListener('abort', abort, { once: true });
    if (kill.aborted) abort();
    const timer = clock.sleep(TIMEOUT_MS, done.signal).then(abort);
    const result = await call(ending.signal);
    const isLate = ending.signal.aborted;
    done.abort();
    kill.removeEventListener('abort', abort);
    await timer;
    return isLate && 'code' in result ? { code: 'timeout' } : result;
  }

  function outcomeOf(result: PostResult, attempts: number): Attempt {
    const nowMs = clock.nowMs();
    if ('status' in result && result.status >= 200 && result.status < 300) {
      return { outcome: { type: 'delivered' }, quietUntilMs: 0 };
    }
    const reason = 'status' in result ? `http_${result.status}` : result.code;
    if ('status' in result && result.status === GONE) {
      return { outcome: { type: 'undelivered', reason }, quietUntilMs: 0 };
    }
    const requestedMs = 'status' in result ? (parseRetryAfter(result.retryAfter, nowMs, Date.parse) ?? 0) : 0;
    const waitMs = retryWaitMs(attempts, random(), requestedMs);
    return {
      outcome:
        waitMs === null ? { type: 'undelivered', reason } : { type: 'retry', atMs: nowMs + waitMs, reason },
      quietUntilMs: requestedMs === 0 ? 0 : nowMs + Math.min(requestedMs, MAX_RETRY_AFTER_MS),
    };
  }
}
