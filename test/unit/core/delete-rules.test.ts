// The rules that hold deletes, as a table. What each one holds in a plan is in policy.test.ts, and during a run in
// recheck.test.ts.
import { describe, expect, it } from 'vitest';
import { isOpen } from '../../../src/core/allowed-deletes.ts';
import { DELETE_RULES } from '../../../src/core/delete-rules.ts';
import { HOLD_RULES } from '../../../src/core/plan.ts';
import { entry, NOW_MS, person, plan, rulesFor } from './builders.ts';

describe('the table of rules', () => {
  it('says of every rule whether it is judged again right before a delete', () => {
    const rechecked = HOLD_RULES.filter((rule) => typeof DELETE_RULES[rule].recheck === 'function');
    expect(rechecked).toEqual(['in_use', 'rename', 'holders_missing', 'no_people']);
  });
});

describe('an allowance', () => {
  const allowance = { kind: 'skill', name: 'Old', expires: '2026-03-10' } as const;

  it('is open up to its last day', () => {
    const open = (today: string) => isOpen(allowance, today);
    expect(['2025-12-31', '2026-03-09', '2026-03-10', '2026-03-11', '2027-01-01'].map(open)).toEqual([
      true,
      true,
      true,
      false,
      false,
    ]);
  });

  it('releases an entry that people have also from unusedFor, which is about unused entries', () => {
    const made = plan({
      skills: ['Kept'],
      observed: { skill: [entry('Kept'), entry('Old'), entry('Unused')], resources: [person('p1', ['Old'])] },
      policy: { unusedForMs: 1000, maxDeletePercent: 100 },
      allowedDeletes: [allowance],
      history: { lastUsedMs: new Map([['skill:Unused', NOW_MS - 999]] as const) },
    });
    expect(rulesFor(made, 'Old')).toEqual([]);
    expect(rulesFor(made, 'Unused')).toEqual(['too_new']);
  });
});

describe('a create that is held', () => {
  it('holds the delete of the old name of that entry, and of no other entry, whatever its name', () => {
    const made = plan({
      skills: [{ name: 'undefined', formerly: ['Old'] }],
      observed: { skill: [entry('Old'), entry('Other')] },
      history: { flappingCreates: new Map([['skill:undefined', 0]]) },
      policy: { maxDeletePercent: 100 },
    });
    expect(rulesFor(made, 'Old')).toEqual(['rename']);
    expect(rulesFor(made, 'Other')).toEqual([]);
  });
});
