// The property of test/property/configuration.test.ts over many more spoilt files, and every file cut at every byte.
// ROLECALL_FUZZ_RUNS says how many, ROLECALL_FUZZ_SEED which.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { TARGETS, judge, mutant, spoilt } from '../support/mutants.ts';

const runs = Number(process.env['ROLECALL_FUZZ_RUNS'] ?? 20_000);
const seed = Number(process.env['ROLECALL_FUZZ_SEED'] ?? Date.now());
/** Of processor time, for one load of a few small files. */
const MAX_MS = 2000;

it(
  `${runs} spoilt files are told where they are wrong and how to mend it, or are read as they are written (seed ${seed})`,
  { timeout: 60 * 60_000 },
  async () => {
    const counts = new Map<string, { refused: number; sound: number }>();
    await fc.assert(
      fc.asyncProperty(mutant, async (spoiling) => {
        const begin = process.cpuUsage();
        const { loaded, complaints } = await judge(spoiling.target, spoilt(spoiling));
        const { user, system } = process.cpuUsage(begin);
        expect(complaints).toEqual([]);
        expect((user + system) / 1000).toBeLessThan(MAX_MS);
        const outcome = loaded.issues.some(({ severity }) => severity === 'error') ? 'refused' : 'sound';
        for (const kind of new Set(spoiling.steps.map(([name]) => name))) {
          const count = counts.get(kind) ?? { refused: 0, sound: 0 };
          count[outcome] += 1;
          counts.set(kind, count);
        }
      }),
      { seed, numRuns: runs },
    );
    console.table(Object.fromEntries(counts));
  },
);

it.each(TARGETS)('%s may be cut off at every byte', async (target) => {
  const whole = spoilt({ target, steps: [] });
  for (let end = 0; end <= whole.length; end += 1) {
    const { complaints } = await judge(target, whole.subarray(0, end));
    expect(complaints).toEqual([]);
  }
});
