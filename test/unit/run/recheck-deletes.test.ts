// What a recheck of planned deletes takes from the lists and from the run so far.
import { describe, expect, it } from 'vitest';
import { conclude, type NumberedOperation } from '../../../src/run/apply-context.ts';
import { findingsNow, recheckNow } from '../../../src/run/recheck-deletes.ts';
import type { AllowedDelete } from '../../../src/core/catalog.ts';
import { entry, observed, person, wanted } from '../core/builders.ts';
import { type BareParts, bareContext, bareRequest, creating, deleting } from './bare-context.ts';
import { QuickClock } from './quick-clock.ts';

const DAY_MS = 86_400_000;
const OLD = deleting(3, 'Old', ['p1']);
const LISTS = { skill: [entry('Kept'), entry('Old')], resources: [person('p1', ['Old'])] };

function setUp(parts: BareParts = {}, allowedDeletes: readonly AllowedDelete[] = []) {
  const clock = new QuickClock();
  const request = bareRequest({ skill: wanted('Kept', 'New'), allowedDeletes });
  const context = bareContext({ clock, request, ...parts });
  const day = (days: number) => new Date(context.plannedAtMs + days * DAY_MS).toISOString().slice(0, 10);
  const ruleFor = (operation: NumberedOperation, lists = LISTS) => {
    const result = recheckNow(context, operation, findingsNow(context, observed(lists)));
    return result === null ? null : (result.rule ?? result.status);
  };
  return { clock, context, day, ruleFor };
}

describe('the findings of a run', () => {
  const operations = [creating(1, 'New'), creating(2, 'Newer'), OLD];

  it('have the creates without a result as pending, and no deletes', () => {
    const { context } = setUp({ operations });
    expect([...findingsNow(context, observed(LISTS)).pendingCreates]).toEqual(['skill:New', 'skill:Newer']);
    conclude(context, 1, 'failed');
    expect([...findingsNow(context, observed(LISTS)).pendingCreates]).toEqual(['skill:Newer']);
  });

  it('have the entry of each create that was answered with one', () => {
    const { context } = setUp({ operations });
    conclude(context, 1, 'done', { entry: { remoteId: 'Old', name: 'New' } });
    conclude(context, 2, 'unknown');
    expect([...findingsNow(context, observed(LISTS)).answeredFor]).toEqual([['skill:Old', 'New']]);
  });
});

describe('a delete that is checked right before it is sent', () => {
  it.each([
    ['expired', 0, 1, 'in_use'],
    ['is still open', 1, 1, null],
    ['was expired when the plan was made, so that the plan did not rely on it', -1, 1, null],
  ])('is judged by its allowance, which %s', (_, lastDay, daysLater, rule) => {
    const allowed: AllowedDelete[] = [];
    const { clock, day, ruleFor } = setUp({}, allowed);
    allowed.push({ kind: 'skill', name: 'Old', expires: day(lastDay) });
    clock.pass(daysLater * DAY_MS);
    expect(ruleFor(OLD)).toBe(rule);
  });

  it('is judged by the allowances of its kind and of its name in any Unicode form only', () => {
    const expiring: AllowedDelete[] = [];
    const { clock, day, ruleFor } = setUp({}, expiring);
    const lists = { ...LISTS, skill: [entry('Kept'), entry('Cafe\u0301', 'Old')] };
    const cafe = { ...OLD, name: 'Cafe\u0301' };
    expiring.push(
      { kind: 'role', name: 'Café', expires: day(0) },
      { kind: 'skill', name: 'Other', expires: day(0) },
    );
    clock.pass(DAY_MS);
    expect(ruleFor(cafe, lists)).toBeNull();
    expiring.push({ kind: 'skill', name: 'Café', expires: day(0) });
    expect(ruleFor(cafe, lists)).toBe('in_use');
    expiring.push({ kind: 'skill', name: 'Café', expires: day(1) });
    expect(ruleFor(cafe, lists)).toBeNull();
  });

  it('is held when its allowance expired and people who are missing had this entry, and no other', () => {
    const holding = { resourceId: 'm1', kind: 'skill', remoteId: 'Old', sinceMs: 0 } as const;
    const unused = { ...LISTS, resources: [person('p1')] };
    const ruleWith = (missing: Partial<Record<keyof typeof holding, unknown>>) => {
      const allowed: AllowedDelete[] = [];
      const history = {
        missingHoldings: [{ ...holding, remoteId: 'Else' }, { ...holding, ...missing } as typeof holding],
      };
      const { clock, day, ruleFor } = setUp({ history }, allowed);
      allowed.push({ kind: 'skill', name: 'Old', expires: day(0) });
      clock.pass(DAY_MS);
      return ruleFor({ ...OLD, usedBy: [] }, unused);
    };
    expect(ruleWith({})).toBe('holders_missing');
    expect(ruleWith({ kind: 'role' })).toBeNull();
    expect(ruleWith({ remoteId: 'Other' })).toBeNull();
  });
});
