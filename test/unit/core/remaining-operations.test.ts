// What remains of a plan after its run.
import { describe, expect, it } from 'vitest';
import { OPERATION_STATUSES } from '../../../src/core/journal.ts';
import { remainingOperations, remainingPlan } from '../../../src/core/run-outcome.ts';
import { runDetail } from './run-details.ts';

describe('the operations that remain after a run', () => {
  it('are those of the plan that were not done, in the order of the plan', () => {
    const toCreate = OPERATION_STATUSES.map((status) => `is ${status}`);
    const operations = OPERATION_STATUSES.map((status) => ({ status }));
    const left = remainingOperations(runDetail(1, { toCreate, operations }));
    expect(left?.map(({ name }) => name)).toEqual(toCreate.filter((name) => name !== 'is done'));
  });

  it('are matched by the number of the operation, since the journal may list them in any order', () => {
    const operations = [
      { seq: 3, status: 'done' },
      { seq: 1, status: 'done' },
    ] as const;
    const left = remainingOperations(runDetail(1, { toCreate: ['A', 'B', 'C', 'D'], operations }));
    expect(left?.map(({ name }) => name)).toEqual(['B', 'D']);
  });

  it('are all of the plan when the run journaled none', () => {
    expect(remainingOperations(runDetail(1, { toCreate: ['A'], toDelete: ['B'] }))).toHaveLength(2);
  });

  it('are unknown when the run made no plan', () => {
    expect(remainingOperations(runDetail(1, { plan: null, operations: [{ status: 'pending' }] }))).toBeNull();
  });
});

describe('the plan that remains after a run', () => {
  it('has the operations that were not done, their counts, and everything else of the plan', () => {
    const detail = runDetail(1, {
      toCreate: ['A', 'B'],
      toDelete: ['C', 'D', 'E'],
      held: ['F'],
      operations: [{ status: 'done' }, { status: 'failed' }, { status: 'done' }],
    });
    const left = remainingPlan(detail);
    expect(left?.operations.map(({ name }) => name)).toEqual(['B', 'D', 'E']);
    expect(left?.summary).toEqual({ create: 1, delete: 2, hold: 1, keep: 7, leave: 0 });
    expect({ ...left, operations: [], summary: null }).toEqual({
      ...detail.plan,
      operations: [],
      summary: null,
    });
  });

  it('is absent when everything was done and nothing is held', () => {
    const toCreate = ['A'];
    const operations = [{ status: 'done' }] as const;
    expect(remainingPlan(runDetail(1, { toCreate, operations }))).toBeNull();
    expect(remainingPlan(runDetail(1, { toCreate, operations, held: ['B'] }))?.operations).toEqual([]);
    expect(remainingPlan(runDetail(1, { toCreate }))?.operations).toHaveLength(1);
  });

  it('is absent when the run made no plan', () => {
    expect(remainingPlan(runDetail(1, { plan: null }))).toBeNull();
  });
});
