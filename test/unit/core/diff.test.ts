// The comparison of desired and observed entries of one kind.
import { describe, expect, it } from 'vitest';
import type { DesiredEntry, Entry } from '../../../src/core/catalog.ts';
import { diffKind, missingDesiredNames } from '../../../src/core/diff.ts';
import type { History } from '../../../src/core/history.ts';
import type { UsageIndex } from '../../../src/core/usage.ts';
import { entry, HISTORY, observed, wanted } from './builders.ts';

function diff(
  desired: readonly (string | DesiredEntry)[],
  skill: readonly Entry[],
  options: { usage?: UsageIndex; history?: Partial<History> } = {},
) {
  const { usage = new Map(), history = {} } = options;
  return diffKind('skill', wanted(...desired), {
    observed: observed({ skill }),
    usage,
    history: { ...HISTORY, ...history },
  });
}

const extraNames = (of: ReturnType<typeof diff>): string[] => of.extras.map(({ entry: { name } }) => name);

describe('the diff of a kind', () => {
  it('contains what is missing, kept and extra', () => {
    const found = diff(['b', 'a', 'c'], [entry('c'), entry('x')]);
    expect(found.missing).toEqual(['a', 'b']);
    expect(found.kept).toBe(1);
    expect(found.extras).toMatchObject([{ entry: { name: 'x' }, cause: 'unnamed' }]);
  });

  it('treats two Unicode forms of a name as the same name', () => {
    const found = diff(['Caf\u00e9'], [entry('Cafe\u0301')]);
    expect([found.missing, found.extras, found.kept]).toEqual([[], [], 1]);
  });

  it('does not treat names as equal that only look equal', () => {
    const found = diff(['Design'], [entry('design'), entry('Design ')]);
    expect(found.missing).toEqual(['Design']);
    expect(extraNames(found).toSorted()).toEqual(['Design ', 'design']);
  });

  it('marks an entry with a former name as renamed, with its new name', () => {
    const found = diff([{ name: 'Kubernetes', formerly: ['K8s', 'Kube'] }], [entry('K8s'), entry('Kube')]);
    expect(found.missing).toEqual(['Kubernetes']);
    expect(found.extras).toMatchObject([
      { cause: 'renamed', desiredName: 'Kubernetes' },
      { cause: 'renamed', desiredName: 'Kubernetes' },
    ]);
  });

  it('marks an unnamed entry that is near to a desired name by any of its names', () => {
    const several = { ...entry('Cobol', '2'), otherNames: ['RUST', 'Ada'] };
    const found = diff(['Go', 'Rust'], [entry('GO', '1'), several, entry('Perl', '3')]);
    expect(found.extras).toStrictEqual([
      { entry: entry('GO', '1'), cause: 'unnamed', nearName: 'Go' },
      { entry: several, cause: 'unnamed', nearName: 'Rust' },
      { entry: entry('Perl', '3'), cause: 'unnamed' },
    ]);
  });

  it('counts an awaited entry as existing', () => {
    const awaited = [{ kind: 'skill', remoteId: '1', name: 'a' }] as const;
    expect(diff(['a'], [], { history: { awaited } })).toMatchObject({ missing: [], kept: 1 });
    const ofRole = [{ kind: 'role', remoteId: '1', name: 'a' }] as const;
    expect(diff(['a'], [], { history: { awaited: ofRole } }).missing).toEqual(['a']);
  });

  it('omits an entry that is gone, so that its name is missing again', () => {
    const found = diff(['a'], [entry('a', '1'), entry('x', '2')], {
      history: { gone: new Set(['skill:1', 'skill:2'] as const) },
    });
    expect(found).toMatchObject({ missing: ['a'], extras: [], present: [] });
  });

  it('finds an entry by the requested name when the service changed its name', () => {
    const history = { requestedNames: new Map([['skill:1', 'TypeScript ']] as const) };
    const found = diff(['TypeScript '], [entry('TypeScript', '1')], { history });
    expect([found.missing, found.extras]).toEqual([[], []]);
    expect(found.changedNames).toMatchObject([{ entry: { id: '1' }, requested: 'TypeScript ' }]);
  });
});

describe('of several entries with one name', () => {
  const kept = (entries: readonly Entry[], usage: UsageIndex = new Map()) =>
    diff(['a'], entries, { usage }).duplicates[0]?.kept.id;

  it('the one that most people have is kept', () => {
    const usage: UsageIndex = new Map([
      ['skill:1', ['p']],
      ['skill:2', ['p', 'q']],
    ]);
    expect(kept([entry('a', '1', '2020-01-01'), entry('a', '2', '2024-01-01')], usage)).toBe('2');
  });

  it.each([
    ['1', '2'],
    ['2', '1'],
  ])('one whose name the service changed (id %s) comes after those with the exact name', (changed, exact) => {
    const skill = [entry('a', changed, '2020-01-01'), entry('a ', exact, '2024-01-01')];
    const usage: UsageIndex = new Map([[`skill:${changed}`, ['p']] as const]);
    const history = { requestedNames: new Map([[`skill:${changed}`, 'a ']] as const) };
    const found = diff(['a '], skill, { usage, history });
    expect(found.duplicates).toMatchObject([{ kept: { id: exact }, others: [{ id: changed }] }]);
    expect(found.changedNames).toEqual([]);
  });

  it('otherwise the oldest is kept, whatever the format of its date', () => {
    const entries = [entry('a', '1', '2024-01-01T01:00:00+02:00'), entry('a', '2', '2024-01-01T00:30:00')];
    expect(kept(entries)).toBe('1');
    expect(kept([entry('a', '1', '2024-02-01'), entry('a', '2', '2024-01-31')])).toBe('2');
  });

  it('an entry without a date is never the oldest', () => {
    expect(kept([entry('a', '1'), entry('a', '2', '2024-01-01')])).toBe('2');
  });

  it('otherwise the one with the smallest id is kept, in any order', () => {
    const one = entry('a', 'B', '2024-01-01');
    const two = entry('a', 'a', '2024-01-01');
    expect([kept([one, two]), kept([two, one])]).toEqual(['B', 'B']);
  });

  it('the others are extras with the shared name', () => {
    const found = diff(['a'], [entry('a', '1'), entry('a', '2'), entry('a', '3')]);
    expect(found.kept).toBe(1);
    expect(found.extras).toMatchObject([
      { entry: { id: '2' }, cause: 'duplicate', desiredName: 'a' },
      { entry: { id: '3' }, cause: 'duplicate', desiredName: 'a' },
    ]);
  });

  it('entries of an undesired name are unnamed, not duplicates', () => {
    const found = diff(['a'], [entry('a'), entry('x', '1'), entry('x', '2')]);
    expect(found.extras.map(({ cause }) => cause)).toEqual(['unnamed', 'unnamed']);
    expect(found.duplicates).toEqual([]);
  });
});

describe('the missing names of a file', () => {
  it('are those of managed kinds that no listed or awaited entry has, as name keys', () => {
    const desired = { skill: wanted('b', 'Cafe\u0301', 'a'), role: wanted('Dev'), allowedDeletes: [] };
    const awaited = [{ kind: 'skill', remoteId: '1', name: 'b' }] as const;
    const lists = observed({ skill: [entry('a')], role: [entry('a')] });
    expect(missingDesiredNames(desired, lists, { ...HISTORY, awaited })).toEqual([
      { kind: 'skill', name: 'Café' },
      { kind: 'role', name: 'Dev' },
    ]);
    expect(missingDesiredNames({ allowedDeletes: [] }, observed(), HISTORY)).toEqual([]);
  });
});
