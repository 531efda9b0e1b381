// What holds for every load of a damaged file: each problem is reported with a place and a fix, and nothing is lost.
// ROLECALL_FUZZ_SEED tries other files than the usual ones, ROLECALL_FUZZ_RUNS more of them.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { TARGETS, judge, mutant, damaged } from '../support/mutants.ts';
import { times } from '../support/thorough.ts';

const seed = Number(process.env['ROLECALL_FUZZ_SEED'] ?? 20260615);
const numRuns = Number(process.env['ROLECALL_FUZZ_RUNS'] ?? times(100, 2000));

it('a damaged file is reported with the place of the problem and a fix, or is read as it is written', async () => {
  const begin = process.cpuUsage();
  await fc.assert(
    fc.asyncProperty(mutant, async (mutation) => {
      const { complaints } = await judge(mutation.target, damaged(mutation));
      expect(complaints).toEqual([]);
    }),
    { seed, numRuns },
  );
  // About 2 ms each.
  expect(process.cpuUsage(begin).user / 1e6).toBeLessThan(30 * Math.max(1, numRuns / 300));
});

it.each(TARGETS)('%s is reported or read correctly wherever it is cut off', async (target) => {
  const whole = damaged({ target, steps: [] });
  // Only some places; the long tests cut at every byte.
  const step = times(Math.ceil(whole.length / 40), 1);
  for (let end = 0; end <= whole.length; end += step) {
    const { complaints } = await judge(target, whole.subarray(0, end));
    expect(complaints).toEqual([]);
  }
});
