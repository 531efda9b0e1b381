// What takes minutes: two daemons on one store; processes that are killed, paused and run out of room at every point of
// their way; the soak; many spoilt files. One file at a time.
import { defineConfig } from 'vitest/config';

export default defineConfig({
  root: new URL('..', import.meta.url).pathname,
  test: {
    include: ['test/long/**/*.test.ts'],
    globalSetup: ['test/support/fresh-build.mjs'],
    testTimeout: 300_000,
    hookTimeout: 30_000,
    fileParallelism: false,
  },
});
