// The people whom a plan affects.
import { expect, it } from 'vitest';
import { affectedPeople } from '../../../src/core/plan.ts';
import { entry, person, plan, UNLIMITED } from './builders.ts';

it('a plan affects each person who has an entry that it deletes, once', () => {
  const resources = [person('p2', ['A', 'B']), person('p1', ['B']), person('p3', ['Kept'])];
  const skill = [entry('A'), entry('B'), entry('C'), entry('Kept')];
  const made = plan({ skills: ['Kept', 'New'], observed: { skill, resources }, policy: UNLIMITED });
  expect([...affectedPeople(made)].toSorted()).toEqual(['p1', 'p2']);
});

it('a plan that only creates affects nobody', () => {
  expect(affectedPeople(plan({ skills: ['New'] })).size).toBe(0);
});
