// The moment that an option names.
import { expect, it } from 'vitest';
import { moment } from '../../../src/cli/option-values.ts';

it.each([
  ['2026-03-31', '2026-03-31T23:59:59.999Z'],
  ['2024-02-29', '2024-02-29T23:59:59.999Z'],
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
  'yesterday',
  '2026-03-31T25:00',
  '2026-02-30T10:00Z',
  '',
  '2026-03-31T',
])('a moment is not read from %j', (text) => {
  expect(() => moment(text)).toThrow(/Use a date such as/);
});
