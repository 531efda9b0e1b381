// Which plan `approve` approves without a digest: the one that the operator may have seen.
import { expect, test } from 'vitest';
import { approvePending } from '../../../src/cli/approve.ts';
import type { OperatorCommands } from '../../../src/core/operator.ts';
import type { AccountState } from '../../../src/core/ports/journal.ts';

/** What `approve` sends to the store when this plan was pending as the command started, and its exit status. */
async function approved(pending: AccountState['pending']): Promise<{ exit: number; wanted: unknown[] }> {
  const wanted: unknown[] = [];
  const operator: OperatorCommands = {
    async operate({ digest }) {
      wanted.push(digest);
      return { type: 'other_plan', pending: 'sha256:replaced' };
    },
    pauseAll: async (pause) => ({ ...pause, sinceMs: 0, by: '', untilMs: null }),
    resumeAll: async () => null,
  };
  const state: AccountState = {
    remoteAccountId: null,
    pause: null,
    throttledUntilMs: null,
    lastAppliedCommit: null,
    pending,
    approval: null,
    releasedRuns: new Map(),
    consecutiveFailures: 0,
  };
  const record = {
    name: 'acme',
    dueMs: null,
    tickedMs: null,
    state,
    lastRun: null,
    lastSuccessAt: null,
    remaining: null,
  };
  const reader = { run: async () => null };
  const journal = { operator, record, reader, user: { name: 'ada', via: 'cli' } as const };
  return { exit: await approvePending('acme', undefined, journal), wanted };
}

test('approve without a digest asks for the plan that was pending when it started, and exits 5 for another', async () => {
  const seen = { digest: 'sha256:seen', runId: 'r1', sinceMs: 0 };
  expect(await approved(seen)).toEqual({ exit: 5, wanted: ['sha256:seen'] });
});

test('approve without a digest approves nothing that became pending after it started', async () => {
  expect(await approved(null)).toEqual({ exit: 1, wanted: [] });
});
