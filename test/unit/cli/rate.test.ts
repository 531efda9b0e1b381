import { describe, expect, it, test } from 'vitest';
import { createRate, durationText, rateText } from '../../../src/cli/rate.ts';

/** A rate after 20 operations a second, for this many seconds. */
function steady(seconds: number) {
  const rate = createRate();
  rate.note(0, 0);
  for (let tick = 1; tick <= seconds * 20; tick += 1) rate.note(tick, tick * 50);
  return rate;
}

describe('a rate', () => {
  it('is what was done per second, and the rest takes accordingly', () => {
    expect(steady(5).perSecond(5000)).toBeCloseTo(20, 0);
    expect(steady(5).remainingMs(500, 5000)).toBeCloseTo(20_000, -3);
  });

  it('is unknown at the start, and while nothing is done', () => {
    const rate = createRate();
    expect([rate.perSecond(0), rate.remainingMs(5, 0)]).toEqual([null, null]);
    rate.note(0, 0);
    rate.note(3, 500);
    expect(rate.perSecond(900)).toBeNull();
    expect(rate.perSecond(1000)).toBe(3);
    const idle = createRate();
    idle.note(0, 0);
    expect([idle.perSecond(60_000), idle.remainingMs(5, 60_000)]).toEqual([null, null]);
  });

  it('follows the last ten seconds', () => {
    const rate = steady(60);
    for (let second = 61; second <= 75; second += 1) rate.note(1200 + second - 60, second * 1000);
    expect(rate.perSecond(75_000)).toBeCloseTo(1, 0);
  });

  it('falls while nothing is done, and is unknown after ten seconds of that', () => {
    const rate = steady(10);
    expect(rate.perSecond(15_000)).toBeCloseTo(10, 0);
    expect([rate.perSecond(40_000), rate.remainingMs(400, 40_000)]).toEqual([null, null]);
  });

  it('leaves nothing when more was done than planned', () => {
    expect(steady(5).remainingMs(50, 5000)).toBe(0);
  });
});

test.each([
  [0, '0 s'],
  [1, '1 s'],
  [34_001, '35 s'],
  [60_000, '1 min'],
  [80_000, '1 min 20 s'],
  [3_600_000, '1 h'],
  [7_500_000, '2 h 5 min'],
])('%i ms is shown as “%s”', (ms, text) => {
  expect(durationText(ms)).toBe(text);
});

test.each([
  [1234.5, '1235/s'],
  [19.84, '19.8/s'],
  [0.5, '30/min'],
  [0.02, '1.2/min'],
])('a rate of %d is shown as “%s”', (rate, text) => {
  expect(rateText(rate)).toBe(text);
});
