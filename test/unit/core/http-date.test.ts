// Dates in HTTP headers.
import { describe, expect, it } from 'vitest';
import { isoOfHttpDate } from '../../../src/core/backoff.ts';
import { NOW_MS } from './builders.ts';

const iso = (text: string, nowMs = NOW_MS): string | undefined => isoOfHttpDate(text, nowMs);

// prettier-ignore
const NO_DATES = [
  '', ' Sun, 06 Nov 1994 08:49:37 GMT', 'Sun, 06 Nov 1994 08:49:37 GMT ', 'Sun, 06 Nov 1994 08:49:37 GMT\n',
  'sun, 06 nov 1994 08:49:37 gmt', 'Sun, 06 Nov 1994 08:49:37 UTC', 'Sun, 06 Nov 1994 08:49:37 +0000',
  'Sun, 06 Nov 1994 08:49:37', 'Sun, 6 Nov 1994 08:49:37 GMT', 'Sun, 06 Nov 94 08:49:37 GMT',
  'Sun, 06-Nov-94 08:49:37 GMT', 'Sunday, 06-Nov-1994 08:49:37 GMT', 'Sun Nov 6 08:49:37 1994',
  'Sun Nov  6 08:49:37 1994 GMT', 'Sun Nov  0 08:49:37 1994', 'Xyz, 06 Nov 1994 08:49:37 GMT',
  'Sun, 06 Nox 1994 08:49:37 GMT', 'Sun, 06 Nov 1994 24:00:00 GMT', 'Sun, 06 Nov 1994 08:60:00 GMT',
  'Sun, 06 Nov 1994 08:49:61 GMT', 'Sun, 06 Nov 1994 8:49:37 GMT', 'Sun, ٠٦ Nov 1994 08:49:37 GMT',
  '1994-11-06T08:49:37Z', '784111777',
];

describe('a date of an HTTP header', () => {
  it.each([
    ['Sun, 06 Nov 1994 08:49:37 GMT', '1994-11-06T08:49:37Z'],
    ['Sunday, 06-Nov-94 08:49:37 GMT', '1994-11-06T08:49:37Z'],
    ['Sun Nov  6 08:49:37 1994', '1994-11-06T08:49:37Z'],
    ['Sun Nov 16 23:59:59 1994', '1994-11-16T23:59:59Z'],
    ['Tue, 10 Mar 0026 00:00:00 GMT', '0026-03-10T00:00:00Z'],
  ])('can be %s', (text, date) => {
    expect(iso(text)).toBe(date);
    expect(Date.parse(date)).not.toBeNaN();
  });

  it.each([
    [1900, false],
    [2000, true],
    [2023, false],
    [2024, true],
    [2100, false],
    [2400, true],
  ])('has a 29 February in the year %d: %s', (year, isLeap) => {
    expect(iso(`Mon, 29 Feb ${year} 00:00:00 GMT`) !== undefined).toBe(isLeap);
  });

  it('with two digits for the year is at most 50 years ahead, and otherwise in the past', () => {
    const yearOf = (digits: string, nowMs?: number) =>
      iso(`Monday, 01-Jan-${digits} 00:00:00 GMT`, nowMs)?.slice(0, 4);
    expect(['00', '26', '75', '76', '77', '99'].map((digits) => yearOf(digits))).toEqual([
      '2000',
      '2026',
      '2075',
      '2076',
      '1977',
      '1999',
    ]);
    const in1999 = Date.parse('1999-07-01T00:00:00Z');
    expect(['50', '99', '00'].map((digits) => yearOf(digits, in1999))).toEqual(['1950', '1999', '1900']);
    const in2055 = Date.parse('2055-07-01T00:00:00Z');
    expect(['04', '05', '99'].map((digits) => yearOf(digits, in2055))).toEqual(['2004', '2005', '2099']);
  });

  it('cannot have another form', () => {
    expect(NO_DATES.filter((text) => iso(text) !== undefined)).toEqual([]);
  });
});
