// Who has the entries of a name.
import { describe, expect, it } from 'vitest';
import { KINDS } from '../../../src/core/catalog.ts';
import { entriesNamed, holdersOf, nearNames } from '../../../src/core/usage.ts';
import { entry, observed, person } from './builders.ts';

const LISTS = observed({
  skill: [
    entry('Café', 's1'),
    entry('Go', 's2'),
    entry('Cafe\u0301', 's3'),
    entry('GO', 's4'),
    entry('g o', 's5'),
  ],
  role: [entry('Go', 'r1'), entry('Gö', 'r2'), entry('Lead', 'r3')],
});

describe('the entries of a name', () => {
  it('are those of the requested kinds with this name after NFC, and no near ones', () => {
    const found = (name: string, kinds = KINDS as readonly (typeof KINDS)[number][]) =>
      entriesNamed(name, LISTS, kinds).map(({ kind, id }) => `${kind} ${id}`);
    expect(found('Go')).toEqual(['skill s2', 'role r1']);
    expect(found('Go', ['role'])).toEqual(['role r1']);
    expect(found('Go', ['role', 'skill'])).toEqual(['role r1', 'skill s2']);
    expect(found('Cafe\u0301')).toEqual(['skill s1', 'skill s3']);
    expect(found('go')).toEqual([]);
  });

  it('are returned as the service lists them', () => {
    expect(entriesNamed('Lead', LISTS, KINDS)).toEqual([{ ...entry('Lead', 'r3'), kind: 'role' }]);
  });
});

describe('the people who have entries', () => {
  it('are sorted, and each kind has ids of its own', () => {
    const people = [person('p2', ['x'], 'y'), person('p1', ['x']), person('p3', [], 'x')];
    const lists = observed({ skill: [entry('Go', 'x')], role: [entry('Go', 'x'), entry('Go', 'z')] });
    expect(holdersOf(entriesNamed('Go', lists, KINDS), people)).toEqual([
      { kind: 'skill', name: 'Go', remoteId: 'x', people: ['p1', 'p2'] },
      { kind: 'role', name: 'Go', remoteId: 'x', people: ['p3'] },
      { kind: 'role', name: 'Go', remoteId: 'z', people: [] },
    ]);
  });
});

describe('the names near to a name', () => {
  it('are the other names of the requested kinds that a reader may take for it, each once', () => {
    const lists = observed({ ...LISTS, skill: [...LISTS.skill, entry('GO', 's6')] });
    expect(nearNames('Go', lists, KINDS)).toEqual([
      { kind: 'skill', name: 'GO' },
      { kind: 'skill', name: 'g o' },
      { kind: 'role', name: 'Gö' },
    ]);
    expect(nearNames('go', lists, ['role'])).toEqual([
      { kind: 'role', name: 'Go' },
      { kind: 'role', name: 'Gö' },
    ]);
    expect(nearNames('Café', lists, KINDS)).toEqual([]);
  });
});
