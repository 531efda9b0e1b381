// Times relative to now.
import { expect, it } from 'vitest';
import { relativeTime } from '../../../src/report/formatting.ts';

const NOW = Date.parse('2026-11-22T12:00:00.000Z');
const iso = (ms: number) => new Date(NOW + ms).toISOString();

it.each([
  [0, 'now'],
  [-999, 'now'],
  [999, 'now'],
  [-1000, '1 s ago'],
  [-59_999, '59 s ago'],
  [-60_000, '1 min ago'],
  [-3_599_999, '59 min ago'],
  [-7_200_000, '2 h ago'],
  [-86_400_000, '1 d ago'],
  [-400 * 86_400_000, '400 d ago'],
  [90_000, 'in 1 min'],
  [3_600_000, 'in 1 h'],
])('a time %i ms from now is “%s”', (ms, text) => {
  expect(relativeTime(iso(ms), NOW)).toBe(text);
});

it('text that is not a time is returned unchanged', () => {
  expect(relativeTime('soon', NOW)).toBe('soon');
});
