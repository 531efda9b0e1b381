// When accounts run, on a clock that the test moves: jitter, late ticks, sleep, clocks that are set.
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Trigger } from '../../../src/core/journal.ts';
import type { Log } from '../../../src/daemon/log.ts';
import type { Schedule } from '../../../src/daemon/scheduler.ts';
import { createScheduler } from '../../../src/daemon/scheduler.ts';
import { costly } from '../../support/thorough.ts';

const T0 = Date.parse('2026-06-01T10:00:00.000Z');
const MINUTE = 60_000;
const HOUR = 3_600_000;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
});

function silentLog(): Log & { readonly events: string[] } {
  const events: string[] = [];
  const take = (data: object): void => void ('event' in data && events.push(String(data.event)));
  return { events, debug: take, info: take, warn: take, error: take };
}

function account(name: string, parts: Partial<Schedule> = {}): Schedule {
  return { name, schedule: '*/5 * * * *', timezone: 'Etc/UTC', jitterMs: 0, ...parts };
}

interface Stage {
  readonly startMs?: number;
  readonly random?: () => number;
  readonly isStarted?: boolean;
}

function setUp({ startMs = T0, random = () => 0, isStarted = true }: Stage = {}) {
  vi.setSystemTime(startMs);
  const log = silentLog();
  const started: string[] = [];
  const scheduler = createScheduler({ random, log });
  const onTick = (name: string, trigger: Trigger): void => {
    started.push(`${name} ${new Date().toISOString().slice(11, 19)} ${trigger}`);
  };
  if (isStarted) scheduler.start(onTick);
  onTestFinished(() => scheduler.stop());
  return { log, scheduler, started, start: () => scheduler.start(onTick) };
}

async function pass(ms: number): Promise<void> {
  await vi.advanceTimersByTimeAsync(ms);
}

/** Sets the clock; the timers do not notice it. */
function setClock(atMs: number): void {
  vi.setSystemTime(atMs);
}

describe('ticks', () => {
  it('each start a run at their time', async () => {
    const { scheduler, started } = setUp();
    scheduler.update([
      account('acme'),
      account('beta', { schedule: '*/10 * * * *' }),
      account('gamma', { schedule: '30 7 10 * * *', timezone: 'Europe/Berlin' }),
      account('delta', { schedule: '30 7 12 * * *', timezone: 'Europe/Berlin' }),
    ]);
    await pass(10 * MINUTE);
    expect(started).toEqual([
      'acme 10:05:00 schedule',
      'delta 10:07:30 schedule',
      'acme 10:10:00 schedule',
      'beta 10:10:00 schedule',
    ]);
  });

  it('are delayed by a jitter of each account, of at most a tenth of the interval', async () => {
    const chances = [0, 0.5, 0.999];
    const { scheduler, started } = setUp({ random: () => chances.shift() ?? 0 });
    const jitters = { a: HOUR, b: 10_000, c: HOUR, off: 0 };
    scheduler.update(Object.entries(jitters).map(([name, jitterMs]) => account(name, { jitterMs })));
    await pass(5 * MINUTE + 1000);
    expect(scheduler.nextRunMs('b')).toBe(T0 + 5 * MINUTE + 5000);
    await pass(MINUTE);
    expect(started).toEqual([
      'a 10:05:00 schedule',
      'off 10:05:00 schedule',
      'b 10:05:05 schedule',
      'c 10:05:29 schedule',
    ]);
    expect(scheduler.nextRunMs('b')).toBe(T0 + 10 * MINUTE);
  });

  it('that pass between the first update and the start are not lost', async () => {
    const { scheduler, started, start } = setUp({ isStarted: false });
    scheduler.update([account('acme')]);
    await pass(5 * MINUTE + 500);
    start();
    await pass(5 * MINUTE);
    expect(started).toEqual(['acme 10:05:00 schedule', 'acme 10:10:00 schedule']);
  });

  costly('come once each over days with a weekend, also of lines with many ticks', async () => {
    const [days, workingDays] = [7, 5];
    // A Friday.
    const { scheduler, started } = setUp({ startMs: T0 + 4 * 24 * HOUR });
    scheduler.update([
      account('acme', { schedule: '0 */2 * * *' }),
      account('beta', { schedule: '59 23 * * 1-5' }),
    ]);
    await pass(days * 24 * HOUR);
    expect(started.filter((each) => each.startsWith('acme'))).toHaveLength(12 * days);
    expect(started.filter((each) => each.startsWith('beta'))).toHaveLength(workingDays);
  });

  it('end when the scheduler stops', async () => {
    const { scheduler, started } = setUp({ random: () => 0.9 });
    scheduler.update([account('acme', { jitterMs: 30_000 }), account('beta')]);
    await pass(5 * MINUTE);
    scheduler.stop();
    await pass(HOUR);
    expect(started).toEqual(['beta 10:05:00 schedule']);
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('a clock that is set', () => {
  it('forward, as by the sleep of the machine, starts one catch-up of each account, and then its ticks', async () => {
    const { scheduler, started } = setUp();
    scheduler.update([account('acme'), account('beta', { schedule: '*/7 * * * *' })]);
    await pass(MINUTE);
    setClock(T0 + 8 * HOUR + 2 * MINUTE);
    await pass(1000);
    expect(started).toEqual(['acme 18:02:01 catch_up', 'beta 18:02:01 catch_up']);
    await pass(5 * MINUTE);
    expect(started.slice(2)).toEqual(['acme 18:05:00 schedule', 'beta 18:07:00 schedule']);
  });

  it('forward by less than a minute beyond a tick starts an ordinary run', async () => {
    const { scheduler, started } = setUp();
    scheduler.update([account('acme')]);
    await pass(4 * MINUTE);
    setClock(T0 + 5 * MINUTE + 20_000);
    await pass(1000);
    expect(started).toEqual(['acme 10:05:21 schedule']);
  });

  it('back by an hour does not stop the schedules for that hour', async () => {
    const { log, scheduler, started } = setUp();
    scheduler.update([account('acme')]);
    await pass(6 * MINUTE);
    setClock(T0 - HOUR + 6 * MINUTE);
    await pass(10 * MINUTE);
    expect(started.map((each) => each.slice(5, 10))).toEqual(['10:05', '09:10', '09:15']);
    expect(log.events).toContain('clock_set_back');
  });

  it('back by a second does not start a tick twice', async () => {
    const { scheduler, started } = setUp();
    scheduler.update([account('acme')]);
    await pass(5 * MINUTE + 100);
    setClock(T0 + 5 * MINUTE - 900);
    await pass(MINUTE);
    expect(started).toHaveLength(1);
  });
});

describe('a change of the configuration', () => {
  it('takes effect at once, and keeps the ticks of unchanged accounts', async () => {
    const { scheduler, started } = setUp();
    scheduler.update([account('acme'), account('beta')]);
    await pass(2 * MINUTE);
    scheduler.update([account('acme'), account('gamma', { schedule: '*/3 * * * *' })]);
    await pass(3 * MINUTE);
    expect(started).toEqual(['gamma 10:03:00 schedule', 'acme 10:05:00 schedule']);
    expect(scheduler.nextRunMs('beta')).toBeNull();
    scheduler.update([account('acme', { schedule: '*/2 * * * *', timezone: 'Asia/Tokyo' })]);
    await pass(MINUTE);
    expect(started.slice(2)).toEqual(['acme 10:06:00 schedule']);
  });

  it('keeps a run that waits for its jitter, but not of an account that is removed', async () => {
    const { scheduler, started } = setUp({ random: () => 0.9 });
    const jitterMs = 30_000;
    scheduler.update([account('acme', { jitterMs }), account('beta', { jitterMs })]);
    await pass(5 * MINUTE + 10_000);
    scheduler.update([account('acme', { jitterMs, schedule: '0 0 1 1 *' })]);
    await pass(HOUR);
    expect(started).toEqual(['acme 10:05:27 schedule']);
  });
});

it('the longest time between ticks includes the weekend, and the next tick does not include jitter', async () => {
  const { scheduler } = setUp({ random: () => 0.9 });
  scheduler.update([account('acme', { schedule: '0 8 * * 1-5' }), account('beta', { jitterMs: 30_000 })]);
  expect(scheduler.longestGapMs('acme')).toBe(72 * HOUR);
  await pass(5 * MINUTE + 1000);
  expect(scheduler.nextRunMs('beta')).toBe(T0 + 5 * MINUTE + 27_000);
  expect(scheduler.nextTickMs('beta')).toBe(T0 + 10 * MINUTE);
});
