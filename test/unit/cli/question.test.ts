import { describe, expect, test } from 'vitest';
import { question } from '../../../src/cli/ask-to-apply.ts';
import type { Operation, PlanResult } from '../../../src/core/plan.ts';
import { create, makePlan, remove } from '../report/samples.ts';

const plan = (...operations: Operation[]): PlanResult => makePlan({ operations });
const removeUsed = (name: string, ...usedBy: string[]): Operation => remove(name, usedBy);
const FAILED: PlanResult = {
  schemaVersion: 1,
  account: 'broken',
  status: 'failed',
  error: { code: 'internal', message: 'no' },
};

describe('the question of apply', () => {
  test.each([
    [[plan(create('a'))], 'Create 1 entry?'],
    [[plan(create('a'), create('b'))], 'Create 2 entries?'],
    [[plan(remove('a'))], 'Delete 1 entry? Nobody loses a skill or a role. The delete cannot be undone.'],
    [
      [plan(create('a'), removeUsed('b', 'p1'))],
      'Create 1 entry and delete 1 entry? 1 person loses a skill or a role. The delete cannot be undone.',
    ],
    [
      [plan(removeUsed('a', 'p1', 'p2'), removeUsed('b', 'p2'))],
      'Delete 2 entries? 2 people lose a skill or a role. Deletes cannot be undone.',
    ],
    [
      [plan(removeUsed('a', 'p1')), plan(removeUsed('a', 'p1')), FAILED],
      'Delete 2 entries in 2 accounts? 2 people lose a skill or a role. Deletes cannot be undone.',
    ],
    [[plan(create('a')), FAILED], 'Create 1 entry in 1 account?'],
  ])('counts creates, deletes and the people who lose something (%#)', (plans, expected) => {
    expect(question(plans)).toBe(expected);
  });

  test('is not shown when nothing would be applied', () => {
    expect(question([plan(), FAILED])).toBeNull();
    expect(question([makePlan({ status: 'blocked', operations: [create('a')] })])).toBeNull();
  });
});
