// The order of the service's opaque timestamps.
import { describe, expect, it } from 'vitest';
import { timestampSeconds } from '../../../src/core/durations-and-sizes.ts';

describe('a timestamp', () => {
  it.each([
    '1970-01-01T00:00:00Z',
    '2024-02-29T23:59:59Z',
    '2000-03-01T00:00:00Z',
    '1999-12-31T12:34:56Z',
    '1969-07-20T20:17:40Z',
    '2100-02-28T00:00:00Z',
    '2024-01-01T12:00:00+05:30',
    '2024-01-01T12:00:00-08:00',
  ])('%s is the same number of seconds since 1970 as the platform returns', (text) => {
    expect(timestampSeconds(text)).toBe(Date.parse(text) / 1000);
  });

  it('without a zone is UTC', () => {
    expect(timestampSeconds('2024-05-06T07:08:09')).toBe(Date.parse('2024-05-06T07:08:09Z') / 1000);
    expect(timestampSeconds('2024-05-06')).toBe(Date.parse('2024-05-06T00:00:00Z') / 1000);
    expect(timestampSeconds('2024-05-06 07:08')).toBe(Date.parse('2024-05-06T07:08:00Z') / 1000);
  });

  it('can have white space around it, and before its zone', () => {
    expect(timestampSeconds(' 1970-01-01 00:01:00 +00:00\n')).toBe(60);
  });

  it('keeps fractions, with a point or a comma', () => {
    expect(timestampSeconds('1970-01-01T00:00:01.250Z')).toBe(1.25);
    expect(timestampSeconds('1970-01-01T00:00:01,5')).toBe(1.5);
  });

  it('can have a zone without a colon and lower-case letters', () => {
    expect(timestampSeconds('1970-01-01t01:00:00+0100')).toBe(0);
    expect(timestampSeconds('1970-01-01T00:00:00z')).toBe(0);
  });

  it.each([undefined, '', 'yesterday', '2024', '01.02.2024', '1700000000', '2024-01-01T'])(
    'has no order for %j',
    (text) => {
      expect(timestampSeconds(text)).toBeUndefined();
    },
  );
});
