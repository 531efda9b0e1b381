// The table of rules. What each one holds in a plan is in policy.test.ts, and during a run in recheck.test.ts.
import { expect, it } from 'vitest';
import { RULES } from '../../../src/core/hold-rules.ts';
import { HOLD_RULES } from '../../../src/core/journal.ts';

it('the table of rules has each rule once, in one of two groups, and whether it is judged again before a delete', () => {
  expect(Object.keys(RULES).toSorted()).toEqual(HOLD_RULES.toSorted());
  expect(HOLD_RULES).toHaveLength(9);
  expect(HOLD_RULES.filter((rule) => RULES[rule].group === 'people')).toEqual(['in_use', 'rename']);
  const rechecked = HOLD_RULES.filter((rule) => typeof RULES[rule].recheck === 'function');
  expect(rechecked).toEqual(['in_use', 'rename', 'no_evidence']);
});
