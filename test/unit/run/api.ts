// The default API settings of runs in tests.
import type { ApiSettings } from '../../../src/core/settings.ts';

export const API: ApiSettings = {
  concurrency: 4,
  requestsPerSecond: 10_000,
  retries: 0,
  hostConcurrency: 32,
  timeoutMs: 3000,
  settleMs: 35_000,
  recheckMs: 2000,
};
