// Time in a sandbox: the timers, which closing it cancels, and the `rateLimit` setting, one token bucket for each account.

import type { RateLimit } from './settings.ts';

export class Timers {
  private readonly pending = new Set<NodeJS.Timeout>();

  /** Does the work after `ms`, unless the sandbox is closed earlier. */
  later(ms: number, work: () => void): void {
    const timer = setTimeout(() => {
      this.pending.delete(timer);
      work();
    }, ms);
    this.pending.add(timer);
  }

  /** Does not resolve if the sandbox is closed meanwhile: no client is left to answer. */
  sleep(ms: number): Promise<void> {
    return ms <= 0 ? Promise.resolve() : new Promise((resolve) => this.later(ms, resolve));
  }

  clear(): void {
    for (const timer of this.pending) clearTimeout(timer);
    this.pending.clear();
  }
}

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
