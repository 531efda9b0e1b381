// Twenty thousand random HTTP requests against daemons with a token, with a read-only token, and without one.
import { expect, test } from 'vitest';
import { fuzz } from '../support/http-fuzz.ts';

const SEED = Number(process.env['ROLECALL_FUZZ_SEED'] ?? 20_261_122);

test.each([
  ['stranger', 8000],
  ['reader', 6000],
  ['local', 6000],
] as const)(
  'random requests of a %s reveal and change nothing that is forbidden, and never block the event loop for 250 ms',
  async (who, count) => {
    const result = await fuzz(who, count, SEED);
    console.log(`${who}: ${JSON.stringify(result)}`);
    expect(result.sent).toBe(count);
    expect(result.answered).toBeGreaterThan(count / 2);
    expect(result.loopMs).toBeLessThan(250 + result.health.idleMs);
    // Less than 250 ms as well on a quiet machine.
    expect(result.health.worst).toBeLessThan(1500);
  },
);
