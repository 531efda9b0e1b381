// Computes when a notification is sent again after a failed attempt, and when no further attempt is made.

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
