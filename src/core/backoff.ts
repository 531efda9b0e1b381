// Computes how long to wait before a retry. Time and random numbers are arguments.
import { DAY_MS, utcTime } from './durations-and-sizes.ts';
import { ServiceError } from './errors.ts';

/** If the service asks for a longer wait, the operation fails as throttled. */
export const LONGEST_WAIT_MS = 120_000;

/** A Retry-After counts as at most this: a longer one is an error of the service that would stop the account for good. */
export const LONGEST_RETRY_AFTER_MS = DAY_MS;

const BASE_MS = 250;
const CAP_MS = 20_000;

/** Exponential backoff with full jitter. `attempt` counts from 1; `random` is in [0, 1). */
export function backoffMs(attempt: number, random: number): number {
  return Math.floor(random * Math.min(CAP_MS, BASE_MS * 2 ** attempt));
}

/** The wait before the next attempt: what the service asked for, with the backoff on top of it. */
export function retryDelayMs(attempt: number, random: number, retryAfterMs: number | undefined): number {
  return retryAfterMs === undefined
    ? backoffMs(attempt, random)
    : retryAfterMs + Math.floor(random * Math.min(1000, retryAfterMs / 10));
}

/** Status codes after which a read or a delete is tried again. */
export function isRetryableStatus(status: number): boolean {
  return [408, 425, 429, 500, 502, 503, 504].includes(status);
}

/** An HTTP date, in its present form and in the two obsolete ones (RFC 9110, 5.6.7); the last one has no zone. */
const HTTP_DATE =
  /^(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:[0-5]\d GMT|[A-Z][a-z]+day, \d\d-[A-Z][a-z]{2}-\d\d \d\d:\d\d:[0-5]\d GMT|(?<noZone>(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) [A-Z][a-z]{2} (?:\d| )\d \d\d:\d\d:[0-5]\d \d{4}))$/u;

/**
 * Milliseconds that a Retry-After header requests: whole seconds or an HTTP date, at most 24 hours; undefined for anything
 * else. `parseDate` turns an HTTP date with a zone into epoch milliseconds, and anything else into NaN.
 */
export function parseRetryAfter(
  header: string | undefined,
  nowMs: number,
  parseDate: (date: string) => number,
): number | undefined {
  const text = header?.trim() ?? '';
  const date = HTTP_DATE.exec(text);
  if (date === null && !/^[0-9]+$/.test(text)) return undefined;
  const dated = date?.groups?.['noZone'] === undefined ? text : `${text} GMT`;
  const waitMs = date === null ? Number(text) * 1000 : parseDate(dated) - nowMs;
  return Number.isNaN(waitMs) ? undefined : Math.min(LONGEST_RETRY_AFTER_MS, Math.max(0, waitMs));
}

/** `the service requested a pause until …`, with seconds. */
export function throttledMessage(untilMs: number): string {
  return `the service requested a pause until ${utcTime(untilMs)}, and rolecall sends nothing before`;
}

/** The error of what is not sent before this time; null when it may be sent. */
export function throttledError(untilMs: number | null, nowMs: number): ServiceError | null {
  // A time too far in the future is ignored: the clock was set back.
  if (untilMs === null || untilMs <= nowMs || untilMs > nowMs + LONGEST_RETRY_AFTER_MS) return null;
  const message = `${throttledMessage(untilMs)}; nothing was sent (use --accept retry_after to override)`;
  return new ServiceError('throttled', message, { retryAfterMs: untilMs - nowMs });
}
