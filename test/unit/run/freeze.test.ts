// Open freeze windows: between two moments, and after each tick of a cron line.
import { afterEach, describe, expect, it, vi } from 'vitest';
import { watchFreeze } from '../../../src/run/freeze.ts';
import type { FreezeWindow } from '../../../src/core/catalog.ts';

/** The windows; `ticks` are the moments at which every cron line ticks. */
async function watch(windows: readonly FreezeWindow[], ticks: readonly string[] = []) {
  return await watchFreeze(windows, 'Europe/Berlin', async () => (cron, timezone, afterMs, upToMs) => {
    expect([cron, timezone]).toEqual(['0 18 * * 5', 'Europe/Berlin']);
    return ticks.map((at) => Date.parse(at)).some((at) => at > afterMs && at <= upToMs);
  });
}

/** The window that is open at this time. */
async function openAt(now: string, windows: readonly FreezeWindow[], ticks: readonly string[] = []) {
  return (await watch(windows, ticks)).describeAt(Date.parse(now));
}

/** The end of the freeze that is open at this time. */
async function endAfter(now: string, windows: readonly FreezeWindow[], ticks: readonly string[] = []) {
  const open = (await watch(windows, ticks)).openAt(Date.parse(now));
  return open === null ? 'not open' : open.untilMs === null ? null : new Date(open.untilMs).toISOString();
}

describe('a freeze window between two moments', () => {
  const days = { from: '2026-12-20', to: '2026-12-31' };
  const times = { from: '2026-12-20T08:00:00', to: '2026-12-20T18:00:00' };

  it.each([
    ['2026-12-19T23:59:59.999Z', days, false],
    ['2026-12-20T00:00:00.000Z', days, true],
    ['2026-12-31T23:59:59.999Z', days, true],
    ['2027-01-01T00:00:00.000Z', days, false],
    ['2026-12-20T07:59:59.999Z', times, false],
    ['2026-12-20T08:00:00.000Z', times, true],
    ['2026-12-20T17:59:59.999Z', times, true],
    ['2026-12-20T18:00:00.000Z', times, false],
    ['2026-12-20T07:30:00.000Z', { ...times, from: '2026-12-20T08:00:00+01:00' }, true],
    ['2026-12-20T06:30:00.000Z', { ...times, from: '2026-12-20T08:00:00+0100' }, false],
    ['2026-12-20T07:30:00.000Z', { ...times, from: '2026-12-20T08:00:00+0100' }, true],
    ['2026-12-20T07:30:00.000Z', { ...times, from: '2026-12-20T08:00:00Z' }, false],
    ['2026-12-20T08:30:00.000Z', { ...times, from: '2026-12-20T08:00:00z' }, true],
    ['2026-12-20T12:30:00.000Z', { ...times, from: '2026-12-20T08:00:00-05:00' }, false],
    ['2026-12-20T13:30:00.000Z', { ...times, from: '2026-12-20T08:00:00-05:00' }, true],
  ])('at %s with %j is open: %s', async (now, window, open) => {
    expect(await openAt(now, [window])).toBe(open ? `${window.from} to ${window.to}` : null);
  });

  it('is in UTC whatever the time zone of the machine', async () => {
    vi.stubEnv('TZ', 'America/New_York');
    expect(await openAt('2026-12-20T07:59:59.999Z', [times])).toBeNull();
    expect(await openAt('2026-12-20T08:00:00.000Z', [times])).not.toBeNull();
  });
});

afterEach(() => {
  vi.unstubAllEnvs();
});

describe('a freeze window that opens at cron ticks', () => {
  const window = { cron: '0 18 * * 5', forMs: 3_600_000 };
  const tick = '2026-12-18T17:00:00.000Z';

  it.each([
    ['2026-12-18T16:59:59.999Z', null],
    ['2026-12-18T17:00:00.000Z', 'cron 0 18 * * 5'],
    ['2026-12-18T17:59:59.999Z', 'cron 0 18 * * 5'],
    ['2026-12-18T18:00:00.000Z', null],
  ])('at %s is described as %s', async (now, open) => {
    expect(await openAt(now, [window], [tick])).toBe(open);
  });
});

it('without windows nothing is frozen', async () => {
  expect(await openAt('2026-12-24T00:00:00Z', [])).toBeNull();
});

describe('the end of a freeze', () => {
  const window = { cron: '0 18 * * 5', forMs: 3_600_000 };
  const tick = '2026-12-18T17:00:00.000Z';
  const days = { from: '2026-12-18', to: '2026-12-20' };

  it('is the end of its window', async () => {
    expect(await endAfter('2026-12-18T12:00:00Z', [days])).toBe('2026-12-21T00:00:00.000Z');
    expect(await endAfter(tick, [window], [tick])).toBe('2026-12-18T18:00:00.000Z');
    expect(await endAfter('2026-12-18T17:59:59.999Z', [window], [tick])).toBe('2026-12-18T18:00:00.000Z');
    expect(await endAfter('2026-12-18T18:00:00Z', [window], [tick])).toBe('not open');
  });

  it('is the end of the last of several adjoining windows', async () => {
    const next = { from: '2026-12-21', to: '2026-12-21T08:00:00' };
    expect(await endAfter('2026-12-18T12:00:00Z', [next, days])).toBe('2026-12-21T08:00:00.000Z');
    const again = '2026-12-18T17:30:00.000Z';
    expect(await endAfter(tick, [window], [tick, again])).toBe('2026-12-18T18:30:00.000Z');
  });

  it('is unknown for windows without a gap', async () => {
    const ticks = Array.from({ length: 1000 }, (_, hour) =>
      new Date(Date.parse(tick) + hour * 3_600_000).toISOString(),
    );
    expect(await endAfter(tick, [window], ticks)).toBeNull();
  });
});
