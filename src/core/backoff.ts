// Retry arithmetic: a failure and an attempt → wait so long, or give up. No clock, no random: both are arguments.

/** Longer than this is not waited for: the operation fails as throttled (contract, section 5). */
export const LONGEST_WAIT_MS = 120_000;

/** What a Retry-After may ask for at most; beyond it is no service's intention. */
const LONGEST_RETRY_AFTER_MS = 7 * 86_400_000;

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

/** Milliseconds that a Retry-After header asks for: seconds or an HTTP date, a week at most. `parseDate` gives epoch milliseconds or NaN. */
export function parseRetryAfter(
  header: string | undefined,
  nowMs: number,
  parseDate: (text: string) => number,
): number | undefined {
  if (header === undefined) return undefined;
  const text = header.trim();
  const atMs = /^\d+(\.\d+)?$/.test(text) ? nowMs + Math.ceil(Number(text) * 1000) : parseDate(text);
  return Number.isNaN(atMs) ? undefined : Math.min(LONGEST_RETRY_AFTER_MS, Math.max(0, atMs - nowMs));
}
