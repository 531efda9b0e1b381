// The tests that mutation tests run: those of the core and of the code that writes, the same ones every time.
import type { TestSpecification } from 'vitest/node';
import { BaseSequencer } from 'vitest/node';
import { defineConfig } from 'vitest/config';

/** A mutant is dead with the first test that fails, so the tests that take least time go first. */
const FOLDERS = ['test/unit/core/', 'test/property/', 'test/unit/app/'];

class QuickestFirst extends BaseSequencer {
  override sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification): number =>
      FOLDERS.findIndex((folder) => moduleId.includes(folder));
    return Promise.resolve(
      files.toSorted((a, b) => place(a) - place(b) || (a.moduleId < b.moduleId ? -1 : 1)),
    );
  }
}

export default defineConfig({
  root: new URL('..', import.meta.url).pathname,
  test: {
    include: FOLDERS.map((folder) => `${folder}**/*.test.ts`),
    setupFiles: ['test/support/seed.ts'],
    sequence: { sequencer: QuickestFirst },
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
});
