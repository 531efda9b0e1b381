// Names in the difference between two catalogs.
import { expect, it } from 'vitest';
import type { Resource } from '../../../src/core/catalog.ts';
import { catalogDifference } from '../../../src/core/catalog-difference.ts';
import { entry, observed, person } from './builders.ts';

function worker(id: string, fields: Record<string, unknown>): Resource {
  return { id, raw: { _id: id, ...fields } };
}

it('a difference names a lost entry that only the earlier catalog lists, and a gained one that no catalog lists by its id', () => {
  const before = observed({ skill: [entry('Perl', 's1')], resources: [person('r1', ['s1'], 'x')] });
  const after = observed({ skill: [entry('Go', 's2')], resources: [person('r1', ['s2', 'ghost'], null)] });
  expect(catalogDifference(before, after)).toEqual({
    entries: [
      { change: 'created', kind: 'skill', id: 's2', name: 'Go' },
      { change: 'deleted', kind: 'skill', id: 's1', name: 'Perl' },
    ],
    people: [
      {
        change: 'changed',
        id: 'r1',
        skills: {
          gained: [
            { id: 's2', name: 'Go' },
            { id: 'ghost', name: null },
          ],
          lost: [{ id: 's1', name: 'Perl' }],
        },
        role: { before: { id: 'x', name: null }, after: null },
      },
    ],
  });
});

it('a difference treats an entry with the same id and another name as renamed, and assigns it to nobody again', () => {
  const before = observed({ role: [entry('Dev', 'x')], resources: [person('r1', [], 'x')] });
  const after = observed({ role: [entry('Developer', 'x')], resources: [person('r1', [], 'x')] });
  expect(catalogDifference(before, after)).toEqual({
    entries: [{ change: 'renamed', kind: 'role', id: 'x', name: 'Developer', formerName: 'Dev' }],
    people: [],
  });
});

it('a difference compares working days as a set, and an empty role id with none', () => {
  const before = observed({ resources: [worker('r1', { workingDays: [4, 0, 0], dailyCapacity: 8 })] });
  const after = observed({
    resources: [{ ...worker('r1', { workingDays: [0, 4], dailyCapacity: 6 }), roleId: '' }],
  });
  expect(catalogDifference(before, after).people).toEqual([
    { change: 'changed', id: 'r1', dailyCapacity: { before: 8, after: 6 } },
  ]);
});
