import { expect, it } from 'vitest';
import { groupBy } from '../../../src/core/names.ts';

it('groupBy keeps the order of the values in each group, and of the keys by their first value', () => {
  const groups = groupBy(['b1', 'a1', 'b2', 'a2'], (text) => text.charAt(0));
  expect([...groups]).toEqual([
    ['b', ['b1', 'b2']],
    ['a', ['a1', 'a2']],
  ]);
});
