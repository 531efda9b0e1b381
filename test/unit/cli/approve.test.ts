// What `approve` without a digest prints of the plan that it approved.
import { describe, expect, it } from 'vitest';
import { approvedLines } from '../../../src/cli/operator-commands.ts';
import type { Operation, Plan } from '../../../src/core/plan.ts';
import type { AccountRecord } from '../../../src/core/ports/journal-reader.ts';
import { create, makePlan, makeRun, remove, resourceIds } from '../report/samples.ts';

const record = (digest: string): AccountRecord => ({
  name: 'acme',
  lastTickMs: null,
  state: {
    remoteAccountId: null,
    pause: null,
    throttledUntilMs: null,
    lastAppliedCommit: null,
    pending: { digest, runId: 'r1', sinceMs: 0 },
    approval: null,
    consecutiveFailures: 0,
  },
  lastRun: null,
  lastSuccessAt: null,
  remaining: null,
});

/** The lines after the approval of plan `d`, which has these operations, when `before` was pending at the start. */
async function lines(operations: readonly Operation[] | null, before = 'd'): Promise<string[]> {
  const deletes = operations?.filter(({ action }) => action === 'delete').length ?? 0;
  const creates = (operations?.length ?? 0) - deletes;
  const summary = { create: creates, delete: deletes, hold: 0, keep: 0, leave: 0 };
  const plan: Plan | null = operations === null ? null : makePlan({ operations, summary });
  const reader = {
    accounts: async () => [record('d')],
    run: async () => ({ run: makeRun(), operations: [], warnings: [], plan }),
  };
  return await approvedLines(reader, 'acme', 'd', record(before));
}

describe('approve without a digest prints', () => {
  it('the first line of the plan, and its deletes with the number of people', async () => {
    expect(await lines([create('New'), remove('Old', resourceIds(3)), remove('Unused', [])])).toEqual([
      '1 to create, 2 to delete (3 people lose them), 0 held',
      '  delete skill "Old": 3 people lose it',
      '  delete skill "Unused": nobody loses it',
    ]);
  });

  it('twenty deletes, and the command that shows the others', async () => {
    const printed = await lines(Array.from({ length: 22 }, (_, index) => remove(`S${index}`)));
    expect(printed).toHaveLength(22);
    expect(printed.at(-1)).toBe('  … and 2 more deletes; `rolecall show r1` shows the plan');
  });

  it('the command that shows the plan, when the store has no plan', async () => {
    expect(await lines(null)).toEqual(['`rolecall show r1` shows the plan']);
  });

  it('that another plan was pending when the command started', async () => {
    expect((await lines([create('New')], 'earlier')).at(-1)).toContain(
      'this is not the plan that was pending',
    );
  });
});
