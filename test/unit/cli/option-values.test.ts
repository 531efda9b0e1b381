// The moment that an option names.
import { expect, it } from 'vitest';
import { moment, parseMoment } from '../../../src/cli/command-line.ts';

it.each([
  ['2026-03-31', '2026-03-31T00:00:00.000Z'],
  ['2024-02-29', '2024-02-29T00:00:00.000Z'],
  ['2026-03-31T14:00', '2026-03-31T14:00:00.000Z'],
  ['2026-03-31 14:00:05', '2026-03-31T14:00:05.000Z'],
  ['2026-03-31t14:00:05.25z', '2026-03-31T14:00:05.250Z'],
  ['2026-03-31T14:00+02:00', '2026-03-31T12:00:00.000Z'],
])('a moment is read from %s as %s', (text, expected) => {
  expect(new Date(moment(text)).toISOString()).toBe(expected);
});

it.each([
  '2026-02-30',
  '2026-13-01',
  '2026-3-1',
  'tomorrow',
  '019d',
  '7',
  '2026-03-31T25:00',
  '2026-02-30T10:00Z',
  '',
  '2026-03-31T',
])('a moment is not read from %j', (text) => {
  expect(() => moment(text)).toThrow(/Use a date such as/);
});

it.each([
  ['now', '2026-03-10T12:34:56.000Z'],
  ['yesterday', '2026-03-09T00:00:00.000Z'],
  ['7d', '2026-03-03T12:34:56.000Z'],
  ['90m', '2026-03-10T11:04:56.000Z'],
])('the moment %s is counted from now: %s', (text, expected) => {
  const nowMs = Date.parse('2026-03-10T12:34:56Z');
  expect(new Date(parseMoment(text, nowMs) ?? 0).toISOString()).toBe(expected);
});
