import { expect, it } from 'vitest';
import { count, firstFew, people, peopleHave, peopleLose } from '../../../src/core/amounts.ts';

it('nouns and verbs agree with the number of people and entries', () => {
  expect([0, 1, 2].map((amount) => count(amount, 'entry', 'entries'))).toEqual([
    '0 entries',
    '1 entry',
    '2 entries',
  ]);
  expect([0, 1, 2].map(people)).toEqual(['nobody', '1 person', '2 people']);
  expect([0, 1, 2].map((amount) => peopleHave(amount))).toEqual([
    'nobody has it',
    '1 person has it',
    '2 people have it',
  ]);
  expect([0, 1, 2].map((amount) => peopleLose(amount, 3))).toEqual([
    'nobody loses them',
    '1 person loses them',
    '2 people lose them',
  ]);
});

it('a list is shortened only when it has more texts than are shown', () => {
  expect(firstFew(['a', 'b'], 2)).toBe('a, b');
  expect(firstFew(['a', 'b', 'c', 'd'], 2)).toBe('a, b … and 2 more');
  expect(firstFew([], 2)).toBe('');
});
