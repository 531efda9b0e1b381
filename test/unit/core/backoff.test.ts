// The arithmetic of retries.
import { describe, expect, it } from 'vitest';
import {
  backoffMs,
  isRetryableStatus,
  LONGEST_WAIT_MS,
  parseRetryAfter,
  retryDelayMs,
} from '../../../src/core/backoff.ts';

const ALMOST_ONE = 0.999_999_999;

describe('the wait between attempts', () => {
  it('has full jitter: anything from nothing up to a ceiling that doubles', () => {
    expect(backoffMs(1, 0)).toBe(0);
    const ceilings = [1, 2, 3, 4].map((attempt) => backoffMs(attempt, ALMOST_ONE) + 1);
    expect(ceilings).toEqual([500, 1000, 2000, 4000]);
  });

  it('is capped however many attempts there were', () => {
    expect(backoffMs(50, ALMOST_ONE)).toBeLessThan(20_000);
    expect(backoffMs(5000, ALMOST_ONE)).toBeLessThan(20_000);
  });

  it('is never shorter than what the service asked for, and little longer', () => {
    expect(retryDelayMs(1, 0, 3000)).toBe(3000);
    expect(retryDelayMs(4, ALMOST_ONE, 3000)).toBeLessThan(3300);
    expect(retryDelayMs(1, ALMOST_ONE, 60_000)).toBeLessThan(61_000);
    expect(retryDelayMs(1, 0.5, 3000)).toBe(3150);
    expect(retryDelayMs(1, 0.5, 60_000)).toBe(60_500);
    expect(retryDelayMs(1, ALMOST_ONE, 0)).toBe(0);
  });

  it('is the backoff when the service asked for nothing', () => {
    expect(retryDelayMs(2, 0.5, undefined)).toBe(500);
  });
});

describe('the statuses after which a read or a delete is tried again', () => {
  it('are those of the contract and no others', () => {
    const retryable = Array.from({ length: 500 }, (_, index) => index + 100).filter(isRetryableStatus);
    expect(retryable).toEqual([408, 425, 429, 500, 502, 503, 504]);
  });
});

describe('Retry-After', () => {
  const now = Date.parse('2026-01-01T00:00:00Z');
  const parse = (header: string | undefined): number | undefined => parseRetryAfter(header, now, Date.parse);

  it('may be seconds', () => {
    expect(parse('0')).toBe(0);
    expect(parse('7')).toBe(7000);
    expect(parse(' 120 ')).toBe(LONGEST_WAIT_MS);
    expect(parse('1.5')).toBe(1500);
    expect(parse('1.25')).toBe(1250);
  });

  it('may be a date, and one that has passed means now', () => {
    expect(parse('Thu, 01 Jan 2026 00:01:30 GMT')).toBe(90_000);
    expect(parse('Wed, 31 Dec 2025 23:59:00 GMT')).toBe(0);
  });

  it('says nothing when it is absent or no such thing', () => {
    expect(parse(undefined)).toBeUndefined();
    expect(parse('')).toBeUndefined();
    for (const text of ['soon', 'x7', '7x', '-7', '-7s', '7.', '7.5.x']) {
      expect(
        parseRetryAfter(text, now, () => Number.NaN),
        text,
      ).toBeUndefined();
    }
  });
});
