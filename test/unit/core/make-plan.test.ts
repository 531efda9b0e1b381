// The order, the summary, the digest and the warnings of a plan.
import { describe, expect, it } from 'vitest';
import type { Case } from './builders.ts';
import { codes, entry, person, plan, steps } from './builders.ts';

const BASE: Case = {
  skills: ['Kept', 'New'],
  roles: ['Boss'],
  observed: {
    skill: [entry('Kept'), entry('Old'), entry('Held')],
    role: [entry('Clerk')],
    resources: [person('p', ['Held'], null)],
  },
};

describe('the order of operations', () => {
  it('is creates before deletes, skills before roles, names by code points', () => {
    const made = plan({
      skills: ['b', '\u{1f600}', '\uffee', 'B'],
      roles: ['a'],
      observed: { skill: [entry('z'), entry('y')], role: [entry('x')] },
      policy: { maxDeletes: 99 },
    });
    expect(steps(made)).toEqual([
      'create skill B',
      'create skill b',
      'create skill \uffee',
      'create skill \u{1f600}',
      'create role a',
      'delete skill y',
      'delete skill z',
      'delete role x',
    ]);
  });

  it('puts an allowed delete of an unused near duplicate before the create', () => {
    const nearDuplicate: Case = {
      skills: ['Kept', 'TypeScript'],
      observed: { skill: [entry('Kept'), entry('Typescript'), entry('Alpha')] },
      allowedDeletes: [{ kind: 'skill', name: 'Typescript', expires: '2999-12-31' }],
    };
    expect(steps(plan(nearDuplicate))).toEqual([
      'delete skill Typescript',
      'create skill TypeScript',
      'delete skill Alpha',
    ]);
    expect(steps(plan({ ...nearDuplicate, allowedDeletes: [] }))).toEqual([
      'create skill TypeScript',
      'delete skill Alpha',
      'delete skill Typescript',
    ]);
  });

  const first = ['delete skill Type script', 'create skill TypeScript'];
  it.each([
    ['after the create', 'p', true, [], first.toReversed()],
    ['before a create that the service refused', 'p', true, ['skill:TypeScript'], first],
    ['nowhere without an allowance, and holds the create', 'p', false, ['skill:TypeScript'], []],
    ['before a refused create also if nobody has it', null, false, ['skill:TypeScript'], first],
    ['after a create of another kind that was refused', 'p', true, ['role:TypeScript'], first.toReversed()],
  ])('puts a near duplicate that people have %s', (_, holder, isAllowed, refused, expected) => {
    const made = plan({
      skills: ['TypeScript'],
      observed: {
        skill: [entry('Type script')],
        resources: [person('p', holder === null ? [] : ['Type script'])],
      },
      allowedDeletes: isAllowed ? [{ kind: 'skill', name: 'Type script', expires: '2999-12-31' }] : [],
      history: { refusedCreates: new Set(refused) },
    });
    expect(steps(made)).toEqual(expected);
    const create = made.held.find(({ action }) => action === 'create');
    expect(create?.rules).toEqual(expected.length === 0 ? ['rename'] : undefined);
  });
});

describe('the operations of both kinds', () => {
  it('include held creates, without an id', () => {
    const made = plan({ skills: ['New'], input: { frozen: { window: 'a window', untilMs: null } } });
    expect(made.held).toMatchObject([
      { action: 'create', kind: 'skill', name: 'New', remoteId: null, usedBy: [], rules: ['freeze'] },
    ]);
  });
});

describe('the reason of a delete', () => {
  const people = { resources: [person('p', ['Old'])] };
  const allowedDeletes = [{ kind: 'skill', name: 'Old', expires: '2999-12-31' }] as const;
  const skill = [entry('Kept'), entry('Old')];

  it.each<[string, Case, string | undefined]>([
    ['is empty by default', { observed: { skill } }, undefined],
    ['is an allowance that was needed', { observed: { skill, ...people }, allowedDeletes }, 'allowed'],
    ['is not an allowance that was not needed', { observed: { skill }, allowedDeletes }, undefined],
    [
      'is empty with delete: always',
      { observed: { skill, ...people }, policy: { delete: 'always' } },
      undefined,
    ],
    [
      'is that it is a duplicate',
      {
        skills: ['Old'],
        observed: { skill: [entry('Old', '1'), entry('Old', '2')] },
        policy: { duplicates: 'remove-unused' },
      },
      'duplicate',
    ],
  ])('%s', (_, of, reason) => {
    const [operation] = plan({ skills: ['Kept'], ...of }).operations;
    expect([operation?.action, operation?.name]).toEqual(['delete', 'Old']);
    expect(operation?.reason).toEqual(reason === undefined ? undefined : expect.stringContaining(reason));
  });
});

describe('the summary', () => {
  it('counts the lists of the plan', () => {
    const made = plan({ ...BASE, policy: { protect: ['Clerk'] } });
    expect(made.summary).toEqual({ create: 2, delete: 1, hold: 1, keep: 1, leave: 1 });
  });
});

describe('the digest', () => {
  const { digest } = plan(BASE);

  it.each<[string, Case]>([
    ['the time', { ...BASE, input: { now: '2027-01-01T00:00:00.000Z', nowMs: Date.parse('2027-01-01') } }],
    ['the commit', { ...BASE, input: { configCommit: 'abc' } }],
    ['the account’s name in the configuration', { ...BASE, input: { account: 'other' } }],
    ['a warning', { ...BASE, input: { warnings: [{ code: 'x', message: 'y' }] } }],
    [
      'the people of a held delete',
      { ...BASE, observed: { ...BASE.observed, resources: [person('q', ['Held'], null)] } },
    ],
    [
      'entries that are left alone',
      {
        ...BASE,
        observed: { ...BASE.observed, skill: [entry('Kept'), entry('Old'), entry('Held'), entry('Admin')] },
        policy: { protect: ['Admin'] },
      },
    ],
  ])('does not change with %s', (_, changed) => {
    expect(plan(changed).digest).toBe(digest);
  });

  it('does not change with the reason of an operation', () => {
    const renamed = plan({ ...BASE, skills: ['Kept', { name: 'New', formerly: ['Old'] }] });
    expect(renamed.operations.some(({ reason }) => reason !== undefined)).toBe(true);
    expect(renamed.digest).toBe(digest);
  });
});

describe('the digest of what was observed', () => {
  it('changes with people and with entries of managed kinds', () => {
    const { observedDigest } = plan(BASE);
    const people = plan({ ...BASE, observed: { ...BASE.observed, resources: [] } });
    const names = plan({ ...BASE, observed: { ...BASE.observed, role: [entry('Clerk', 'other')] } });
    expect(new Set([observedDigest, people.observedDigest, names.observedDigest]).size).toBe(3);
  });

  it.each([
    ['another skill', [person('p', ['x'], 'r'), person('q')]],
    ['one more skill', [person('p', ['x', 's'], 'r'), person('q')]],
    ['another role', [person('p', ['s'], 'x'), person('q')]],
    ['no role', [person('p', ['s']), person('q')]],
    ['another id', [person('other', ['s'], 'r'), person('q')]],
  ])('changes with %s of a person', (_, resources) => {
    const before = [person('p', ['s'], 'r'), person('q')];
    const digestOf = (people: typeof before) => plan({ observed: { resources: people } }).observedDigest;
    expect(digestOf(resources)).not.toBe(digestOf(before));
    expect(digestOf([person('q'), person('p', ['s'], 'r')])).toBe(digestOf(before));
  });
});

describe('a guard that blocks', () => {
  const blocked = { code: 'suspicious_list', message: 'much less' };

  it('makes the plan blocked, with all operations and the warning first', () => {
    const made = plan({ ...BASE, input: { blocked } });
    expect(made.status).toBe('blocked');
    expect(made.operations).toEqual(plan(BASE).operations);
    expect(codes(made)[0]).toBe('suspicious_list');
  });
});

describe('warnings', () => {
  it('name an entry whose name the service changed', () => {
    const made = plan({
      skills: ['Type Script'],
      observed: { skill: [entry('type script', '1')] },
      history: { requestedNames: new Map([['skill:1', 'Type Script']] as const) },
    });
    expect([steps(made), codes(made)]).toEqual([[], ['name_changed']]);
  });

  const skills = ['Kept'];
  const existing = { skills, observed: { skill: [entry('Old')] } };

  it.each<[string, Case, string, string]>([
    ['none for an existing entry', existing, '', ''],
    ['unused for an entry that does not exist', { skills }, 'allowed_delete_unused', 'no skill “Old”'],
    ['none on the last day', { ...existing, input: { now: '2026-12-31T23:00:00Z' } }, '', ''],
    [
      'expired after the last day',
      { ...existing, input: { now: '2027-01-01T00:00:00Z' } },
      'allowed_delete_expired',
      '2026-12-31',
    ],
    [
      'unused for a kind that is not managed',
      { roles: [] },
      'allowed_delete_unused',
      'skills are not managed',
    ],
    [
      'unused for an entry of the other kind',
      { skills, roles: ['Old'], observed: { role: [entry('Old')] } },
      'allowed_delete_unused',
      'no skill “Old”',
    ],
  ])('report allowances: %s', (_, of, code, words) => {
    const made = plan({ ...of, allowedDeletes: [{ kind: 'skill', name: 'Old', expires: '2026-12-31' }] });
    expect(codes(made)).toEqual(code === '' ? [] : [code]);
    expect(made.warnings[0]?.message ?? '').toContain(words);
  });
});
