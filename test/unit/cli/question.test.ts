import { describe, expect, test } from 'vitest';
import { question } from '../../../src/cli/ask-to-apply.ts';
import type { Operation, PlanResult } from '../../../src/core/plan.ts';
import { create, makePlan, remove } from '../report/samples.ts';

function plan(...operations: Operation[]): PlanResult {
  const creates = operations.filter(({ action }) => action === 'create').length;
  const summary = { create: creates, delete: operations.length - creates, hold: 0, keep: 0, leave: 0 };
  return makePlan({ operations, summary });
}
const FAILED: PlanResult = {
  schemaVersion: 1,
  account: 'broken',
  status: 'failed',
  error: { code: 'internal', message: 'no' },
};

describe('the question of apply', () => {
  test.each([
    [[plan(create('a')), FAILED], 'Apply to acme-eu: 1 to create, 0 to delete, 0 held?'],
    [
      [plan(create('a'), remove('b', ['p1', 'p2']), remove('c', ['p2']))],
      'Apply to acme-eu: 1 to create, 2 to delete (2 people lose them), 0 held? Deletes cannot be undone.',
    ],
    [
      [plan(remove('a', ['p1'])), plan(remove('a', ['p1']))],
      'Apply to 2 accounts: 0 to create, 2 to delete (2 people lose them), 0 held? Deletes cannot be undone.',
    ],
  ])('counts creates, deletes and the people who lose something (%#)', (plans, expected) => {
    expect(question(plans)).toBe(expected);
  });

  test('is not shown when nothing would be applied', () => {
    expect(question([plan(), FAILED])).toBeNull();
    expect(question([makePlan({ status: 'blocked', operations: [create('a')] })])).toBeNull();
  });
});
