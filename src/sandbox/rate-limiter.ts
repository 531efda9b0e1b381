// The `rateLimit` setting: one token bucket per account.

import type { RateLimit } from './settings.ts';

interface Bucket {
  readonly limit: RateLimit;
  tokens: number;
  atMs: number;
}

export class RateLimiter {
  private readonly buckets = new Map<string, Bucket>();

  /** Takes one request from the bucket. Returns 0, or the milliseconds until the next request is allowed. */
  take(key: string, limit: RateLimit, nowMs: number): number {
    let bucket = this.buckets.get(key);
    if (bucket?.limit !== limit) {
      bucket = { limit, tokens: limit.burst, atMs: nowMs };
      this.buckets.set(key, bucket);
    }
    const refilled = bucket.tokens + ((nowMs - bucket.atMs) / 1000) * limit.requestsPerSecond;
    bucket.tokens = Math.min(limit.burst, refilled);
    bucket.atMs = nowMs;
    if (bucket.tokens < 1) return ((1 - bucket.tokens) / limit.requestsPerSecond) * 1000;
    bucket.tokens -= 1;
    return 0;
  }
}
