// What holds for every load, however a real file was spoilt: an answer, with a place and a mend, and nothing lost.
// ROLECALL_FUZZ_SEED tries other files than the usual ones; test/long/configuration.test.ts tries many more.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { TARGETS, judge, mutant, spoilt } from '../support/mutants.ts';

const seed = Number(process.env['ROLECALL_FUZZ_SEED'] ?? 20260615);

it('a spoilt file is told where it is wrong and how to mend it, or is read as it is written', async () => {
  const begin = process.cpuUsage();
  await fc.assert(
    fc.asyncProperty(mutant, async (spoiling) => {
      const { complaints } = await judge(spoiling.target, spoilt(spoiling));
      expect(complaints).toEqual([]);
    }),
    { seed, numRuns: 300 },
  );
  // Some 2 ms each.
  expect(process.cpuUsage(begin).user / 1e6).toBeLessThan(30);
});

it.each(TARGETS)('%s may be cut off anywhere', async (target) => {
  const whole = spoilt({ target, steps: [] });
  // Here and there; at every byte in test/long.
  const step = Math.ceil(whole.length / 120);
  for (let end = 0; end <= whole.length; end += step) {
    const { complaints } = await judge(target, whole.subarray(0, end));
    expect(complaints).toEqual([]);
  }
});
