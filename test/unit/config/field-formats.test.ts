import fc from 'fast-check';
import cron from 'node-cron';
import { describe, expect, test } from 'vitest';
import { parseBaseUrl, parseListen } from '../../../src/config/addresses.ts';
import {
  isCalendarDate,
  isInstant,
  isTimezone,
  cronProblem,
} from '../../../src/config/dates-and-schedules.ts';
import { words } from './workspace.ts';

describe('a cron line', () => {
  const VALID =
    '* * * * * | */15 * * * * | 0 0 * * * | 0 9-17/2 * * MON-FRI | 0,30 8 1,15 JAN,jul * | 0 0 29 2 * | 0 0 31 * 7 | ' +
    '*/59 */23 */31 */12 */7 | 0 0 0 * * * | 59 59 23 31 12 0 | 0 0 31 1 MON |  0  0 * * *  | 0 0 * * SUN,6';
  test.each(VALID.split(' | '))('can be %j, and the scheduler accepts it', (line) => {
    expect(cronProblem(line)).toBeUndefined();
    expect(cron.validate(line.trim())).toBe(true);
  });

  const INVALID =
    ' | * | * * * * | * * * * * * * | @daily | */70 * * * * | */0 * * * * | 60 * * * * | * 24 * * * | * * 0 * * | ' +
    '* * 32 * * | * * * 13 * | * * * * 8 | 5-1 * * * * | 1-70 * * * * | 1/5 * * * * | 1,,2 * * * * | 1- * * * * | ' +
    '-1 * * * * | 1.5 * * * * | * * L * * | * * ? * * | * * * FOO * | * * * * FRI-MON | *-5 * * * * | 0 0 30 2 * | ' +
    '0 0 31 4,6 * | 1;2 * * * * | ١ * * * * | 0 0 1 1JAN * | 0 0 1 * SUN1';
  test.each(INVALID.split(' | '))('cannot be %j', (line) => {
    expect(cronProblem(line)).toMatch(/\S/u);
  });

  test('that is accepted is accepted by the scheduler too', () => {
    const item = (min: number, max: number) =>
      fc.oneof(
        fc.constant('*'),
        fc.integer({ min: min - 2, max: max + 2 }).map(String),
        fc.tuple(fc.integer({ min, max }), fc.integer({ min, max })).map(([a, b]) => `${a}-${b}`),
        fc.integer({ min: 0, max: max + 2 }).map((step) => `*/${step}`),
      );
    const field = (min: number, max: number) =>
      fc.array(item(min, max), { minLength: 1, maxLength: 3 }).map((items) => items.join(','));
    fc.assert(
      fc.property(field(0, 59), field(0, 23), field(1, 31), field(1, 12), field(0, 7), (...fields) => {
        const line = fields.join(' ');
        fc.pre(cronProblem(line) === undefined);
        expect(cron.validate(line)).toBe(true);
      }),
    );
  });
});

describe('the calendar', () => {
  test.each(['2026-12-31', '2028-02-29', '0099-01-01'])('has %s', (date) =>
    expect(isCalendarDate(date)).toBe(true),
  );
  const NO_DATES = '2026-02-29 2026-00-01 2026-13-01 2026-1-1 26-01-01 2026-04-31 2026-01-00';
  test.each([...words(NO_DATES), ''])('does not have %j', (date) => {
    expect(isCalendarDate(date)).toBe(false);
  });
  test.each(['2026-12-24T18:00Z', '2026-12-24T18:00:00.5+01:00'])('has the instant %s', (text) =>
    expect(isInstant(text)).toBe(true),
  );
  test.each(['2026-12-24T18:00', '2026-12-24T24:00Z', '2026-02-30T00:00Z', '2026-12-24'])(
    'does not have the instant %s',
    (text) => {
      expect(isInstant(text)).toBe(false);
    },
  );
  test('accepts the time zones of the machine, and no offsets', () => {
    expect(['Etc/UTC', 'UTC', 'Asia/Jerusalem'].map(isTimezone)).toEqual([true, true, true]);
    expect(['Mars/Base', '+02:00', '', 'Europe'].map(isTimezone)).toEqual([false, false, false, false]);
  });
});

describe('the address', () => {
  test.each([
    ['https://x.example.com/', 'https://x.example.com'],
    ['HTTPS://X.example.com:443//', 'https://x.example.com'],
    ['https://x.example.com/a/b/', 'https://x.example.com/a/b'],
    ['http://127.0.0.1:8080', 'http://127.0.0.1:8080'],
  ])('%s is normalised to %s', (text, value) => expect(parseBaseUrl(text)).toEqual({ value }));

  const NO_ADDRESSES = 'x https:/x https:// https:\\\\x https://@x https://x? https://x# https://x:99999';
  const long = `https://a.example.com/${'a'.repeat(1979)}`;
  test.each(['', 'https://x y', ' https://x', long, ...words(NO_ADDRESSES)])(
    '%j is not a base address',
    (text) => expect(parseBaseUrl(text)).toHaveProperty('problem'),
  );

  test.each(['127.0.0.1:0', '[::1]:65535', 'host-1.example.com:80'])(
    '%s is a valid listen address',
    (text) => {
      expect(parseListen(text)).toHaveProperty('value');
    },
  );
  test.each(['8080', '::1:80', '[::1]', 'host:', 'host:x', '[zz]:1', '256.0.0.1:1', 'a b:1', 'http://x:1'])(
    '%s is not a valid listen address',
    (text) => {
      expect(parseListen(text)).toHaveProperty('problem');
    },
  );
});
