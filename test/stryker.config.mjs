// Mutation tests: small defects are planted one by one in the core and in the code that writes, and a test must find
// each. What no test finds and no test could is listed in mutation-survivors.md, with the reason.
import { fileURLToPath } from 'node:url';

export default {
  testRunner: 'vitest',
  vitest: { configFile: 'test/mutation.config.ts', related: false },
  plugins: [
    '@stryker-mutator/vitest-runner',
    fileURLToPath(new URL('support/sentences.mjs', import.meta.url)),
  ],
  // Texts for people may be worded freely; names of rules and codes may not. See support/sentences.mjs.
  ignorers: ['sentences'],
  mutate: ['src/core/**/*.ts', 'src/run/*.ts'],
  coverageAnalysis: 'perTest',
  // What is only evaluated when a file is loaded (tables, constants) would run every test for each mutant. Most of it is
  // killed by the first test all the same; it is left out for time.
  ignoreStatic: true,
  concurrency: 2,
  timeoutMS: 5000,
  timeoutFactor: 2,
  thresholds: { high: 95, low: 90, break: 90 },
  reporters: ['clear-text', 'progress', 'html', 'json'],
  clearTextReporter: { allowColor: false, logTests: false, reportTests: false },
  htmlReporter: { fileName: 'node_modules/.cache/stryker/mutation.html' },
  jsonReporter: { fileName: 'node_modules/.cache/stryker/mutation.json' },
  incrementalFile: 'node_modules/.cache/stryker/incremental.json',
  tempDirName: '.stryker-tmp',
  // Stryker's own handling of tsconfig.json needs an older TypeScript; without the file it leaves that alone.
  tsconfigFile: 'no-tsconfig.json',
  allowConsoleColors: false,
};
