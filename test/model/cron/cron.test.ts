// The daemon's computation of ticks against an oracle that tries every moment, around the days on which clocks change.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { cronTicked, nextTickMs } from '../../../src/daemon/cron.ts';
import { runsOf } from '../campaign.ts';
import { ticksBetween } from './cron-oracle.ts';
import { CHANGES, LINES, ZONES } from './times.ts';

const HOUR = 3_600_000;

const field = (min: number, max: number): fc.Arbitrary<string> =>
  fc.oneof(
    { weight: 3, arbitrary: fc.constant('*') },
    fc.integer({ min, max }).map(String),
    fc.integer({ min: 2, max: Math.max(2, Math.floor(max / 2)) }).map((step) => `*/${String(step)}`),
    fc
      .tuple(fc.integer({ min, max }), fc.integer({ min, max }))
      .map(([a, b]) => `${String(Math.min(a, b))}-${String(Math.max(a, b))}`),
    fc
      .uniqueArray(fc.integer({ min, max }), { minLength: 2, maxLength: 4 })
      .map((values) => values.join(',')),
  );

const line: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(...LINES),
  fc
    .tuple(field(0, 59), field(0, 5), field(1, 28), fc.constant('*'), field(0, 6))
    .map((parts) => parts.join(' ')),
  fc
    .tuple(field(0, 59), fc.constantFrom('*', '*/2', '1', '2', '0-3'), fc.constant('* * *'))
    .map((parts) => parts.join(' ')),
);

it('nextTickMs and cronTicked agree with the cron oracle, from any moment on', () => {
  const moment = fc
    .tuple(
      fc.constantFrom(...CHANGES.map((iso) => Date.parse(iso))),
      fc.integer({ min: -30 * HOUR, max: 30 * HOUR }),
    )
    .map(([change, away]) => change + away);
  fc.assert(
    fc.property(
      line,
      fc.constantFrom(...ZONES),
      moment,
      fc.integer({ min: 1, max: 30 * HOUR }),
      (cron, zone, fromMs, forMs) => {
        const expected = ticksBetween(cron, zone, fromMs, fromMs + forMs);
        const found: number[] = [];
        for (let ms = nextTickMs(cron, zone, fromMs); ms !== null && ms <= fromMs + forMs;) {
          found.push(ms);
          ms = nextTickMs(cron, zone, ms);
        }
        expect(found.map(iso)).toEqual(expected.map(iso));
        expect(cronTicked(cron, zone, fromMs, fromMs + forMs)).toBe(expected.length > 0);
      },
    ),
    { seed: Number(process.env['ROLECALL_MODEL_SEED'] ?? 1), numRuns: runsOf(150) },
  );
}, 600_000);

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
