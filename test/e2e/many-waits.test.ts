// Many requests wait at once because of a Retry-After: Node.js reports no leak, and stderr contains only rolecall’s
// output.
import { expect, test } from 'vitest';
import type { Fault } from '../../src/sandbox/sandbox.ts';
import { startDaemon, WITH_TOKEN } from '../support/daemon.ts';
import { scene } from '../support/scene.ts';

const retryLater = (method: string, times: number): Fault => ({
  match: { method },
  times,
  do: { type: 'rate-limit', retryAfter: 1 },
});

test('a daemon that waits for the services of many accounts prints only its log', async () => {
  const others = Array.from({ length: 7 }, (_, index) => ({
    name: `other-${index}`,
    token: `token-${index}`,
  }));
  const s = await scene({
    file: 'skills: []',
    others,
    service: ['defaults: { mode: plan, jitter: 0s }', WITH_TOKEN].join('\n'),
    // Two lists of each account are requested at once.
    faults: [retryLater('GET', 16)],
  });
  for (const { name } of others) s.configure('skills: []', name);
  const daemon = await startDaemon(s);
  await s.until('every account has run', () => daemon.events('run_ended').length >= 8);
  expect(s.sandbox.faults().acted).toEqual([16]);
  // Fails at a line that is not part of the log.
  await daemon.stop();
});

test('an apply that waits with many creates prints no warning about leaks', async () => {
  const s = await scene({
    // The first create into an empty list would be sent alone.
    skills: ['Known'],
    file: `skills: ${JSON.stringify(['Known', ...Array.from({ length: 16 }, (_, index) => `New ${index}`)])}`,
    api: { concurrency: 16 },
    faults: [retryLater('POST', 16)],
  });
  const { result, run } = await s.apply();
  expect(run).toMatchObject({ status: 'converged', created: 16 });
  expect(s.sandbox.faults().acted).toEqual([16]);
  expect(result.stderr).not.toContain('Warning');
});
