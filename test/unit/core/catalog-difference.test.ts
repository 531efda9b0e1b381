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

it('a difference is ordered by change, then by name or person, then by id, whatever the order of the lists', () => {
  const before = observed({
    skill: [entry('z', '1'), entry('b', '5'), entry('a', '4'), entry('a', '3'), entry('x', '2')],
    role: [entry('r', '1')],
    resources: [person('p2'), person('p5'), person('p1'), person('p4', ['5', '4', '3'])],
  });
  const after = observed({
    skill: [entry('w', '2'), entry('y', '1'), entry('d', '9'), entry('c', '8'), entry('c', '7')],
    role: [entry('q', '2'), entry('r', '1')],
    resources: [person('p4'), person('p6'), person('p1', ['8', '9', '7', '0']), person('p3')],
  });
  const difference = catalogDifference(before, after);
  expect(difference.entries.map(({ change, kind, name, id }) => `${change} ${kind} ${name} ${id}`)).toEqual([
    'created skill c 7',
    'created skill c 8',
    'created skill d 9',
    'deleted skill a 3',
    'deleted skill a 4',
    'deleted skill b 5',
    'renamed skill w 2',
    'renamed skill y 1',
    'created role q 2',
  ]);
  expect(difference.people.map(({ change, id }) => `${change} ${id}`)).toEqual([
    'added p3',
    'added p6',
    'gone p2',
    'gone p5',
    'changed p1',
    'changed p4',
  ]);
  const [gained, lost] = difference.people.slice(-2).map(({ skills }) => skills);
  expect(gained).toEqual({
    gained: [
      { id: '0', name: null },
      { id: '7', name: 'c' },
      { id: '8', name: 'c' },
      { id: '9', name: 'd' },
    ],
    lost: [],
  });
  expect(lost?.lost.map(({ id }) => id)).toEqual(['3', '4', '5']);
});

it('a difference shows what a new person has and what a person who is gone had', () => {
  const fields = { workingDays: [4, 0, 'x', 10, 2], dailyCapacity: 8 };
  const p1 = { ...worker('p1', fields), skillsIds: ['s1'], roleId: 'r1' };
  const lists = observed({ skill: [entry('Go', 's1')], role: [entry('Dev', 'r1')] });
  const values = (before: boolean) => {
    const change = (value: unknown) =>
      before ? { before: value, after: null } : { before: null, after: value };
    return {
      role: change({ id: 'r1', name: 'Dev' }),
      dailyCapacity: change(8),
      workingDays: change([0, 2, 4, 10]),
    };
  };
  const withPerson = { ...lists, resources: [p1] };
  const skills = [{ id: 's1', name: 'Go' }];
  expect(catalogDifference(lists, withPerson).people).toEqual([
    { change: 'added', id: 'p1', skills: { gained: skills, lost: [] }, ...values(false) },
  ]);
  expect(catalogDifference(withPerson, lists).people).toEqual([
    { change: 'gone', id: 'p1', skills: { gained: [], lost: skills }, ...values(true) },
  ]);
});

it('a difference shows the skills, capacity and days of a person only where they differ', () => {
  const change = (before: Resource, after: Resource) =>
    catalogDifference(observed({ resources: [before] }), observed({ resources: [after] })).people;
  expect(change(person('p1', ['a', 'b']), person('p1', ['b', 'c']))).toEqual([
    {
      change: 'changed',
      id: 'p1',
      skills: { gained: [{ id: 'c', name: null }], lost: [{ id: 'a', name: null }] },
    },
  ]);
  expect(change(worker('p1', { dailyCapacity: '8' }), worker('p1', {}))).toEqual([]);
  expect(change(worker('p1', { workingDays: 'Monday' }), worker('p1', { workingDays: [] }))).toEqual([
    { change: 'changed', id: 'p1', workingDays: { before: null, after: [] } },
  ]);
  expect(change({ ...person('p1'), roleId: '' }, person('p1', undefined, 'r1'))).toEqual([
    { change: 'changed', id: 'p1', role: { before: null, after: { id: 'r1', name: null } } },
  ]);
});
