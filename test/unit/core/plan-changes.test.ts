// Why a plan is stale: what changed since it was reviewed.
import { describe, expect, it } from 'vitest';
import type { Kind, ObservedCatalog } from '../../../src/core/catalog.ts';
import { CHANGED_SINCE_PLAN, changesSince, type PlanChange } from '../../../src/core/plan-changes.ts';
import { type Case, entry, observed, person, plan, wanted } from './builders.ts';

const ANY_NUMBER = { maxDeletes: 100, maxDeletePercent: 100 } as const;

interface Scene {
  readonly reviewed: Case;
  readonly present: Case;
  /** The last good lists: those of the reviewed plan by default. */
  readonly before?: Partial<ObservedCatalog> | null;
}

function changes({ reviewed, present, before = reviewed.observed ?? {} }: Scene): PlanChange[] {
  const of = (sketch: Case): Case => ({ ...sketch, policy: { ...ANY_NUMBER, ...sketch.policy } });
  const { skills, roles } = present;
  return changesSince(plan(of(reviewed)), plan(of(present)), {
    desired: {
      ...(skills === undefined ? {} : { skill: wanted(...skills) }),
      ...(roles === undefined ? {} : { role: wanted(...roles) }),
      approvedDeletes: [],
    },
    observed: observed(present.observed),
    before: before === null ? null : observed(before),
  });
}

/** The only change, which must be one. */
function onlyChange(scene: Scene): PlanChange {
  const found = changes(scene);
  expect(found).toHaveLength(1);
  return found[0] ?? { code: '', message: '', change: 'account' };
}

const NEW_CONFIG = { input: { configDigest: 'sha256:d' } } as const;

/** Lists with these skills, whose ids are their names, and with these people. */
function skills(names: readonly string[], resources: ObservedCatalog['resources'] = []) {
  return { skill: names.map((name) => entry(name)), resources };
}

describe('the changes since a plan was reviewed', () => {
  it('are none when nothing changed', () => {
    const same: Case = { skills: ['New'], observed: skills(['Old']) };
    expect(changes({ reviewed: same, present: same })).toEqual([]);
  });

  it('are in the order of the present plan, and those of operations that are gone come last', () => {
    const found = changes({
      reviewed: { skills: ['Gone', 'Kept'], observed: skills(['Kept', 'Left']) },
      present: { skills: ['Kept', 'B', 'A'], observed: skills(['Kept', 'C']), ...NEW_CONFIG, roles: ['R'] },
    });
    expect(found.map(({ change, action, name }) => [change, action, name])).toEqual([
      ['configuration', undefined, undefined],
      ['planned', 'create', 'A'],
      ['planned', 'create', 'B'],
      ['planned', 'create', 'R'],
      ['appeared', 'delete', 'C'],
      ['unplanned', 'create', 'Gone'],
      ['vanished', 'delete', 'Left'],
    ]);
  });

  it('are warnings with the operation that they are about', () => {
    const named = { skills: ['Kept'] };
    const reviewed = { ...named, observed: skills(['Kept']) };
    expect(changes({ reviewed, present: { ...named, observed: skills(['Kept', 'Old']) } })).toEqual([
      {
        code: CHANGED_SINCE_PLAN,
        change: 'appeared',
        action: 'delete',
        kind: 'skill',
        name: 'Old',
        remoteId: 'Old',
        message: 'appeared in the account; it would be deleted now',
      },
    ]);
  });
});

describe('a change of the account or the configuration', () => {
  const remote = (remoteAccountId: string | null): Case => ({ skills: [], input: { remoteAccountId } });

  it.each([
    ['42', '43', 'the plan was made for account 42, and the lists are of account 43'],
    [null, '43', 'the plan was made for an account of unknown id, and the lists are of account 43'],
    ['42', null, 'the plan was made for account 42, and the lists are of an account of unknown id'],
  ])('is reported for the account id %s that is now %s', (then, now, message) => {
    expect(changes({ reviewed: remote(then), present: remote(now) })).toEqual([
      { code: CHANGED_SINCE_PLAN, change: 'account', message },
    ]);
  });

  it.each([
    ['a', 'b', ' (commit a → b)'],
    ['a', 'a', ''],
    [null, 'b', ''],
    ['a', null, ''],
    [null, null, ''],
  ])('is reported for another configuration, whose commit was %s and is %s', (then, now, commits) => {
    const change = onlyChange({
      reviewed: { skills: [], input: { configCommit: then } },
      present: { skills: [], input: { configCommit: now, configDigest: 'sha256:d' } },
    });
    expect(change).toEqual({
      code: CHANGED_SINCE_PLAN,
      change: 'configuration',
      message: `the lists of names, the policy or the address in the account's file changed${commits}`,
    });
  });

  it('is not reported for another commit with the same configuration', () => {
    const at = (configCommit: string): Case => ({ skills: [], input: { configCommit } });
    expect(changes({ reviewed: at('a'), present: at('b') })).toEqual([]);
  });
});

describe('a change of the people who lose an entry', () => {
  const always = { delete: 'always' } as const;
  const held = (names: readonly string[], name = 'Old'): Case => ({
    skills: [],
    policy: { ...always, allowEmpty: true },
    observed: { skill: [entry(name, 'Old')], resources: names.map((id) => person(id, ['Old'])) },
  });
  const many = Array.from({ length: 11 }, (_, index) => `p${String(index).padStart(2, '0')}`);

  it.each<[readonly string[], readonly string[], string]>([
    [['p1'], ['p1', 'p2'], '2 people have it now: newly p2'],
    [['p1', 'p2'], ['p1'], '1 person has it now: no longer p2'],
    [['p1'], [], 'nobody has it now: no longer p1'],
    [[], ['p1'], '1 person has it now: newly p1'],
    [['p1'], ['p2'], '1 person has it now: newly p2; no longer p1'],
    [[], many.slice(0, 10), `10 people have it now: newly ${many.slice(0, 10).join(', ')}`],
    [[], many, `11 people have it now: newly ${many.slice(0, 10).join(', ')} … and 1 more`],
  ])('is reported when they were %j and are %j', (then, now, message) => {
    expect(onlyChange({ reviewed: held(then), present: held(now) })).toMatchObject({
      change: 'people',
      message,
      gained: now.filter((id) => !then.includes(id)),
      lost: then.filter((id) => !now.includes(id)),
    });
  });

  it('is reported with the new name when the entry was renamed too', () => {
    expect(onlyChange({ reviewed: held(['p1'], 'Old'), present: held(['p2'], 'Older') })).toMatchObject({
      change: 'renamed',
      name: 'Older',
      message: 'was renamed from “Old” to “Older”',
      gained: ['p2'],
      lost: ['p1'],
    });
  });
});

describe('a create that is new', () => {
  it('is explained by the entry that is gone', () => {
    const kept = { skills: ['Kept'] };
    const change = onlyChange({
      reviewed: { ...kept, observed: skills(['Kept']) },
      present: { ...kept, observed: skills([]) },
    });
    expect(change).toMatchObject({ change: 'vanished', action: 'create', name: 'Kept' });
    expect(change).not.toHaveProperty('remoteId');
    expect(change).not.toHaveProperty('gained');
  });

  it('is explained by the entry that is gone, also when the configuration changed', () => {
    const scene = {
      reviewed: { roles: ['Kept'], observed: { role: [entry('Kept')] } },
      present: { roles: ['Kept'], ...NEW_CONFIG },
    };
    expect(changes(scene).map(({ change }) => change)).toEqual(['configuration', 'vanished']);
    // Without earlier lists it is unknown whether the entry existed.
    expect(changes({ ...scene, before: null }).map(({ change }) => change)).toEqual([
      'configuration',
      'planned',
    ]);
    expect(changes({ ...scene, before: skills(['Kept']) }).map(({ change }) => change)).toEqual([
      'configuration',
      'planned',
    ]);
  });

  it('is explained by the entry that was renamed', () => {
    for (const kind of ['skill', 'role'] as const satisfies readonly Kind[]) {
      const named = kind === 'skill' ? { skills: ['Kept'] } : { roles: ['Kept'] };
      const policy = { protect: ['Other'] };
      const change = onlyChange({
        reviewed: { ...named, policy, observed: { [kind]: [entry('Kept', '7')] } },
        present: { ...named, policy, observed: { [kind]: [entry('Other', '7')] } },
      });
      expect(change).toMatchObject({ change: 'renamed', action: 'create', kind, name: 'Kept' });
      expect(change.message).toBe('the entry of this name (7) is named “Other” now');
    }
  });

  it('is not explained by a rename when the list still shows the deleted entry, also in another form of Unicode', () => {
    const present = {
      skills: ['Café'],
      observed: { skill: [entry('Cafe\u0301', '7')] },
      history: { gone: new Set(['skill:7'] as const) },
    };
    const reviewed = { skills: ['Café'], observed: { skill: [entry('Café', '7')] } };
    expect(onlyChange({ reviewed, present })).toMatchObject({ change: 'vanished', name: 'Café' });
  });

  it('is explained by the file', () => {
    const found = changes({ reviewed: { skills: [] }, present: { skills: ['New'], ...NEW_CONFIG } });
    expect(found.map(({ change, name }) => [change, name])).toEqual([
      ['configuration', undefined],
      ['planned', 'New'],
    ]);
  });

  it('is explained by the rules that held it', () => {
    const flappingCreates = new Map([['skill:New', 0]]);
    const frozen = { input: { frozen: { window: 'nights', untilMs: null } } };
    const change = onlyChange({
      reviewed: { skills: ['New'], history: { flappingCreates }, ...frozen },
      present: { skills: ['New'] },
    });
    expect(change).toMatchObject({ change: 'released', action: 'create', name: 'New' });
    expect(change.message).toBe('was held (flapping, freeze), and nothing holds it now');
  });
});

describe('a delete that is new', () => {
  const old = { skills: ['Kept'], observed: skills(['Kept', 'Old']) };

  it('is explained by the entry that appeared', () => {
    const reviewed = { ...old, observed: skills(['Kept']) };
    for (const before of [undefined, null]) {
      const change = onlyChange({ reviewed, present: old, ...(before === undefined ? {} : { before }) });
      expect(change).toMatchObject({ change: 'appeared', action: 'delete', name: 'Old', remoteId: 'Old' });
    }
    const found = changes({ reviewed, present: { ...old, ...NEW_CONFIG } });
    expect(found.map(({ change }) => change)).toEqual(['configuration', 'appeared']);
  });

  it('is explained by the rules that held it', () => {
    const resources = [person('p1', ['Old'])];
    const change = onlyChange({
      reviewed: { ...old, observed: skills(['Kept', 'Old'], resources), input: { source: 'older' } },
      present: old,
    });
    expect(change).toMatchObject({ change: 'released', action: 'delete', remoteId: 'Old' });
    expect(change.message).toBe('was held (in_use, stale_source), and nothing holds it now');
  });

  it('is explained by the rule that left it alone', () => {
    const change = onlyChange({ reviewed: { ...old, policy: { protect: ['Old'] } }, present: old });
    expect(change).toMatchObject({ change: 'planned', action: 'delete' });
    expect(change.message).toBe('was left alone (protected); it would be deleted now');
  });

  it('is explained by the entry that was renamed', () => {
    const change = onlyChange({
      reviewed: { skills: ['Kept', 'Wanted'], observed: { skill: [entry('Kept'), entry('Wanted', 'Old')] } },
      present: { ...old, skills: ['Kept'] },
    });
    expect(change).toMatchObject({ change: 'renamed', name: 'Old' });
    expect(change.message).toBe('was renamed from “Wanted”; it would be deleted now');
  });

  it('is explained by the file that no longer names it, also in another form of Unicode', () => {
    const found = changes({
      reviewed: { skills: ['Kept', 'Café'], observed: { skill: [entry('Kept'), entry('Café', '7')] } },
      present: {
        skills: ['Kept'],
        observed: { skill: [entry('Kept'), entry('Cafe\u0301', '7')] },
        ...NEW_CONFIG,
      },
    });
    expect(found.map(({ change, message }) => [change, message]).slice(1)).toEqual([
      ['planned', 'the file no longer names it; it would be deleted now'],
    ]);
  });

  it('is explained by its appearance when it was in the last lists and the configuration is the same', () => {
    const reviewed = { ...old, observed: skills(['Kept']) };
    expect(onlyChange({ reviewed, present: old, before: old.observed })).toMatchObject({
      change: 'appeared',
    });
  });
});

describe('an operation that is no longer planned', () => {
  const old: Case = { skills: ['Kept'], observed: skills(['Kept', 'Old']) };
  const kept = skills(['Kept']);

  it('is explained by the rules that hold it now, and by the people who have the entry', () => {
    const held = (resources: ObservedCatalog['resources'], source?: 'older') =>
      onlyChange({
        reviewed: old,
        present: {
          ...old,
          observed: skills(['Kept', 'Old'], resources),
          ...(source === undefined ? {} : { input: { source } }),
        },
      });
    expect(held([person('p1', ['Old']), person('p2', ['Old'])], 'older')).toMatchObject({
      change: 'held',
      action: 'delete',
      remoteId: 'Old',
      message: 'is held now (in_use, stale_source); people who have it: p1, p2',
    });
    expect(held([], 'older').message).toBe('is held now (stale_source)');
  });

  it('is explained by the rule that holds a create now', () => {
    const input = { frozen: { window: 'nights', untilMs: null } };
    expect(onlyChange({ reviewed: { skills: ['New'] }, present: { skills: ['New'], input } })).toMatchObject({
      change: 'held',
      action: 'create',
      message: 'is held now (freeze)',
    });
  });

  it('is explained by the file that no longer manages its kind', () => {
    const found = changes({
      reviewed: { ...old, roles: ['New'] },
      present: { ...NEW_CONFIG, observed: old.observed ?? {} },
    });
    expect(found.map(({ message }) => message).slice(1)).toEqual([
      'the file no longer manages roles',
      'the file no longer manages skills',
    ]);
    expect(found.map(({ change }) => change).slice(1)).toEqual(['unplanned', 'unplanned']);
  });

  it('is explained by an entry that somebody else created', () => {
    const change = onlyChange({
      reviewed: { skills: ['Kept'] },
      present: { skills: ['Kept'], observed: kept },
    });
    expect(change).toMatchObject({ change: 'appeared', action: 'create', name: 'Kept' });
    expect(change.message).toBe('exists in the account now');
  });

  it('is explained by the file that no longer requests it', () => {
    const found = changes({
      reviewed: { skills: ['Kept', 'New'], observed: kept },
      present: { skills: ['Kept'], observed: kept, ...NEW_CONFIG },
    });
    expect(found.slice(1)).toMatchObject([
      { change: 'unplanned', action: 'create', name: 'New', message: 'the file no longer requests it' },
    ]);
  });

  it('is explained by an entry that somebody else deleted', () => {
    const change = onlyChange({ reviewed: old, present: { ...old, observed: kept } });
    expect(change).toMatchObject({ change: 'vanished', action: 'delete', name: 'Old' });
    expect(change.message).toBe('is no longer in the account');
  });

  it('is explained by the new name of its entry', () => {
    const observedNow = { skill: [entry('Kept'), entry('Wanted', 'Old')] };
    const change = changes({
      reviewed: { ...old, skills: ['Kept', 'Wanted'] },
      present: { ...old, skills: ['Kept', 'Wanted'], observed: observedNow },
    });
    expect(change).toMatchObject([
      { change: 'appeared', action: 'create', name: 'Wanted' },
      { change: 'renamed', action: 'delete', name: 'Old', message: 'is named “Wanted” now' },
    ]);
  });

  it('is explained by the rule that leaves it alone now', () => {
    const change = onlyChange({ reviewed: old, present: { ...old, policy: { delete: 'never' } } });
    expect(change).toMatchObject({ change: 'unplanned', action: 'delete' });
    expect(change.message).toBe('is left alone now (never_delete)');
  });

  it('is explained by the file that names it now', () => {
    const found = changes({
      reviewed: { skills: ['Kept'], observed: { skill: [entry('Kept'), entry('Cafe\u0301', '7')] } },
      present: {
        skills: ['Kept', 'Café'],
        observed: { skill: [entry('Kept'), entry('Café', '7')] },
        ...NEW_CONFIG,
      },
    });
    expect(found.slice(1)).toMatchObject([
      { change: 'unplanned', action: 'delete', message: 'the file names it now' },
    ]);
  });

  it('is only named when its entry exists and counts as deleted', () => {
    const history = { gone: new Set(['skill:Old'] as const) };
    const change = onlyChange({ reviewed: old, present: { ...old, history } });
    expect(change).toMatchObject({ change: 'unplanned', message: 'is not deleted any more' });
  });
});
