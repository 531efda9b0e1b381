// What the lists of an account lack, compared with what people have.
import { expect, it } from 'vitest';
import { unlistedReferences } from '../../../src/core/list-gaps.ts';
import { entry, observed, person } from './builders.ts';

it('the lists lack what people refer to, each entry once', () => {
  const lists = observed({
    skill: [entry('Go', 's1')],
    resources: [person('ann', ['s1', 's2', 's8'], 'r1'), person('bob', ['s2'])],
  });
  expect(unlistedReferences(lists)).toEqual(['skill:s2', 'skill:s8', 'role:r1']);
});
