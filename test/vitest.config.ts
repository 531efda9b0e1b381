// The suite that must pass everywhere within three minutes. What is longer runs by long.config.ts.
import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { findPostgres } from './support/postgres-programs.ts';

const root = new URL('..', import.meta.url).pathname;

/** Statements that are the same on both engines: on PostgreSQL only where its programs are named, and in the long tests. */
const SAME_STATEMENTS =
  'compaction entry-retention readme retention rollout-history run-lists run-totals run-progress snapshot-reader'.split(
    ' ',
  );

const BOTH_COMPLETE =
  process.env['ROLECALL_TEST_THOROUGH'] === '1' || process.env['ROLECALL_TEST_POSTGRES_BIN'] !== undefined;

/** What a store promises, whatever its engine: these files run a second time on PostgreSQL. */
const ON_BOTH_ENGINES = [
  ...[
    'account-history',
    'claims',
    'fence',
    'locks',
    'operator-commands',
    'outbox',
    'text',
    ...(BOTH_COMPLETE ? SAME_STATEMENTS : []),
  ].map((name) => `test/unit/store/${name}.test.ts`),
  'test/property/run-totals.test.ts',
  'test/model/reconcile/reconcile-model.test.ts',
];

const options = {
  // A machine may be slow or busy; only what never ends takes this long.
  testTimeout: 120_000,
  hookTimeout: 120_000,
  expect: { poll: { timeout: 60_000 } },
  // Half of the time of the small files would go into loading the same modules again.
  isolate: false,
};

const suite = {
  root,
  test: {
    ...options,
    name: 'suite',
    include: ['test/**/*.test.ts'],
    exclude: ['test/long/**', 'node_modules/**', 'dist/**'],
  },
};

const onPostgres = {
  root,
  test: {
    ...options,
    name: 'postgres',
    include: ON_BOTH_ENGINES,
    env: { ROLECALL_TEST_ENGINE: 'postgres' },
  },
};

export default defineConfig({
  root,
  test: {
    globalSetup: ['test/support/fresh-build.mjs', 'test/support/postgres-hub.ts'],
    // A test waits for processes and requests for most of its time.
    maxWorkers: 3 * availableParallelism(),
    // Where there is no PostgreSQL, the global setup prints one line about it.
    projects: findPostgres() === null ? [suite] : [suite, onPostgres],
  },
});
