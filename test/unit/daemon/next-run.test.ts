// When the next run of an account starts, as far as the journal shows it.
import { expect, it } from 'vitest';
import { nextRun } from '../../../src/daemon/next-run.ts';

const NOON = Date.parse('2026-03-10T12:00:00Z');
const MINUTE = 60_000;
const LINE = { schedule: '*/15 * * * *', timezone: 'Etc/UTC', jitterMs: 30_000 };

function next(failures: number, line: Partial<typeof LINE> = {}, startedMs = NOON + 5000) {
  const found = nextRun({ ...LINE, ...line }, { failures, lastStartedMs: startedMs }, NOON + MINUTE);
  if (found === null) throw new Error('it never ticks');
  return { ...found, atMs: (found.atMs - NOON) / MINUTE };
}

it('the next run is the next tick of the cron line, with a jitter of at most a tenth of its interval', () => {
  expect(next(0)).toEqual({ atMs: 15, jitterMs: 30_000, isBackingOff: false });
  expect(next(1, { schedule: '* * * * *' })).toEqual({ atMs: 2, jitterMs: 6000, isBackingOff: false });
  expect(next(0, { schedule: '0 9 * * *', timezone: 'America/New_York' }).atMs).toBe(60);
});

it('the next run is later after failures in a row: the interval doubles with each, up to an hour', () => {
  // The failed run started at the tick of 12:00, with its jitter.
  expect([2, 3, 4, 40].map((failures) => next(failures).atMs)).toEqual([30, 60, 60, 60]);
  expect(next(2).isBackingOff).toBe(true);
  expect(next(5, { schedule: '0 */2 * * *' })).toMatchObject({ atMs: 120, isBackingOff: false });
  // The backoff is over when the daemon did not run for long.
  expect(next(3, {}, NOON - 600 * MINUTE)).toMatchObject({ atMs: 15, isBackingOff: false });
});
