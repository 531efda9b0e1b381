// When a notice that could not be delivered is tried again, and when it is given up. Arithmetic only.

/** The waits after the first, the second … attempt in vain. After the last of them one more attempt is made. */
const WAITS_MS = [1000, 4000, 16_000, 64_000, 256_000, 1_024_000] as const;

/** What a receiver may ask for with Retry-After. */
export const LONGEST_RETRY_AFTER_MS = 3_600_000;

/**
 * The wait before the next attempt, or null when `attempts` in vain were enough. It varies by a fifth to either side,
 * so that what failed together does not come back together. `random` is in [0, 1).
 */
export function retryWaitMs(attempts: number, random: number, retryAfterMs = 0): number | null {
  const waitMs = WAITS_MS[attempts - 1];
  if (waitMs === undefined) return null;
  return Math.max(Math.round(waitMs * (0.8 + 0.4 * random)), Math.min(retryAfterMs, LONGEST_RETRY_AFTER_MS));
}
