// What takes minutes: two daemons on one store; processes that are killed, paused and run out of room at every point of
// their way; the soak. One file at a time.
import { defineConfig } from 'vitest/config';

export default defineConfig({
  root: new URL('..', import.meta.url).pathname,
  test: {
    include: ['test/long/**/*.test.ts'],
    globalSetup: ['test/support/fresh-build.mjs', 'test/support/postgres-hub.ts'],
    // Crashes, full disks and hung mounts are about processes.
    env: { ROLECALL_TEST_PROCESSES: '1' },
    testTimeout: 300_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
    fileParallelism: false,
  },
});
