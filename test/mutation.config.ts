// The tests that mutation tests run: those of the core and of the code that writes, the same ones every time.
import type { TestSpecification } from 'vitest/node';
import { BaseSequencer } from 'vitest/node';
import { defineConfig } from 'vitest/config';

const FOLDERS = ['test/unit/core/', 'test/property/', 'test/unit/run/'];

/** Whole runs against a sandbox, which take ten times as long as anything else. */
const WHOLE_RUNS = ['test/unit/run/approval.', 'test/unit/run/reconcile.', 'test/unit/run/lost-answers.'];

/** A mutant is dead with the first test that fails, so the tests that take least time go first. */
class QuickestFirst extends BaseSequencer {
  override sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification): number =>
      [...FOLDERS, ...WHOLE_RUNS].findLastIndex((start) => moduleId.includes(start));
    return Promise.resolve(files.toSorted((a, b) => place(a) - place(b)));
  }
}

export default defineConfig({
  root: new URL('..', import.meta.url).pathname,
  test: {
    include: FOLDERS.map((folder) => `${folder}**/*.test.ts`),
    env: { ROLECALL_TEST_SEED: '20260310' },
    sequence: { sequencer: QuickestFirst },
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
});
