// When schedules tick, with a clock that the test sets.
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Ticks } from '../../../src/daemon/cron.ts';

const NOON = Date.parse('2026-06-01T12:00:00.000Z');
const SECOND_MS = 1000;
const MINUTE_MS = 60_000;
const QUARTER_MS = 15 * MINUTE_MS;

beforeEach(() => vi.useFakeTimers({ toFake: ['Date'], now: NOON + SECOND_MS }));
afterEach(() => void vi.useRealTimers());

function ticksOf(...schedules: (readonly [name: string, schedule: string])[]): Ticks {
  const ticks = new Ticks();
  ticks.update(schedules.map(([name, schedule]) => ({ name, schedule, timezone: 'Etc/UTC' })));
  return ticks;
}

/** The ticks that are noticed at this time, which passes. */
function noticed(ticks: Ticks, nowMs: number, machineMs = nowMs) {
  vi.setSystemTime(machineMs);
  const passed = ticks.passed(nowMs);
  ticks.advance(nowMs);
  return passed.map(({ account, tickMs, trigger }) => [account, tickMs - NOON, trigger]);
}

it('a tick is noticed once, and each account of a line has it', () => {
  const ticks = ticksOf(['acme', '*/15 * * * *'], ['beta', '*/15 * * * *'], ['gamma', '0 0 1 1 *']);
  expect(noticed(ticks, NOON + QUARTER_MS - 1)).toEqual([]);
  expect(noticed(ticks, NOON + QUARTER_MS)).toEqual([
    ['acme', QUARTER_MS, 'schedule'],
    ['beta', QUARTER_MS, 'schedule'],
  ]);
  expect(noticed(ticks, NOON + QUARTER_MS + SECOND_MS)).toEqual([]);
  expect(ticks.nextMs('acme')).toBe(NOON + 2 * QUARTER_MS);
  expect(ticks.longestGapMs('acme')).toBe(QUARTER_MS);
});

it('a tick that could not be stored is noticed again', () => {
  const ticks = ticksOf(['acme', '*/15 * * * *']);
  for (const time of [0, 1]) expect(ticks.passed(NOON + QUARTER_MS + time)).toHaveLength(1);
});

it('of several ticks that passed, as in a sleep of the machine, the last one is a catch-up', () => {
  const ticks = ticksOf(['acme', '*/15 * * * *']);
  expect(noticed(ticks, NOON + 3 * QUARTER_MS + 2 * MINUTE_MS)).toEqual([
    ['acme', 3 * QUARTER_MS, 'catch_up'],
  ]);
});

it('the jitter is a tenth of the interval, and at most 30 s', () => {
  const delays = (schedule: string): number[] =>
    Array.from({ length: 200 }, () => {
      const ticks = ticksOf(['acme', schedule]);
      const [tick] = ticks.passed(NOON + QUARTER_MS);
      return (tick?.dueMs ?? Number.NaN) - (tick?.tickMs ?? 0);
    });
  const quarter = delays('*/15 * * * *');
  expect(Math.max(...quarter)).toBeGreaterThan(20_000);
  expect(Math.max(...quarter)).toBeLessThanOrEqual(30_000);
  const tenSeconds = delays('*/10 * * * * *');
  expect(Math.max(...tenSeconds)).toBeGreaterThan(500);
  expect(Math.max(...tenSeconds)).toBeLessThanOrEqual(1000);
});

it('no tick is missed while the clock of the machine is 30 s ahead of that of the store, or behind it', () => {
  for (const aheadMs of [30_000, -30_000]) {
    vi.setSystemTime(NOON + aheadMs);
    const ticks = ticksOf(['acme', '*/10 * * * * *']);
    const seen: number[] = [];
    for (let atMs = NOON; atMs < NOON + 5 * MINUTE_MS; atMs += SECOND_MS)
      for (const [, tickMs] of noticed(ticks, atMs, atMs + aheadMs)) seen.push(Number(tickMs) / SECOND_MS);
    const gaps = seen.slice(1).map((tick, index) => tick - (seen[index] ?? 0));
    expect(new Set(gaps)).toEqual(new Set([10]));
    expect(seen.length).toBeGreaterThan(24);
  }
});

it('a clock that was set back ticks again from then on', () => {
  const ticks = ticksOf(['acme', '*/15 * * * *']);
  noticed(ticks, NOON + 8 * QUARTER_MS);
  expect(noticed(ticks, NOON + MINUTE_MS)).toEqual([]);
  expect(noticed(ticks, NOON + QUARTER_MS)).toEqual([['acme', QUARTER_MS, 'schedule']]);
});

it('an unchanged schedule keeps its next tick, a changed one gets another, and a removed account has none', () => {
  const ticks = ticksOf(['acme', '*/15 * * * *'], ['beta', '*/15 * * * *']);
  vi.setSystemTime(NOON + QUARTER_MS + SECOND_MS);
  ticks.update([{ name: 'acme', schedule: '*/15 * * * *', timezone: 'Etc/UTC' }]);
  expect(ticks.nextMs('beta')).toBeNull();
  expect(noticed(ticks, NOON + QUARTER_MS + SECOND_MS)).toEqual([['acme', QUARTER_MS, 'schedule']]);
  ticks.update([{ name: 'acme', schedule: '0 * * * *', timezone: 'Etc/UTC' }]);
  expect(ticks.nextMs('acme')).toBe(NOON + 4 * QUARTER_MS);
});
