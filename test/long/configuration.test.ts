// The property of test/property/configuration.test.ts for many more damaged files, and for every prefix of every file.
// ROLECALL_FUZZ_RUNS sets how many, ROLECALL_FUZZ_SEED which.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { TARGETS, judge, mutant, damaged } from '../support/mutants.ts';

const runs = Number(process.env['ROLECALL_FUZZ_RUNS'] ?? 20_000);
const seed = Number(process.env['ROLECALL_FUZZ_SEED'] ?? Date.now());
/** Of processor time, for one load of a few small files. */
const MAX_MS = 2000;

it(
  `${runs} damaged files are reported with position and advice, or are read as written (seed ${seed})`,
  { timeout: 60 * 60_000 },
  async () => {
    const counts = new Map<string, { refused: number; valid: number }>();
    await fc.assert(
      fc.asyncProperty(mutant, async (damage) => {
        const begin = process.cpuUsage();
        const { loaded, complaints } = await judge(damage.target, damaged(damage));
        const { user, system } = process.cpuUsage(begin);
        expect(complaints).toEqual([]);
        expect((user + system) / 1000).toBeLessThan(MAX_MS);
        const outcome = loaded.issues.some(({ severity }) => severity === 'error') ? 'refused' : 'valid';
        for (const kind of new Set(damage.steps.map(([name]) => name))) {
          const count = counts.get(kind) ?? { refused: 0, valid: 0 };
          count[outcome] += 1;
          counts.set(kind, count);
        }
      }),
      { seed, numRuns: runs },
    );
    console.table(Object.fromEntries(counts));
  },
);

it.each(TARGETS)(
  'every prefix of %s is reported with position and advice, or is read as written',
  async (target) => {
    const complete = damaged({ target, steps: [] });
    for (let end = 0; end <= complete.length; end += 1) {
      const { complaints } = await judge(target, complete.subarray(0, end));
      expect(complaints).toEqual([]);
    }
  },
);
