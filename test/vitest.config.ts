// The suite that must pass everywhere within three minutes. What is longer runs by long.config.ts.
import { defineConfig } from 'vitest/config';

export default defineConfig({
  root: new URL('..', import.meta.url).pathname,
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/long/**', 'node_modules/**', 'dist/**'],
    globalSetup: ['test/support/fresh-build.mjs', 'test/support/postgres-hub.ts'],
    testTimeout: 30_000,
    hookTimeout: 30_000,
    maxWorkers: 4,
    // Half of the time of the small files would go into loading the same modules again.
    isolate: false,
  },
});
