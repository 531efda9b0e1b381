// What the end of a run reports to the schedule.
import { expect, it } from 'vitest';
import type { RunStatus } from '../../../src/core/journal.ts';
import { createRunEnding, type RunEndingOptions } from '../../../src/daemon/run-ending.ts';
import { sha256 } from '../core/builders.ts';
import { runDetail } from '../core/run-details.ts';
import { testLog } from './notify/stage.ts';

/** Resolves with the failures that the schedule receives. */
async function failuresAfter(status: RunStatus): Promise<readonly number[]> {
  const failures: number[] = [];
  const nothing = (): void => undefined;
  const ending = createRunEnding({
    registry: { account: () => ({ settings: null }) },
    reportEnd: (_account: string, count: number) => failures.push(count),
    deps: {
      journal: { accountState: async () => ({ pause: null, pending: null, consecutiveFailures: 3 }) },
      sha256,
    },
    log: testLog(),
    metrics: { run: nothing, account: nothing },
    notifier: { runEnded: async () => undefined },
  } as unknown as RunEndingOptions); // only what the end of a run uses
  await ending.ended({ ended: runDetail(1, { status }), entryCounts: new Map() }, 1);
  return failures;
}

it('the schedule learns of each run that has completed, and not of one that was interrupted', async () => {
  expect(await failuresAfter('failed')).toEqual([3]);
  expect(await failuresAfter('planned')).toEqual([3]);
  expect(await failuresAfter('interrupted')).toEqual([]);
});
