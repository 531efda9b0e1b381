// A few hundred random HTTP requests; test/long/ sends twenty thousand.
import { expect, test } from 'vitest';
import { fuzz } from '../support/http-fuzz.ts';
import { someOf } from '../support/thorough.ts';

const SENDERS = [
  ['stranger', 250, 1],
  ['reader', 150, 2],
  ['local', 150, 3],
] as const;

test.each(someOf(SENDERS, 2))(
  'random requests of a %s reveal and change nothing that is forbidden, and do not stop the daemon',
  async (who, count, seed) => {
    const { health, answered, loopMs } = await fuzz(who, count, seed);
    expect(answered).toBeGreaterThan(count / 2);
    expect(loopMs).toBeLessThan(1000);
    // A quarter of a second on a quiet machine; other tests use the processors at the same time.
    expect(health.worst).toBeLessThan(1500);
  },
);
