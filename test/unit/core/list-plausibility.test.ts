// Implausible lists, the merge of two readings, and people who are missing.
import { describe, expect, it } from 'vitest';
import type { Entry, Kind, ObservedCatalog, Resource } from '../../../src/core/catalog.ts';
import { nameKeys } from '../../../src/core/diff.ts';
import type { AwaitedEntry } from '../../../src/core/history.ts';
import { type EntryKey, missingUse } from '../../../src/core/usage.ts';
import {
  anythingMissing,
  baselineOf,
  implausibleCreates,
  mergeReadings,
  suspiciousList,
  suspiciousShrink,
} from '../../../src/core/list-plausibility.ts';
import { entry, HISTORY, observed, person, wanted } from './builders.ts';

const entries = (count: number) => Array.from({ length: count }, (_, index) => entry(`e${index}`));
const people = (count: number) => Array.from({ length: count }, (_, index) => person(`p${index}`, ['s']));

function shrink(
  before: Partial<ObservedCatalog>,
  now: Partial<ObservedCatalog>,
  managed: readonly Kind[] = ['skill', 'role'],
): string | null {
  const baseline = baselineOf(observed(before), new Set());
  return suspiciousShrink(baseline, observed(now), managed)?.message ?? null;
}

describe('an empty list', () => {
  it.each(['skill', 'role'] as const)('of %ss is suspicious from five entries on', (kind) => {
    expect(shrink({ [kind]: entries(4) }, {})).toBeNull();
    expect(shrink({ [kind]: entries(5) }, {})).toContain(`5 of 5 ${kind}s`);
  });

  it('lost all of its entries even if it shows a new one', () => {
    expect(shrink({ skill: entries(4) }, { skill: [entry('new')] })).toBeNull();
    expect(shrink({ skill: entries(5) }, { skill: [entry('new')] })).toContain('5 of 5 skills');
  });

  it('of a kind that the file does not manage is ignored', () => {
    expect(shrink({ role: entries(50) }, {}, ['skill'])).toBeNull();
  });
});

describe('a list that lost more than a quarter', () => {
  it.each([
    [10, 1, false],
    [11, 2, false],
    [11, 1, true],
    [39, 30, false],
    [39, 29, true],
    [40, 30, false],
    [40, 29, true],
    [100, 75, false],
    [100, 74, true],
  ])('of %d with %d left is suspicious: %s', (before, left, suspicious) => {
    expect(shrink({ skill: entries(before) }, { skill: entries(left) }) !== null).toBe(suspicious);
    expect(shrink({ role: entries(before) }, { role: entries(left) }) !== null).toBe(suspicious);
    expect(shrink({ resources: people(before) }, { resources: people(left) }) !== null).toBe(suspicious);
  });

  it('is detected for people with and without assignments', () => {
    const nobody = Array.from({ length: 20 }, (_, index) => person(`p${index}`));
    expect(shrink({ resources: nobody }, { resources: nobody.slice(0, 9) })).toContain('11 of 20 resources');
    expect(shrink({ resources: nobody.slice(0, 5) }, {})).toContain('5 of 5 resources');
    expect(shrink({ resources: nobody }, { resources: nobody.slice(0, 11) })).toBeNull();
  });

  it('is a warning with a code', () => {
    const baseline = baselineOf(observed({ skill: entries(5) }), new Set());
    expect(suspiciousShrink(baseline, observed(), ['skill'])?.code).toBe('suspicious_list');
  });

  it('is detected by what is missing, not by its length', () => {
    const others = Array.from({ length: 20 }, (_, index) => entry(`other${index}`));
    expect(shrink({ skill: entries(20) }, { skill: others })).toContain('20 of 20 skills');
  });
});

describe('an entry that is listed under its id with another name', () => {
  const garbled = (count: number, of: number) =>
    entries(of).map(({ id }, index) => entry(index < count ? `${id}?` : id, id));

  it.each([
    [4, 4, false],
    [5, 5, true],
    [4, 5, false],
    [9, 20, false],
    [10, 20, true],
    [10, 40, false],
    [11, 40, true],
  ])('counts as missing: %d of %d are suspicious: %s', (count, of, suspicious) => {
    const message = shrink({ role: entries(of) }, { role: garbled(count, of) });
    expect(message?.includes(`${count} of ${of} roles are missing or renamed`) ?? false).toBe(suspicious);
  });

  it('counts together with missing ones', () => {
    expect(shrink({ skill: entries(20) }, { skill: garbled(5, 20).slice(0, 15) })).toContain('10 of 20');
  });

  it('has the same name in another form of Unicode, or when one of its names is the same', () => {
    const baseline = baselineOf(observed({ skill: [entry('Caf\u00e9', 'x')] }), new Set());
    const isLost = (now: Partial<Entry>) =>
      anythingMissing(baseline, observed({ skill: [{ ...entry('Cafe\u0301', 'x'), ...now }] }));
    expect(isLost({})).toBe(false);
    expect(isLost({ name: 'Bar', otherNames: ['Caf\u00e9'] })).toBe(false);
    expect(isLost({ name: 'caf\u00e9' })).toBe(true);
  });
});

describe('the assignments of people', () => {
  const having = (count: number, skills: readonly string[]) =>
    Array.from({ length: count }, (_, index) => person(`p${index}`, skills));

  it('are suspicious when more than a quarter and ten of them are missing', () => {
    const four = having(10, ['a', 'b', 'c', 'd']);
    expect(shrink({ resources: four }, { resources: having(10, ['a', 'b', 'c']) })).toBeNull();
    expect(shrink({ resources: four }, { resources: having(10, ['a', 'b']) })).toContain('20 of 40');
    expect(shrink({ resources: having(11, ['a']) }, { resources: having(11, []) })).toContain(
      '11 of 11 assignments',
    );
    expect(shrink({ resources: having(9, ['a']) }, { resources: having(9, []) })).toBeNull();
    expect(shrink({ resources: having(10, ['a']) }, { resources: having(10, []) })).toContain('10 of 10');
  });

  it('of a kind that the file does not manage are ignored', () => {
    expect(shrink({ resources: having(11, ['a']) }, { resources: having(11, []) }, ['role'])).toBeNull();
  });

  it('include those of omitted fields', () => {
    const without = Array.from({ length: 10 }, (_, index) => person(`p${index}`));
    expect(shrink({ resources: having(10, ['a']) }, { resources: without })).toContain('assignments');
  });
});

describe('an entry that rolecall deleted', () => {
  it('is not missing, nor are its assignments', () => {
    const before = observed({
      skill: [...entries(12), entry('s')],
      role: [entry('r')],
      resources: Array.from({ length: 12 }, (_, index) => person(`p${index}`, ['s'], 'r')),
    });
    const gone = new Set([
      'skill:s',
      'role:r',
      ...entries(12).map(({ id }) => `skill:${id}` as const),
    ] as const);
    const baseline = baselineOf(before, gone);
    const now = observed({
      resources: Array.from({ length: 12 }, (_, index) => person(`p${index}`, [], null)),
    });
    expect(suspiciousShrink(baseline, now, ['skill', 'role'])).toBeNull();
    expect(anythingMissing(baseline, now)).toBe(false);
  });
});

describe('whether anything is missing', () => {
  const baseline = baselineOf(observed({ skill: [entry('a')], resources: [person('p')] }), new Set());

  it('is decided by entries and by people', () => {
    expect(anythingMissing(baseline, observed({ skill: [entry('a')], resources: [person('p')] }))).toBe(
      false,
    );
    expect(anythingMissing(baseline, observed({ resources: [person('p')] }))).toBe(true);
    expect(anythingMissing(baseline, observed({ skill: [entry('a')] }))).toBe(true);
  });

  it('is true when an entry that was in use is free, and not when one of several people lost it', () => {
    const inUse = baselineOf(
      observed({ skill: [entry('a')], resources: [person('p', ['a']), person('q', ['a'])] }),
      new Set(),
    );
    const now = (...skills: (readonly string[])[]) =>
      observed({ skill: [entry('a')], resources: [person('p', skills[0]), person('q', skills[1])] });
    expect(anythingMissing(inUse, now(['a'], []))).toBe(false);
    expect(anythingMissing(inUse, now([], []))).toBe(true);
  });
});

describe('two readings', () => {
  it('together lack only what both lack', () => {
    const first = observed({ skill: [entry('a'), entry('b')], role: [entry('r')], resources: [person('p')] });
    const second = observed({ skill: [entry('b'), entry('c')], resources: [person('q')] });
    const merged = mergeReadings(first, second, null);
    expect(merged.skill.map(({ id }) => id).toSorted()).toEqual(['a', 'b', 'c']);
    expect(merged.role.map(({ id }) => id)).toEqual(['r']);
    expect(merged.resources.map(({ id }) => id).toSorted()).toEqual(['p', 'q']);
  });

  it('show an entry under both names, the known one first', () => {
    const names = (first: string, second: string, known: string | null) => {
      const lists = [first, second].map((name) => observed({ skill: [entry(name, 'x')] }));
      const [one = observed(), two = observed()] = lists;
      const before = observed({ skill: known === null ? [] : [entry(known, 'x')] });
      const [merged] = mergeReadings(one, two, baselineOf(before, new Set())).skill;
      return merged === undefined
        ? []
        : [merged.name, ...nameKeys(merged).filter((key) => key !== merged.name)];
    };
    expect(names('A', 'B', 'A')).toEqual(['A', 'B']);
    expect(names('B', 'A', 'A')).toEqual(['A', 'B']);
    expect(names('B', 'B', 'A')).toEqual(['B']);
    expect(names('B', 'C', 'A')).toEqual(['C', 'B']);
    expect(names('A', 'B', null)).toEqual(['B', 'A']);
  });

  it('show as free only what both show as free', () => {
    const full = observed({ resources: [person('p', ['1', '2'], 'r')] });
    const part = observed({ resources: [person('p', ['2', '3'], null)] });
    const none = observed({ resources: [person('p', [], null)] });
    expect(mergeReadings(full, none, null).resources).toMatchObject([{ skillsIds: ['1', '2'], roleId: 'r' }]);
    expect(mergeReadings(none, full, null).resources).toMatchObject([{ skillsIds: ['1', '2'], roleId: 'r' }]);
    expect(mergeReadings(full, part, null).resources).toMatchObject([
      { skillsIds: ['2', '3', '1'], roleId: 'r' },
    ]);
    expect(mergeReadings(none, none, null).resources).toMatchObject([{ skillsIds: [], roleId: null }]);
  });

  it('take from the first a field of a person that the second omits', () => {
    const first = observed({ resources: [person('p', ['1'], 'r')] });
    const merged = mergeReadings(first, observed({ resources: [person('p')] }), null);
    expect(merged.resources).toMatchObject([{ skillsIds: ['1'], roleId: 'r' }]);
  });

  it('take from the second the role of a person who has another one, and a field that the first omits', () => {
    const first = observed({ resources: [person('p', ['1'], 'r'), person('q')] });
    const second = observed({ resources: [person('p', ['1'], 'q'), person('q', [], 's')] });
    expect(mergeReadings(first, second, null).resources).toEqual(second.resources);
  });
});

describe('people who are missing', () => {
  const earlier = [person('p', ['s'], 'r'), person('q', ['t'])];
  const missing = (...people: Resource[]) => [...missingUse(earlier, people)];

  it('count with all that they had', () => {
    expect(missing()).toEqual(['skill:s', 'role:r', 'skill:t']);
  });

  it('count only for the field that is absent', () => {
    expect(missing(person('p', undefined, null), person('q', []))).toEqual(['skill:s']);
    expect(missing(person('p', []), person('q', []))).toEqual(['role:r']);
  });

  it('do not count when they are listed with an empty list or with null', () => {
    expect(missing(person('p', [], null), person('q', []))).toEqual([]);
  });
});

describe('a list that lacks what people have', () => {
  const lacks = (
    lists: Partial<ObservedCatalog>,
    managed: readonly Kind[] = ['skill', 'role'],
    deleted: readonly EntryKey[] = [],
  ) => suspiciousList(observed(lists), managed, new Set(deleted))?.message ?? null;
  const ids = (count: number) => Array.from({ length: count }, (_, index) => `e${index}`);

  it.each([
    [0, 0, false],
    [1, 0, true],
    [1, 1, false],
    [2, 1, false],
    [3, 1, false],
    [3, 0, true],
    [4, 1, true],
    [4, 2, false],
    [5, 2, true],
    [5, 3, false],
  ])('is suspicious when people have %d entries and it shows %d of them: %s', (referred, shown, isWrong) => {
    const resources = [person('p1', ids(referred)), person('p2', ids(referred))];
    const message = lacks({ skill: entries(shown), resources });
    expect(message?.includes(`lists only ${shown} of the ${referred} skills that people have`) ?? false).toBe(
      isWrong,
    );
  });

  it('is judged for each kind, and only for managed ones', () => {
    const resources = [person('p1', ['s'], 'r')];
    expect(lacks({ skill: [entry('s')], role: [entry('r')], resources })).toBeNull();
    expect(lacks({ skill: [entry('r')], role: [entry('r')], resources })).toContain('0 of the 1 skills');
    expect(lacks({ skill: [entry('s')], role: [entry('s')], resources })).toContain('0 of the 1 roles');
    expect(lacks({ resources })).toContain('0 of the 1 skills that people have and 0 of the 1 roles');
    expect(lacks({ resources }, ['role'])).toContain('lists only 0 of the 1 roles');
    expect(lacks({ skill: [entry('s')], resources }, ['skill'])).toBeNull();
    expect(lacks({ resources }, [])).toBeNull();
  });

  it('may lack what rolecall deleted, to which a stale list of people may still refer', () => {
    const lists = { skill: [entry('other')], resources: [person('p1', ['s'])] };
    expect(lacks(lists, ['skill'], ['skill:s'])).toBeNull();
    expect(lacks(lists, ['skill'], ['role:s'])).not.toBeNull();
  });

  it('is a warning with a code', () => {
    const warning = suspiciousList(observed({ resources: [person('p1', ['s'])] }), ['skill'], new Set());
    expect(warning?.code).toBe('suspicious_list');
  });
});

describe('an empty list that should show an entry that rolecall created', () => {
  const created = { kind: 'skill', remoteId: '7', name: 'Go' } as const;
  const blocks = (
    lists: Partial<ObservedCatalog>,
    { desired = ['New'], neverListed = [created] }: { desired?: string[]; neverListed?: AwaitedEntry[] } = {},
  ) =>
    implausibleCreates({ skill: wanted(...desired), allowedDeletes: [] }, observed(lists), {
      ...HISTORY,
      neverListed,
    });

  it('is a warning with the kind and the entry', () => {
    const warning = blocks({});
    expect(warning).toMatchObject({ code: 'suspicious_list', kind: 'skill' });
    expect(warning?.message).toContain('the service lists no skills');
    expect(warning?.message).toContain('the create of “Go” (7)');
  });

  it('is plausible when any entry is listed, or when nothing is to be created', () => {
    expect(blocks({ skill: [entry('Other')] })).toBeNull();
    expect(blocks({}, { desired: [] })).toBeNull();
  });

  it('is plausible when every created entry of the kind has been listed once', () => {
    expect(blocks({}, { neverListed: [] })).toBeNull();
    expect(blocks({}, { neverListed: [{ ...created, kind: 'role' }] })).toBeNull();
  });
});

describe('creating a missing name', () => {
  const desired = { skill: wanted('Go', 'Zig'), allowedDeletes: [] };
  const ann = person('ann', ['s-go']);
  const known = new Map([['skill:s-go', ['Go']]] as const);
  const judge = (now: Partial<ObservedCatalog>, history: Partial<typeof HISTORY>) =>
    implausibleCreates(desired, observed(now), { ...HISTORY, ...history });

  it('is implausible while somebody has the entry of that name that rolecall has not deleted', () => {
    const warning = judge({ resources: [ann] }, { knownNames: known });
    expect(warning).toMatchObject({ code: 'suspicious_list', kind: 'skill', name: 'Go' });
    expect(warning?.message).toMatch(/does not list the skill “Go” \(s-go\), although ann still has it/);
  });

  it('is implausible while somebody has another entry that the same list should show', () => {
    const other = new Map([['skill:s-go', ['Perl', 'PERL']]] as const);
    expect(judge({ skill: [entry('Go')], resources: [ann] }, { knownNames: other })?.name).toBe('Perl');
  });

  it.each<[string, Partial<ObservedCatalog>, Partial<typeof HISTORY>]>([
    ['nobody has the entry', { resources: [person('ann')] }, { knownNames: known }],
    ['rolecall deleted the entry', { resources: [ann] }, {}],
    ['a list shows the entry', { skill: [entry('Go', 's-go')], resources: [ann] }, { knownNames: known }],
    [
      'other entries have the names',
      { skill: [entry('Go', 'other'), entry('Zig')], resources: [ann] },
      { knownNames: known },
    ],
    [
      'the service has never listed the entry that somebody has',
      { resources: [ann] },
      { knownNames: new Map([['skill:other', ['Perl']]] as const) },
    ],
    [
      'the entry is of another kind',
      { resources: [ann] },
      { knownNames: new Map([['role:s-go', ['Go']]] as const) },
    ],
  ])('is plausible when %s', (_, now, history) => {
    expect(judge(now, history)).toBeNull();
  });
});
