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
    [[plan(create('a'))], 'Apply 1 create to acme-eu?'],
    [[plan(create('a'), create('b'))], 'Apply 2 creates to acme-eu?'],
    [
      [plan(remove('a'))],
      'Apply 1 delete to acme-eu? Nobody loses a skill or role. The delete cannot be undone.',
    ],
    [
      [plan(create('a'), removeUsed('b', 'p1'))],
      'Apply 1 create and 1 delete to acme-eu? 1 person loses a skill or role. The delete cannot be undone.',
    ],
    [
      [plan(removeUsed('a', 'p1', 'p2'), removeUsed('b', 'p2'))],
      'Apply 2 deletes to acme-eu? 2 people lose a skill or role. Deletes cannot be undone.',
    ],
    [
      [plan(removeUsed('a', 'p1')), plan(removeUsed('a', 'p1')), FAILED],
      'Apply 2 deletes to 2 accounts? 2 people lose a skill or role. Deletes cannot be undone.',
    ],
    [[plan(create('a')), FAILED], 'Apply 1 create to acme-eu?'],
  ])('counts creates, deletes and the people who lose something (%#)', (plans, expected) => {
    expect(question(plans)).toBe(expected);
  });

  test('is not shown when nothing would be applied', () => {
    expect(question([plan(), FAILED])).toBeNull();
    expect(question([makePlan({ status: 'blocked', operations: [create('a')] })])).toBeNull();
  });
});
