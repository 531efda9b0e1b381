// What a recheck of planned deletes takes from the lists and from the run so far.
import { describe, expect, it } from 'vitest';
import { conclude, type NumberedOperation } from '../../../src/run/apply-context.ts';
import { findingsNow, recheckNow } from '../../../src/run/apply-deletes.ts';
import type { AllowedDelete, Policy } from '../../../src/core/catalog.ts';
import type { History } from '../../../src/core/history.ts';
import { entry, observed, person, wanted } from '../core/builders.ts';
import { type BareParts, bareContext, bareRequest, creating, deleting } from './bare-context.ts';
import { QuickClock } from './quick-clock.ts';

const DAY_MS = 86_400_000;
const OLD = deleting(3, 'Old', ['p1']);
const LISTS = { skill: [entry('Kept'), entry('Old')], resources: [person('p1', ['Old'])] };

function setUp(
  parts: BareParts = {},
  allowedDeletes: readonly AllowedDelete[] = [],
  policy: Partial<Policy> = {},
) {
  const clock = new QuickClock();
  const bare = bareRequest({ skill: wanted('Kept', 'New'), allowedDeletes });
  const settings = { ...bare.settings, policy: { ...bare.settings.policy, ...policy } };
  const request = { ...bare, settings };
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

  it.each<[string, boolean, Partial<History>, number]>([
    ['people who are missing had it', true, { missingUse: new Set(['skill:Old']) }, DAY_MS],
    ['people had it lately', true, { lastUsedMs: new Map([['skill:Old', Date.now() - 1000]]) }, DAY_MS],
    ['people had it long ago', false, { lastUsedMs: new Map([['skill:Old', 1000]]) }, DAY_MS],
    ['people had it lately and unusedFor is 0', false, { missingUse: new Set(['skill:Old']) }, 0],
    ['people who are missing had another one', false, { missingUse: new Set(['role:Old']) }, DAY_MS],
  ])('whose allowance expired: %s', (_, isHeld, history, unusedForMs) => {
    const allowed: AllowedDelete[] = [];
    const { clock, day, ruleFor } = setUp({ history }, allowed, { unusedForMs });
    allowed.push({ kind: 'skill', name: 'Old', expires: day(0) });
    clock.pass(DAY_MS);
    expect(ruleFor({ ...OLD, usedBy: [] }, { ...LISTS, resources: [person('p1')] })).toBe(
      isHeld ? 'in_use' : null,
    );
  });
});
