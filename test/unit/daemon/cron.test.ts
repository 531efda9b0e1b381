// When a cron line ticks: after any moment, on the days when a time zone changes its offset, and far in the future.
import { createTask } from 'node-cron';
import { describe, expect, it } from 'vitest';
import { cronTicked, gapsMs, nextTickMs, nextTimes } from '../../../src/daemon/cron.ts';

function ticks(cron: string, timezone: string, from: string, to: string): string[] {
  const found: string[] = [];
  const toMs = Date.parse(to);
  for (let ms = nextTickMs(cron, timezone, Date.parse(from)); ms !== null && ms <= toMs;) {
    found.push(new Date(ms).toISOString());
    ms = nextTickMs(cron, timezone, ms);
  }
  return found;
}

describe('a cron line on an ordinary day', () => {
  it.each([
    ['*/15 * * * *', 'Etc/UTC', '2026-06-01T10:01:30Z', '2026-06-01T10:15:00.000Z'],
    ['*/15 * * * *', 'Etc/UTC', '2026-06-01T10:15:00Z', '2026-06-01T10:30:00.000Z'],
    ['*/15 * * * *', 'Etc/UTC', '2026-06-01T10:14:59.999Z', '2026-06-01T10:15:00.000Z'],
    ['0 8 * * *', 'Europe/Berlin', '2026-06-01T10:00:00Z', '2026-06-02T06:00:00.000Z'],
    ['30 23 * * *', 'Asia/Kolkata', '2026-06-01T10:00:00Z', '2026-06-01T18:00:00.000Z'],
    ['*/10 * * * * *', 'Etc/UTC', '2026-06-01T10:00:05.500Z', '2026-06-01T10:00:10.000Z'],
    ['0 0 1 1 *', 'America/New_York', '2026-06-01T00:00:00Z', '2027-01-01T05:00:00.000Z'],
    ['0 9 * * 1-5', 'Etc/UTC', '2026-06-05T09:00:00Z', '2026-06-08T09:00:00.000Z'],
    ['0 9 * * SUN', 'Etc/UTC', '2026-06-05T09:00:00Z', '2026-06-07T09:00:00.000Z'],
    ['0 9 * * 7', 'Etc/UTC', '2026-06-05T09:00:00Z', '2026-06-07T09:00:00.000Z'],
    ['0 0 29 2 *', 'Etc/UTC', '2026-06-05T09:00:00Z', '2028-02-29T00:00:00.000Z'],
  ])('%s in %s ticks after %s at %s', (cron, timezone, from, expected) => {
    const next = nextTickMs(cron, timezone, Date.parse(from));
    expect(new Date(next ?? 0).toISOString()).toBe(expected);
  });

  it('ticks at the same times as node-cron', () => {
    const now = Date.now();
    const cases = [
      '*/7 * * * *',
      '3 */5 * * *',
      '0 0 * * *',
      '15 10 5 * *',
      '*/20 30 4 * * *',
      '0 12 * 3,9 *',
    ];
    for (const cron of cases) {
      for (const timezone of ['Etc/UTC', 'Asia/Tokyo', 'America/Phoenix']) {
        const task = createTask(cron, () => undefined, { timezone });
        expect(nextTimes(cron, timezone, 5, now)).toEqual(task.getNextRuns(5));
        void task.destroy();
      }
    }
  });

  it('ticks when one of two restricted day fields matches, as in cron', () => {
    expect(ticks('0 0 13 * FRI', 'Etc/UTC', '2026-11-01T00:00:00Z', '2026-11-21T00:00:00Z')).toEqual([
      '2026-11-06T00:00:00.000Z',
      '2026-11-13T00:00:00.000Z',
      '2026-11-20T00:00:00.000Z',
    ]);
  });

  it('has the expected gaps between its ticks, and reports whether it ticked within a window', () => {
    expect(gapsMs('*/5 * * * *', 'Etc/UTC', Date.parse('2026-06-01T10:01:00Z'))[0]).toBe(300_000);
    const workdays = gapsMs('0 8 * * 1-5', 'Etc/UTC', Date.parse('2026-06-01T10:01:00Z'));
    expect(Math.max(...workdays)).toBe(3 * 86_400_000);
    const atMs = Date.parse('2026-06-01T10:00:00Z');
    expect(cronTicked('0 10 * * *', 'Etc/UTC', atMs - 1, atMs)).toBe(true);
    expect(cronTicked('0 10 * * *', 'Etc/UTC', atMs, atMs + 1000)).toBe(false);
  });
});

describe('on the day when clocks go forward', () => {
  it.each([
    // 02:00 becomes 03:00 at 01:00 UTC.
    ['Europe/Berlin', '2026-03-28T23:30:00Z', '2026-03-29T01:30:00.000Z', '2026-03-30T00:30:00.000Z'],
    // 02:00 becomes 03:00 at 07:00 UTC.
    ['America/New_York', '2026-03-08T05:30:00Z', '2026-03-08T07:30:00.000Z', '2026-03-09T06:30:00.000Z'],
    // 02:00 becomes 03:00 at 16:00 UTC of the day before.
    ['Australia/Sydney', '2026-10-03T14:30:00Z', '2026-10-03T16:30:00.000Z', '2026-10-04T15:30:00.000Z'],
  ])('a time that %s skips ticks once, later by the skipped time', (timezone, from, first, second) => {
    const to = new Date(Date.parse(second) + 1).toISOString();
    expect(ticks('30 2 * * *', timezone, from, to)).toEqual([first, second]);
  });

  it.each(['Europe/Berlin', 'America/New_York', 'Australia/Sydney'])(
    'every quarter of an hour that passes in %s ticks once',
    (timezone) => {
      const [from, to] = ['2026-03-01T00:00:00Z', '2026-04-10T00:00:00Z'];
      const all = ticks('*/15 * * * *', timezone, from, to).map((iso) => Date.parse(iso));
      expect(all.length).toBe((Date.parse(to) - Date.parse(from)) / 900_000);
      expect(all.every((ms, index) => index === 0 || ms - (all[index - 1] ?? 0) === 900_000)).toBe(true);
    },
  );

  it('a line with the skipped and the next hour ticks once at the moment of both', () => {
    expect(ticks('30 2,3 * * *', 'Europe/Berlin', '2026-03-29T00:00:00Z', '2026-03-29T12:00:00Z')).toEqual([
      '2026-03-29T01:30:00.000Z',
    ]);
  });
});

describe('in the hour after a skipped hour', () => {
  it('every skipped time of a line ticks, not only the first', () => {
    expect(ticks('*/20 2 * * *', 'Europe/Berlin', '2026-03-29T00:00:00Z', '2026-03-29T12:00:00Z')).toEqual([
      '2026-03-29T01:00:00.000Z',
      '2026-03-29T01:20:00.000Z',
      '2026-03-29T01:40:00.000Z',
    ]);
  });

  it('a skipped time also ticks for a daemon that starts after the change', () => {
    const next = nextTickMs('30 2 * * *', 'Europe/Berlin', Date.parse('2026-03-29T01:05:00Z'));
    expect(new Date(next ?? 0).toISOString()).toBe('2026-03-29T01:30:00.000Z');
  });

  it('skipped and ordinary times tick in order, also where half an hour is skipped', () => {
    // 02:00 becomes 02:30 at 15:30 UTC.
    expect(
      ticks('15,35 * * * *', 'Australia/Lord_Howe', '2026-10-03T15:00:00Z', '2026-10-03T16:30:00Z'),
    ).toEqual([
      '2026-10-03T15:05:00.000Z',
      '2026-10-03T15:35:00.000Z',
      '2026-10-03T15:45:00.000Z',
      '2026-10-03T16:15:00.000Z',
    ]);
  });
});

describe('on the day when clocks go back', () => {
  it.each([
    ['Europe/Berlin', '2026-10-24T22:00:00Z', '2026-10-25T00:30:00.000Z', '2026-10-26T01:30:00.000Z'],
    ['America/New_York', '2026-11-01T04:00:00Z', '2026-11-01T05:30:00.000Z', '2026-11-02T06:30:00.000Z'],
    ['Australia/Sydney', '2026-04-04T13:00:00Z', '2026-04-04T15:30:00.000Z', '2026-04-05T16:30:00.000Z'],
  ])('a time that occurs twice in %s ticks once', (timezone, from, first, second) => {
    const hour = timezone === 'America/New_York' ? 1 : 2;
    const to = new Date(Date.parse(second) + 1).toISOString();
    expect(ticks(`30 ${hour} * * *`, timezone, from, to)).toEqual([first, second]);
  });

  it('a time that has occurred once does not tick when it occurs again', () => {
    const next = nextTickMs('30 2 * * *', 'Europe/Berlin', Date.parse('2026-10-25T01:05:00Z'));
    expect(new Date(next ?? 0).toISOString()).toBe('2026-10-26T01:30:00.000Z');
  });

  it.each(['Europe/Berlin', 'America/New_York', 'Australia/Sydney'])(
    'every hour that passes in %s ticks once',
    (timezone) => {
      for (const cron of ['0 * * * *', '*/20 * * * *']) {
        const everyMs = cron.startsWith('0') ? 3_600_000 : 1_200_000;
        for (const [from, to] of [
          ['2026-03-30T00:00:00Z', '2026-04-12T00:00:00Z'],
          ['2026-10-20T00:00:00Z', '2026-11-10T00:00:00Z'],
        ] as const) {
          const all = ticks(cron, timezone, from, to).map((iso) => Date.parse(iso));
          expect(all.length).toBe((Date.parse(to) - Date.parse(from)) / everyMs);
          expect(all.every((ms, index) => index === 0 || ms - (all[index - 1] ?? 0) === everyMs)).toBe(true);
        }
      }
    },
  );
});
