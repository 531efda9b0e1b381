// What the lists of an account lack, compared with what people have and with earlier lists.
import { expect, it } from 'vitest';
import { listGaps } from '../../../src/core/list-gaps.ts';
import { entry, observed, person } from './builders.ts';

const LISTED = observed({
  skill: [entry('Go', 's1')],
  resources: [person('ann', ['s1', 's2', 's8'], 'r1'), person('bob', ['s2'])],
});

it('the lists lack what people refer to, each entry once', () => {
  expect(listGaps(LISTED, null)).toEqual({ referred: ['skill:s2', 'skill:s8', 'role:r1'], lost: new Map() });
});

it('the lists lack earlier and created entries, but not what rolecall deleted', () => {
  const lastGood = {
    observed: observed({ skill: [entry('Go', 's1'), entry('Perl', 's8'), entry('Zig', 's9')] }),
    missing: [],
    deletedSince: new Set(['skill:s8', 'role:r1'] as const),
    createdSince: new Set(['skill:s1', 'role:r:2'] as const),
  };
  expect(listGaps(LISTED, lastGood)).toEqual({
    referred: ['skill:s2'],
    lost: new Map([
      ['role:r:2', 'r:2'],
      ['skill:s9', 'Zig'],
    ]),
  });
});
