// When a cron line ticks, by node-cron, and whether it ticked before now, for freeze windows.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { cronTicked, gapsMs, nextTickMs, nextTicks } from '../../../src/daemon/cron.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }));
afterEach(() => void vi.useRealTimers());

function ticksFrom(now: string, cron: string, timezone: string, count: number): string[] {
  vi.setSystemTime(now);
  return nextTicks(cron, timezone, count).map((ms) => new Date(ms).toISOString().slice(0, 16));
}

describe('the next ticks', () => {
  it.each([
    ['*/15 * * * *', 'Etc/UTC', '2026-06-01T10:15'],
    ['0 8 * * *', 'Europe/Berlin', '2026-06-02T06:00'],
    ['30 23 * * *', 'Asia/Kolkata', '2026-06-01T18:00'],
    ['0 0 1 1 *', 'America/New_York', '2027-01-01T05:00'],
    ['0 9 * * 7', 'Etc/UTC', '2026-06-07T09:00'],
    ['0 0 29 2 *', 'Etc/UTC', '2028-02-29T00:00'],
    // Both day fields must match.
    ['0 0 13 * FRI', 'Etc/UTC', '2026-11-13T00:00'],
  ])('of %s in %s begin at %s', (cron, timezone, expected) => {
    expect(ticksFrom('2026-06-01T10:01:30Z', cron, timezone, 1)).toEqual([expected]);
  });

  it('have seconds in a line of six fields', () => {
    vi.setSystemTime('2026-06-01T10:00:05.500Z');
    expect(nextTickMs('*/10 * * * * *', 'Etc/UTC')).toBe(Date.parse('2026-06-01T10:00:10Z'));
    vi.setSystemTime('2026-06-01T10:00:10Z');
    expect(nextTickMs('*/10 * * * * *', 'Etc/UTC')).toBe(Date.parse('2026-06-01T10:00:20Z'));
  });

  it('leave out a time that clocks skip, and occur once at a time that they repeat', () => {
    expect(ticksFrom('2026-03-28T12:00:00Z', '30 2 * * *', 'Europe/Berlin', 2)).toEqual([
      '2026-03-30T00:30',
      '2026-03-31T00:30',
    ]);
    expect(ticksFrom('2026-10-24T22:30:00Z', '0 * * * *', 'Europe/Berlin', 3)).toEqual([
      '2026-10-24T23:00',
      '2026-10-25T01:00',
      '2026-10-25T02:00',
    ]);
  });

  it('have gaps that include a weekend', () => {
    vi.setSystemTime('2026-06-01T10:01:00Z');
    expect(gapsMs('*/5 * * * *', 'Etc/UTC')).toEqual(Array.from({ length: 7 }, () => 300_000));
    expect(Math.max(...gapsMs('0 8 * * 1-5', 'Etc/UTC'))).toBe(3 * 86_400_000);
  });
});

/** Whether the line ticked in the hours before a moment. */
function ticked(cron: string, timezone: string, hours: number, at: string): boolean {
  const atMs = Date.parse(at);
  return cronTicked(cron, timezone, atMs - hours * 3_600_000, atMs);
}

describe('whether a line ticked in a window', () => {
  it.each([
    ['0 10 * * *', 'Etc/UTC', 1, '2026-06-01T09:59:59.999Z', false],
    ['0 10 * * *', 'Etc/UTC', 1, '2026-06-01T10:00:00Z', true],
    ['0 10 * * *', 'Etc/UTC', 1, '2026-06-01T10:59:59.999Z', true],
    ['0 10 * * *', 'Etc/UTC', 1, '2026-06-01T11:00:00Z', false],
    ['0 18 * * FRI', 'Europe/Berlin', 60, '2026-06-05T15:59:59Z', false],
    ['0 18 * * FRI', 'Europe/Berlin', 60, '2026-06-05T16:00:00Z', true],
    ['0 18 * * FRI', 'Europe/Berlin', 60, '2026-06-08T03:59:59Z', true],
    ['0 18 * * FRI', 'Europe/Berlin', 60, '2026-06-08T04:00:00Z', false],
    ['30 */6 * * *', 'Asia/Kolkata', 1, '2026-06-01T19:00:00Z', true],
    ['*/20 30 23 * * *', 'America/New_York', 1, '2026-06-02T04:30:39Z', true],
    ['*/20 30 23 * * *', 'America/New_York', 1, '2026-06-02T04:30:40Z', false],
    ['0 0 31 12 *', 'Etc/UTC', 24 * 40, '2027-01-20T00:00:00Z', true],
  ])('%s in %s, %d h until %s: %s', (cron, timezone, hours, at, expected) => {
    expect(ticked(cron, timezone, hours, at)).toBe(expected);
  });

  it('counts a time that the clocks skip', () => {
    expect(ticked('30 2 * * *', 'Europe/Berlin', 1, '2026-03-29T01:00:00Z')).toBe(true);
    expect(ticked('30 2 * * *', 'Europe/Berlin', 1, '2026-03-29T06:00:00Z')).toBe(false);
  });

  it('counts both times that the clocks repeat, without a gap in between', () => {
    for (let minute = 30; minute < 150; minute += 10) {
      const at = new Date(Date.parse('2026-10-25T00:00:00Z') + minute * 60_000).toISOString();
      expect([at, ticked('30 2 * * *', 'Europe/Berlin', 1, at)]).toEqual([at, true]);
    }
    expect(ticked('30 2 * * *', 'Europe/Berlin', 1, '2026-10-25T02:30:00Z')).toBe(false);
  });
});
