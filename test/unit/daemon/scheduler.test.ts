// When accounts run, on a clock that the test moves: jitter, late ticks, sleep, backoff, clocks that are set.
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Trigger } from '../../../src/core/journal.ts';
import type { Log } from '../../../src/daemon/log.ts';
import type { Schedule } from '../../../src/daemon/scheduler.ts';
import { createScheduler } from '../../../src/daemon/scheduler.ts';
import { virtualClock } from './virtual-clock.ts';

const T0 = Date.parse('2026-06-01T10:00:00.000Z');
const MINUTE = 60_000;
const HOUR = 3_600_000;

function silentLog(): Log & { readonly events: string[] } {
  const events: string[] = [];
  const take = (data: object): void => void ('event' in data && events.push(String(data.event)));
  return { events, debug: take, info: take, warn: take, error: take };
}

function account(name: string, parts: Partial<Schedule> = {}): Schedule {
  const schedule = { name, schedule: '*/5 * * * *', timezone: 'Etc/UTC', jitterMs: 0, ...parts };
  return { revision: JSON.stringify(schedule), ...schedule };
}

/** A scheduler whose runs end at once, unless an account is in `busy`. */
function setUp(startMs = T0, random = () => 0) {
  // A day has 86,400 wake-ups of the scheduler, which does no I/O.
  const clock = virtualClock(startMs, (resume) => process.nextTick(resume));
  const log = silentLog();
  const started: { readonly account: string; readonly at: string; readonly trigger: Trigger }[] = [];
  const busy = new Set<string>();
  const skipped: string[] = [];
  const scheduler = createScheduler({ clock, random, log });
  scheduler.start((name, trigger) => {
    if (busy.has(name)) skipped.push(name);
    else started.push({ account: name, at: new Date(clock.nowMs()).toISOString().slice(11, 23), trigger });
  });
  onTestFinished(async () => {
    const stopped = scheduler.stop();
    await clock.pass(2000);
    await stopped;
  });
  return { clock, log, scheduler, started, busy, skipped };
}

describe('ticks', () => {
  it('each start a run at their time', async () => {
    const { clock, scheduler, started } = setUp();
    scheduler.update([account('acme'), account('beta', { schedule: '*/10 * * * *' })]);
    await clock.pass(20 * MINUTE);
    expect(started.map(({ account: name, at }) => `${name} ${at}`)).toEqual([
      'acme 10:05:00.000',
      'acme 10:10:00.000',
      'beta 10:10:00.000',
      'acme 10:15:00.000',
      'acme 10:20:00.000',
      'beta 10:20:00.000',
    ]);
    expect(new Set(started.map(({ trigger }) => trigger))).toEqual(new Set(['schedule']));
  });

  it('are delayed by jitter of at most a tenth of the interval', async () => {
    const chances = [0, 0.5, 0.999];
    const { clock, scheduler, started } = setUp(T0, () => chances.shift() ?? 0);
    scheduler.update([
      account('a', { jitterMs: HOUR }),
      account('b', { jitterMs: 10_000 }),
      account('c', { jitterMs: HOUR }),
    ]);
    await clock.pass(6 * MINUTE);
    expect(started.map(({ account: name, at }) => [name, at])).toEqual([
      ['a', '10:05:00.000'],
      ['b', '10:05:05.000'],
      ['c', '10:05:29.970'],
    ]);
  });

  it('during a run of the account are counted as skipped and not repeated', async () => {
    const { clock, scheduler, started, busy, skipped } = setUp();
    scheduler.update([account('acme')]);
    busy.add('acme');
    await clock.pass(11 * MINUTE);
    busy.clear();
    await clock.pass(4 * MINUTE);
    expect(skipped).toEqual(['acme', 'acme']);
    expect(started.map(({ at }) => at)).toEqual(['10:15:00.000']);
  });

  it('that are late because the process was suspended still start a run', async () => {
    const { clock, scheduler, started } = setUp();
    scheduler.update([account('acme')]);
    await clock.pass(4 * MINUTE);
    clock.set(T0 + 5 * MINUTE + 20_000);
    await clock.pass(1000);
    expect(started).toEqual([
      { account: 'acme', at: expect.stringMatching(/^10:05:2/), trigger: 'schedule' },
    ]);
  });
});

describe('a clock that is set', () => {
  it('by the sleep of the machine starts one catch-up of each account, and then its ticks', async () => {
    const { clock, scheduler, started } = setUp();
    scheduler.update([account('acme'), account('beta')]);
    await clock.pass(MINUTE);
    clock.set(T0 + 8 * HOUR + 2 * MINUTE);
    await clock.pass(1000);
    expect(started.map(({ account: name, trigger }) => [name, trigger])).toEqual([
      ['acme', 'catch_up'],
      ['beta', 'catch_up'],
    ]);
    await clock.pass(4 * MINUTE);
    expect(started.slice(2).map(({ account: name, at }) => [name, at.slice(0, 5)])).toEqual([
      ['acme', '18:05'],
      ['beta', '18:05'],
    ]);
  });

  it('back by an hour does not stop the schedules for that hour', async () => {
    const { clock, log, scheduler, started } = setUp();
    scheduler.update([account('acme')]);
    await clock.pass(6 * MINUTE);
    clock.set(T0 - HOUR + 6 * MINUTE);
    await clock.pass(10 * MINUTE);
    expect(started.map(({ at }) => at.slice(0, 5))).toEqual(['10:05', '09:10', '09:15']);
    expect(log.events).toContain('clock_set_back');
  });

  it('forward by an hour starts one catch-up', async () => {
    const { clock, scheduler, started } = setUp();
    scheduler.update([account('acme')]);
    await clock.pass(6 * MINUTE);
    clock.set(T0 + HOUR + 6 * MINUTE);
    await clock.pass(5 * MINUTE);
    expect(started.map(({ at, trigger }) => [at.slice(0, 5), trigger])).toEqual([
      ['10:05', 'schedule'],
      ['11:06', 'catch_up'],
      ['11:10', 'schedule'],
    ]);
  });

  it('by daylight saving time starts one hourly run in each hour around the change', async () => {
    for (const [timezone, change] of [
      ['Europe/Berlin', '2026-03-29T01:00:00Z'],
      ['America/New_York', '2026-11-01T06:00:00Z'],
      ['Australia/Sydney', '2026-04-04T16:00:00Z'],
    ] as const) {
      const { clock, scheduler, started } = setUp(Date.parse(change) - 3 * HOUR - 1);
      scheduler.update([account('acme', { schedule: '0 * * * *', timezone })]);
      await clock.pass(6 * HOUR);
      expect([timezone, started.length]).toEqual([timezone, 6]);
    }
  });
});

describe('failures of an account', () => {
  /** Ends every run that starts as a failure, for `ms` milliseconds. */
  async function failFor(ms: number, name: string, { clock, scheduler, started }: ReturnType<typeof setUp>) {
    let failures = 0;
    for (let passed = 0; passed < ms; passed += MINUTE) {
      const before = started.length;
      await clock.pass(MINUTE);
      if (started.length > before) scheduler.ended(name, (failures += 1));
    }
  }

  it('double the interval of the account up to an hour, and delay no other account', async () => {
    const stage = setUp();
    stage.scheduler.update([account('acme'), account('beta')]);
    await failFor(5 * HOUR, 'acme', stage);
    const minutes = stage.started
      .filter(({ account: name }) => name === 'acme')
      .map(({ at }) => Number(at.slice(0, 2)) * 60 + Number(at.slice(3, 5)));
    const gaps = minutes.slice(1).map((minute, index) => minute - (minutes[index] ?? 0));
    expect(gaps.length).toBeGreaterThan(4);
    expect(gaps.every((gap, index) => gap >= Math.min(60, 5 * 2 ** index))).toBe(true);
    expect(Math.max(...gaps)).toBe(60);
    expect(stage.started.filter(({ account: name }) => name === 'beta')).toHaveLength(60);
  });

  it('do not make an account with a long interval run less often', async () => {
    const stage = setUp();
    stage.scheduler.update([account('acme', { schedule: '0 */2 * * *' })]);
    await failFor(16 * HOUR, 'acme', stage);
    expect(stage.started).toHaveLength(8);
  });

  it('are forgotten after a success, and when the file of the account changes', async () => {
    const { clock, scheduler, started } = setUp();
    scheduler.update([account('acme')]);
    await clock.pass(5 * MINUTE);
    scheduler.ended('acme', 5);
    expect(scheduler.backoffUntilMs('acme')).toBe(T0 + 65 * MINUTE);
    expect(scheduler.nextRunMs('acme')).toBe(T0 + 65 * MINUTE);
    scheduler.update([account('acme', { revision: 'mended' })]);
    expect(scheduler.backoffUntilMs('acme')).toBeNull();
    await clock.pass(5 * MINUTE);
    scheduler.ended('acme', 5);
    await clock.pass(10 * MINUTE);
    expect(started).toHaveLength(2);
    scheduler.ended('acme', 0);
    await clock.pass(5 * MINUTE);
    expect(started).toHaveLength(3);
  });
});

describe('a change of the configuration', () => {
  it('takes effect at once, and keeps the ticks of unchanged accounts', async () => {
    const { clock, scheduler, started } = setUp();
    scheduler.update([account('acme'), account('beta')]);
    await clock.pass(2 * MINUTE);
    scheduler.update([account('acme'), account('gamma', { schedule: '*/3 * * * *' })]);
    await clock.pass(3 * MINUTE);
    expect(started.map(({ account: name, at }) => `${name} ${at.slice(0, 5)}`)).toEqual([
      'gamma 10:03',
      'acme 10:05',
    ]);
    expect(scheduler.nextRunMs('beta')).toBeNull();
  });

  it('of other settings than the schedule keeps a tick that waits for its jitter', async () => {
    const { clock, scheduler, started } = setUp(T0, () => 0.9);
    scheduler.update([account('acme', { jitterMs: 30_000 })]);
    await clock.pass(5 * MINUTE + 10_000);
    scheduler.update([account('acme', { jitterMs: 30_000, revision: 'new names' })]);
    await clock.pass(30_000);
    expect(started.map(({ at }) => at)).toEqual(['10:05:27.000']);
  });

  it('of other settings than the schedule keeps the tick that the waiting run is for', async () => {
    const { clock, scheduler } = setUp(T0, () => 0.9);
    scheduler.update([account('acme', { jitterMs: 30_000 })]);
    await clock.pass(5 * MINUTE + 10_000);
    scheduler.update([account('acme', { jitterMs: 30_000, revision: 'new names' })]);
    expect(scheduler.lastTickMs('acme')).toBe(T0 + 5 * MINUTE);
  });

  it('does not hide a tick that was missed since the last run', async () => {
    const { scheduler } = setUp();
    scheduler.update([account('acme', { schedule: '0 * * * *' })]);
    expect(scheduler.takeMissedTick('acme', T0 - 30 * MINUTE)).toBe(true);
    expect(scheduler.lastTickMs('acme')).toBe(T0);
    expect(scheduler.takeMissedTick('acme', T0 + 1)).toBe(false);
  });
});

describe('several ticks that were missed in a sleep', () => {
  it('start one run, for the latest of them', async () => {
    const { clock, scheduler, started } = setUp();
    scheduler.update([account('acme')]);
    clock.set(T0 + 17 * MINUTE);
    await clock.pass(1000);
    expect(started.map(({ trigger }) => trigger)).toEqual(['catch_up']);
    expect(scheduler.lastTickMs('acme')).toBe(T0 + 15 * MINUTE);
  });
});
