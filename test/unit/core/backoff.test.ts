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
  it('has full jitter, from zero to a limit that doubles', () => {
    expect(backoffMs(1, 0)).toBe(0);
    const ceilings = [1, 2, 3, 4].map((attempt) => backoffMs(attempt, ALMOST_ONE) + 1);
    expect(ceilings).toEqual([500, 1000, 2000, 4000]);
  });

  it('is capped however many attempts there were', () => {
    expect(backoffMs(50, ALMOST_ONE)).toBeLessThan(20_000);
    expect(backoffMs(5000, ALMOST_ONE)).toBeLessThan(20_000);
  });

  it('is at least the Retry-After of the service, and little longer', () => {
    expect(retryDelayMs(1, 0, 3000)).toBe(3000);
    expect(retryDelayMs(4, ALMOST_ONE, 3000)).toBeLessThan(3300);
    expect(retryDelayMs(1, ALMOST_ONE, 60_000)).toBeLessThan(61_000);
    expect(retryDelayMs(1, 0.5, 3000)).toBe(3150);
    expect(retryDelayMs(1, 0.5, 60_000)).toBe(60_500);
    expect(retryDelayMs(1, ALMOST_ONE, 0)).toBe(0);
  });

  it('is the backoff without a Retry-After', () => {
    expect(retryDelayMs(2, 0.5, undefined)).toBe(500);
  });
});

describe('the statuses after which a read or a delete is tried again', () => {
  it('are the documented ones and no others', () => {
    const retryable = Array.from({ length: 500 }, (_, index) => index + 100).filter(isRetryableStatus);
    expect(retryable).toEqual([408, 425, 429, 500, 502, 503, 504]);
  });
});

describe('Retry-After', () => {
  const now = Date.parse('2026-01-01T00:00:00Z');
  const parse = (header: string | undefined): number | undefined => parseRetryAfter(header, now, Date.parse);

  it('can be a number of seconds', () => {
    expect(parse('0')).toBe(0);
    expect(parse('007')).toBe(7000);
    expect(parse(' 120 ')).toBe(LONGEST_WAIT_MS);
  });

  it.each([
    ['Thu, 01 Jan 2026 00:01:30 GMT', 90_000],
    ['Thursday, 01-Jan-26 00:01:30 GMT', 90_000],
    ['Thu Jan  1 00:01:30 2026', 90_000],
    ['Wed, 31 Dec 2025 23:59:00 GMT', 0],
    ['Sunday, 06-Nov-94 08:49:37 GMT', 0],
  ])('can be an HTTP date, and a past one means no wait: %s', (date, ms) => {
    expect(parse(date)).toBe(ms);
  });

  it('counts as at most 24 hours', () => {
    for (const text of ['86401', '604800', '9'.repeat(400), 'Mon, 05 Jan 2026 00:00:00 GMT'])
      expect(parse(text), text).toBe(86_400_000);
  });

  it('is ignored when it is neither', () => {
    const texts = [
      '',
      'soon',
      'x7',
      '7x',
      '-7',
      '+7',
      '7.',
      '1.5',
      '1e3',
      '0x10',
      '7, 8',
      '\u0667',
      '2026-01-01',
    ];
    const dates = [
      '2026-01-01T00:01:30Z',
      'Thu, 1 Jan 2026 00:01:30 GMT',
      'Thu, 01 Jan 2026 00:01:30',
      'Thu, 01 Jan 2026 00:01:30 +0000',
      'Thu, 01 Jax 2026 00:01:30 GMT',
      'Xyz, 01 Jan 2026 00:01:30 GMT',
      'Thu, 01 Jan 2026 24:01:30 GMT',
      'Thu, 01 Jan 2026 00:60:30 GMT',
      'Thursday, 01-Jan-2026 00:01:30 GMT',
      'Thu Jan  1 00:01:30 2026 GMT',
    ];
    expect([...texts, ...dates].filter((text) => parse(text) !== undefined)).toEqual([]);
  });

  it('is undefined when it is absent', () => {
    expect(parse(undefined)).toBeUndefined();
  });
});
