// Durations, as texts and as numbers.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DAY_MS, formatDuration, parseDuration } from '../../../src/core/durations-and-sizes.ts';
import '../../support/seed.ts';

// prettier-ignore
const NO_DURATIONS = [
  '', '30', 's', '1.5h', '-1s', '+1s', '1 s', ' 1s', '1s ', '1s\n', '1S', '1w', '1h30m', '1e3s', '1_000s', '٣s', 'x1s',
  '1sx', '1constructor', '1B', '9999999999999s',
];

describe('a duration', () => {
  it.each([
    ['500ms', 500],
    ['0s', 0],
    ['30s', 30_000],
    ['15m', 900_000],
    ['2h', 7_200_000],
    ['90d', 90 * DAY_MS],
    ['007s', 7000],
    ['999999999999ms', 999_999_999_999],
  ])('can be %s, which is %d ms', (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  it('cannot be anything but a number and a unit', () => {
    expect(NO_DURATIONS.filter((text) => parseDuration(text) !== undefined)).toEqual([]);
  });

  it.each([
    [0, '0ms'],
    [1, '1ms'],
    [999, '999ms'],
    [1000, '1s'],
    [1001, '1001ms'],
    [59_000, '59s'],
    [60_000, '1m'],
    [61_000, '61s'],
    [3_600_000, '1h'],
    [5_400_000, '90m'],
    [DAY_MS, '1d'],
    [DAY_MS + 3_600_000, '25h'],
    [90 * DAY_MS, '90d'],
  ])('of %d ms is written as %s', (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
  });

  it('is written so that it parses to the same value', () => {
    fc.assert(fc.property(fc.nat(), (ms) => parseDuration(formatDuration(ms)) === ms));
  });
});
