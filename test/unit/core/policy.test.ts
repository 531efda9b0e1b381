// The decision about an entry that the file does not name: each rule alone, and several together.
import { describe, expect, it } from 'vitest';
import type { ObservedCatalog, Policy } from '../../../src/core/catalog.ts';
import { diffKind } from '../../../src/core/diff.ts';
import type { HoldRule, OpenFreeze } from '../../../src/core/plan.ts';
import { HOLD_RULES } from '../../../src/core/plan.ts';
import { judge } from '../../../src/core/policy.ts';
import type { Case } from './builders.ts';
import {
  codes,
  deletesAgo,
  entry,
  heldAs,
  HISTORY,
  NOW_MS,
  observed,
  person,
  plan,
  POLICY,
  rulesFor,
  steps,
  wanted,
} from './builders.ts';

const numbered = (count: number, prefix = 'x') =>
  Array.from({ length: count }, (_, index) => entry(`${prefix}${String(index).padStart(3, '0')}`));

/** One skill `Old` that the file does not name, beside `Kept` that it names. */
function old(more: Case = {}): Case {
  return {
    skills: ['Kept'],
    ...more,
    observed: { skill: [entry('Kept'), entry('Old')], ...more.observed },
  };
}

const used = { resources: [person('p1', ['Old'])] };

describe('delete: never | unused | always', () => {
  it('unused deletes an entry that nobody has', () => {
    expect(steps(plan(old()))).toEqual(['delete skill Old']);
  });

  it('unused holds an entry that people have, with their ids and the release', () => {
    const made = plan(old({ observed: { resources: [person('p2', ['Old']), person('p1', ['Old'])] } }));
    expect(steps(made)).toEqual([]);
    const held = heldAs(made, 'Old');
    expect(held).toMatchObject({
      action: 'delete',
      remoteId: 'Old',
      usedBy: ['p1', 'p2'],
      rules: ['in_use'],
    });
    expect(held.reason).toContain('2 people');
    expect(held.release).toContain('approvedDeletes');
  });

  it('unused holds a role that somebody has', () => {
    const made = plan({
      roles: ['Kept'],
      observed: { role: [entry('Kept'), entry('Old')], resources: [person('p', [], 'Old')] },
    });
    expect(rulesFor(made, 'Old')).toEqual(['in_use']);
  });

  it('a skill in use does not hold a role of the same id', () => {
    const made = plan({
      skills: ['Kept', 'Old'],
      roles: ['Kept'],
      observed: {
        skill: [entry('Kept'), entry('Old')],
        role: [entry('Kept'), entry('Old')],
        resources: [person('p', ['Old'])],
      },
    });
    expect(steps(made)).toEqual(['delete role Old']);
  });

  it('always deletes an entry that people have, and lists them in the operation', () => {
    const made = plan(old({ observed: used, policy: { delete: 'always' } }));
    expect(made.operations).toMatchObject([{ action: 'delete', name: 'Old', usedBy: ['p1'] }]);
  });

  it('never leaves every entry alone, which is not a difference', () => {
    const made = plan(old({ observed: used, policy: { delete: 'never' } }));
    expect(made.leftAlone).toEqual([{ kind: 'skill', name: 'Old', remoteId: 'Old', rule: 'never_delete' }]);
    expect([made.operations, made.held]).toEqual([[], []]);
    expect(made.summary).toMatchObject({ leave: 1, hold: 0, delete: 0 });
  });
});

describe('ownership: managed', () => {
  const managed = { ownership: 'managed' } as const;

  it('leaves an entry alone that rolecall neither created nor adopted', () => {
    expect(plan(old({ policy: managed })).leftAlone).toMatchObject([{ name: 'Old', rule: 'unmanaged' }]);
  });

  it('deletes an entry that rolecall owns', () => {
    const history = { owned: new Set(['skill:Old'] as const) };
    expect(steps(plan(old({ policy: managed, history })))).toEqual(['delete skill Old']);
  });

  it('does not confuse a role with an owned skill of the same id', () => {
    const history = { owned: new Set(['role:Old'] as const) };
    expect(plan(old({ policy: managed, history })).leftAlone).toMatchObject([{ rule: 'unmanaged' }]);
  });

  it('counts a former name as named by the file', () => {
    const made = plan({
      skills: [{ name: 'New', formerly: ['Old'] }],
      observed: { skill: [entry('Old')] },
      policy: managed,
    });
    expect(steps(made)).toEqual(['create skill New', 'delete skill Old']);
  });
});

describe('protect', () => {
  it('leaves an entry alone that a glob matches, whatever policy.delete is and even if approved', () => {
    const made = plan(
      old({
        observed: used,
        policy: { delete: 'always', protect: ['O?d'] },
        approvedDeletes: [{ kind: 'skill', name: 'Old', expires: '2999-12-31' }],
      }),
    );
    expect(made.leftAlone).toMatchObject([{ name: 'Old', rule: 'protected' }]);
  });

  it('protects an entry with a former name too', () => {
    const made = plan({
      skills: [{ name: 'New', formerly: ['Old'] }],
      observed: { skill: [entry('Old')] },
      policy: { protect: ['Old'] },
    });
    expect([steps(made), made.leftAlone.length]).toEqual([['create skill New'], 1]);
  });

  it('does not prevent the create of a matching name', () => {
    expect(steps(plan({ skills: ['Admin'], policy: { protect: ['*'] } }))).toEqual(['create skill Admin']);
  });
});

describe('duplicates', () => {
  const duplicates = { skill: [entry('Kept', '1', '2020-01-01'), entry('Kept', '2', '2021-01-01')] };

  it('are reported and left alone by default', () => {
    const made = plan({ skills: ['Kept'], observed: duplicates });
    expect(made.leftAlone).toEqual([{ kind: 'skill', name: 'Kept', remoteId: '2', rule: 'duplicate' }]);
    expect(codes(made)).toContain('duplicate');
    expect(steps(made)).toEqual([]);
  });

  it('are deleted under remove-unused when nobody has them, and one is kept', () => {
    const made = plan({ skills: ['Kept'], observed: duplicates, policy: { duplicates: 'remove-unused' } });
    expect(made.operations).toMatchObject([{ action: 'delete', remoteId: '2' }]);
  });

  it.each<Policy['delete']>(['unused', 'always'])(
    'in use are kept under remove-unused and delete: %s',
    (mode) => {
      const made = plan({
        skills: ['Kept'],
        observed: { ...duplicates, resources: [person('p', ['1', '2'])] },
        policy: { duplicates: 'remove-unused', delete: mode },
        approvedDeletes: [{ kind: 'skill', name: 'Kept', expires: '2999-12-31' }],
      });
      expect([steps(made), made.leftAlone]).toMatchObject([[], [{ remoteId: '2', rule: 'duplicate' }]]);
    },
  );

  it('that a missing person had are kept too', () => {
    const made = plan({
      skills: ['Kept'],
      observed: duplicates,
      policy: { duplicates: 'remove-unused' },
      history: { missingHoldings: [{ resourceId: 'p', kind: 'skill', remoteId: '2', sinceMs: 0 }] },
    });
    expect(made.leftAlone).toMatchObject([{ remoteId: '2', rule: 'duplicate' }]);
  });
});

describe('renames', () => {
  const rename = { name: 'New', formerly: ['Old'] };

  it('create the new name first and delete the old one that nobody has', () => {
    const made = plan({ skills: [rename], observed: { skill: [entry('Old')] } });
    expect(steps(made)).toEqual(['create skill New', 'delete skill Old']);
    expect(made.operations[1]?.reason).toContain('New');
  });

  it.each<Policy['delete']>(['unused', 'always'])(
    'keep the old one while people have it, delete: %s',
    (mode) => {
      const made = plan({
        skills: [rename],
        observed: { skill: [entry('Old'), entry('New')], resources: [person('p', ['Old'])] },
        policy: { delete: mode },
      });
      expect(rulesFor(made, 'Old')).toContain('rename');
      expect(heldAs(made, 'Old').usedBy).toEqual(['p']);
    },
  );

  it('hold the old name when the create of the new one is held', () => {
    const made = plan({
      skills: [rename],
      observed: { skill: [entry('Old')] },
      history: { flappingCreates: new Map([['skill:New', 0]]) },
    });
    expect(rulesFor(made, 'New')).toEqual(['flapping']);
    expect(rulesFor(made, 'Old')).toEqual(['rename']);
  });
});

describe('suspected renames', () => {
  const near: Case = {
    skills: ['TypeScript'],
    observed: { skill: [entry('typescript')], resources: [person('p', ['typescript'])] },
  };

  it.each<Policy['delete']>(['unused', 'always'])('hold a near name that people have, delete: %s', (mode) => {
    const made = plan({ ...near, policy: { delete: mode } });
    expect(rulesFor(made, 'typescript')).toContain('suspected_rename');
    expect(steps(made)).toEqual(['create skill TypeScript']);
  });

  it('hold a near name also when the desired name exists already', () => {
    const made = plan({
      ...near,
      observed: { ...near.observed, skill: [entry('typescript'), entry('TypeScript')] },
      policy: { delete: 'always' },
    });
    expect(rulesFor(made, 'typescript')).toEqual(['suspected_rename']);
  });

  it('do not hold a near name that nobody has, but warn about it', () => {
    const made = plan({ ...near, observed: { skill: [entry('typescript')] } });
    expect(steps(made)).toEqual(['create skill TypeScript', 'delete skill typescript']);
    expect(codes(made)).toContain('near_name');
  });

  it('do not include a declared rename', () => {
    const made = plan({
      skills: [{ name: 'TypeScript', formerly: ['typescript'] }],
      observed: { skill: [entry('typescript')], resources: [person('p', ['typescript'])] },
      policy: { delete: 'always' },
    });
    expect(rulesFor(made, 'typescript')).toEqual(['rename']);
    expect(codes(made)).toEqual([]);
  });

  it('do not include names of the other kind', () => {
    const made = plan({
      skills: [],
      roles: ['TypeScript'],
      observed: { skill: [entry('typescript')], resources: [person('p', ['typescript'])] },
      policy: { delete: 'always', allowEmpty: true },
    });
    expect(steps(made)).toEqual(['create role TypeScript', 'delete skill typescript']);
  });
});

describe('people who are missing', () => {
  const missing = {
    missingHoldings: [{ resourceId: 'gone', kind: 'skill', remoteId: 'Old', sinceMs: 0 }],
  } as const;

  it('hold the delete of an entry that they had', () => {
    const made = plan(old({ history: missing }));
    expect(rulesFor(made, 'Old')).toEqual(['holders_missing']);
    expect(heldAs(made, 'Old').reason).toContain('gone');
  });

  it('do not hold an approved delete', () => {
    const made = plan(
      old({ history: missing, approvedDeletes: [{ kind: 'skill', name: 'Old', expires: '2999-12-31' }] }),
    );
    expect(steps(made)).toEqual(['delete skill Old']);
  });

  it('hold nothing under delete: always', () => {
    expect(steps(plan(old({ history: missing, policy: { delete: 'always' } })))).toEqual([
      'delete skill Old',
    ]);
  });

  it('hold a near name under delete: always, because it may be a rename', () => {
    const made = plan(old({ skills: ['Kept', 'OLD'], history: missing, policy: { delete: 'always' } }));
    expect(rulesFor(made, 'Old')).toEqual(['holders_missing']);
  });

  it('do not hold an entry of the other kind that has the same id', () => {
    const made = plan({
      roles: ['Kept'],
      observed: { role: [entry('Kept'), entry('Old')] },
      history: missing,
    });
    expect(steps(made)).toEqual(['delete role Old']);
  });

  it('are all named in the reason', () => {
    const missingHoldings = ['ann', 'bob'].map((resourceId) => ({
      resourceId,
      kind: 'skill' as const,
      remoteId: 'Old',
      sinceMs: 0,
    }));
    expect(heldAs(plan(old({ history: { missingHoldings } })), 'Old').reason).toContain('(ann, bob)');
  });

  it('do not count twice when they are listed with the entry', () => {
    const made = plan(old({ observed: { resources: [person('gone', ['Old'])] }, history: missing }));
    expect(rulesFor(made, 'Old')).toEqual(['in_use']);
  });

  it('hold a declared rename under delete: always', () => {
    const made = plan({
      skills: [{ name: 'New', formerly: ['Old'] }],
      observed: { skill: [entry('Old')] },
      history: missing,
      policy: { delete: 'always' },
    });
    expect(rulesFor(made, 'Old')).toEqual(['holders_missing']);
  });
});

describe('unusedFor', () => {
  const day = 86_400_000;
  const since = (ms: number): Case =>
    old({
      policy: { unusedForMs: day },
      history: { lastUsedMs: new Map([['skill:Old', NOW_MS - ms]] as const) },
    });

  it('holds an entry that has been unused for less time', () => {
    expect(rulesFor(plan(since(day - 1)), 'Old')).toEqual(['too_new']);
  });

  it('deletes an entry exactly when the time has passed', () => {
    expect(steps(plan(since(day)))).toEqual(['delete skill Old']);
  });

  it('of 0 holds nothing, also when the clock was set back', () => {
    const history = { lastUsedMs: new Map([['skill:Old', NOW_MS + day]] as const) };
    expect(steps(plan(old({ history })))).toEqual(['delete skill Old']);
  });

  it('holds no entry that the journal never saw in use', () => {
    expect(steps(plan(old({ policy: { unusedForMs: day } })))).toEqual(['delete skill Old']);
  });

  it('holds nothing where it does not matter whether people have the entry', () => {
    const always = since(1);
    expect(steps(plan({ ...always, policy: { ...always.policy, delete: 'always' } }))).toEqual([
      'delete skill Old',
    ]);
  });
});

describe('an empty list', () => {
  const empty: Case = { skills: [], observed: { skill: [entry('a'), entry('b')] } };

  it('deletes nothing without allowEmpty', () => {
    expect(plan(empty).held.map(({ rules }) => rules)).toEqual([['empty_catalog'], ['empty_catalog']]);
    expect(steps(plan({ ...empty, policy: { allowEmpty: true } }))).toHaveLength(2);
  });

  it('is different from a kind that is omitted', () => {
    const made = plan({ roles: ['x'], observed: { skill: [entry('a')], role: [entry('x')] } });
    expect([made.operations, made.held, made.leftAlone, made.summary.keep]).toEqual([[], [], [], 1]);
  });
});

describe('maxDeletes', () => {
  const going = (count: number, more: Case = {}): Case => ({
    skills: ['Kept'],
    ...more,
    observed: { skill: [entry('Kept'), ...numbered(count)], ...more.observed },
    policy: { maxDeletes: 3, maxDeletePercent: 100, ...more.policy },
  });

  it('allows exactly its number of deletes', () => {
    expect(plan(going(3)).summary).toMatchObject({ delete: 3, hold: 0 });
  });

  it('holds all deletes when there is one more, never a part of them', () => {
    const made = plan(going(4));
    expect(made.summary).toMatchObject({ delete: 0, hold: 4 });
    expect(made.held.every(({ rules }) => rules.includes('max_deletes'))).toBe(true);
  });

  it('does not hold creates', () => {
    expect(steps(plan(going(4, { skills: ['Kept', 'New'] })))).toEqual(['create skill New']);
  });

  it('does not count entries that another rule holds', () => {
    const made = plan(going(4, { observed: { resources: [person('p', ['x000'])] } }));
    expect(made.summary).toMatchObject({ delete: 3, hold: 1 });
    expect(rulesFor(made, 'x000')).toEqual(['in_use']);
  });

  it('does not count entries that are left alone', () => {
    expect(plan(going(4, { policy: { protect: ['x000'] } })).summary).toMatchObject({ delete: 3, leave: 1 });
  });

  it('counts both kinds together', () => {
    const made = plan({
      skills: ['Kept'],
      roles: ['Kept'],
      observed: { skill: [entry('Kept'), ...numbered(2)], role: [entry('Kept'), ...numbered(2, 'r')] },
      policy: { maxDeletes: 3 },
    });
    expect(made.summary).toMatchObject({ delete: 0, hold: 4 });
  });

  it('is reported beside another rule that holds an entry', () => {
    const made = plan(going(5, { observed: { resources: [person('p', ['x000'])] } }));
    expect(rulesFor(made, 'x000')).toEqual(['in_use', 'max_deletes']);
  });

  it('of 0 holds every delete', () => {
    expect(plan(going(1, { policy: { maxDeletes: 0 } })).summary).toMatchObject({ delete: 0, hold: 1 });
  });
});

describe('maxDeletesPerDay', () => {
  const afterDeletes = (count: number): Case =>
    old({ policy: { maxDeletesPerDay: 5 }, history: { recentDeletesMs: deletesAgo(count) } });

  it('allows deletes up to its number', () => {
    expect(steps(plan(afterDeletes(4)))).toEqual(['delete skill Old']);
  });

  it('holds deletes beyond its number', () => {
    expect(rulesFor(plan(afterDeletes(5)), 'Old')).toEqual(['max_deletes_per_day']);
  });

  it('does not hold an entry that another rule holds when nothing else would be deleted', () => {
    const made = plan({ ...afterDeletes(9), observed: { ...old().observed, ...used } });
    expect(rulesFor(made, 'Old')).toEqual(['in_use']);
  });
});

describe('maxDeletePercent', () => {
  /** `going` of `count` skills are not in the file. */
  const of = (going: number, count: number, more: Partial<Policy> = {}): Case => ({
    skills: numbered(count - going, 'k').map(({ name }) => name),
    observed: { skill: [...numbered(count - going, 'k'), ...numbered(going)] },
    policy: { maxDeletes: 1000, maxDeletePercent: 30, ...more },
  });

  it('has no effect below ten entries', () => {
    expect(plan(of(8, 9)).summary).toMatchObject({ delete: 8, hold: 0 });
  });

  it('allows deletes up to its limit, from ten entries on', () => {
    expect(plan(of(3, 10)).summary).toMatchObject({ delete: 3, hold: 0 });
  });

  it('holds all deletes of the kind when one more would exceed it', () => {
    const made = plan(of(4, 10));
    expect(made.summary).toMatchObject({ delete: 0, hold: 4 });
    expect(rulesFor(made, 'x000')).toEqual(['max_delete_percent']);
  });

  it('does not hold the other kind', () => {
    const skills = of(4, 10);
    const made = plan({
      ...skills,
      roles: ['r'],
      observed: { ...skills.observed, role: [entry('r'), entry('gone')] },
    });
    expect(steps(made)).toEqual(['delete role gone']);
    expect(made.summary.hold).toBe(4);
  });

  it('does not count entries that another rule holds', () => {
    const four = of(4, 10);
    const made = plan({ ...four, observed: { ...four.observed, resources: [person('p', ['x000'])] } });
    expect(made.summary).toMatchObject({ delete: 3, hold: 1 });
  });

  it('compares fractions exactly', () => {
    expect(plan(of(4, 11, { maxDeletePercent: 36 })).summary.delete).toBe(0);
    expect(plan(of(4, 11, { maxDeletePercent: 36.4 })).summary.delete).toBe(4);
  });
});

describe('approvedDeletes', () => {
  const approved = { approvedDeletes: [{ kind: 'skill', name: 'Old', expires: '2999-12-31' }] } as const;

  it('releases an entry in use, with a reason in the operation', () => {
    const made = plan(old({ observed: used, ...approved }));
    expect(made.operations).toMatchObject([
      { name: 'Old', usedBy: ['p1'], reason: 'approved in approvedDeletes' },
    ]);
  });

  it('releases a rename whose old name people have', () => {
    const made = plan({
      skills: [{ name: 'New', formerly: ['Old'] }],
      observed: { skill: [entry('Old'), entry('New')], ...used },
      ...approved,
    });
    expect(steps(made)).toEqual(['delete skill Old']);
  });

  it('releases a suspected rename', () => {
    const made = plan({
      skills: ['OLD'],
      observed: { skill: [entry('Old'), entry('OLD')], ...used },
      ...approved,
    });
    expect(steps(made)).toEqual(['delete skill Old']);
  });

  it('does not release an entry of the other kind', () => {
    const made = plan(
      old({ observed: used, approvedDeletes: [{ kind: 'role', name: 'Old', expires: '2999-12-31' }] }),
    );
    expect(rulesFor(made, 'Old')).toEqual(['in_use']);
  });

  it('matches the entry in any Unicode form, but not in another case', () => {
    const cafe = (name: string): Case => ({
      skills: ['Kept'],
      observed: { skill: [entry('Kept'), entry('Cafe\u0301', 'c')], resources: [person('p', ['c'])] },
      approvedDeletes: [{ kind: 'skill', name, expires: '2999-12-31' }],
    });
    expect(plan(cafe('Caf\u00e9')).summary.delete).toBe(1);
    expect(plan(cafe('caf\u00e9')).summary.delete).toBe(0);
  });

  it('is valid through its last day', () => {
    const until = (expires: string): Case =>
      old({ observed: used, approvedDeletes: [{ kind: 'skill', name: 'Old', expires }] });
    expect(plan(until('2026-03-10')).summary.delete).toBe(1);
    const late = plan(until('2026-03-09'));
    expect(rulesFor(late, 'Old')).toEqual(['in_use']);
    expect(codes(late)).toContain('approval_expired');
    const lastMoment = { input: { now: '2026-03-10T23:59:59.999Z' } };
    expect(plan({ ...until('2026-03-10'), ...lastMoment }).summary.delete).toBe(1);
  });

  it('that matches no entry is a warning', () => {
    expect(
      codes(plan(old({ approvedDeletes: [{ kind: 'skill', name: 'Perl', expires: '2999-12-31' }] }))),
    ).toContain('approval_unused');
    expect(
      codes(plan(old({ approvedDeletes: [{ kind: 'role', name: 'Perl', expires: '2999-12-31' }] }))),
    ).toContain('approval_unused');
    expect(codes(plan(old(approved)))).not.toContain('approval_unused');
  });

  it.each<[string, Case]>([
    ['empty_catalog', { skills: [], observed: { skill: [entry('Old')], ...used } }],
    ['max_deletes', old({ observed: used, policy: { maxDeletes: 0 } })],
    ['max_deletes_per_day', old({ observed: used, policy: { maxDeletesPerDay: 0 } })],
    ['stale_source', old({ observed: used, input: { source: 'older' } })],
    ['freeze', old({ observed: used, input: { frozen: { window: 'a window', untilMs: null } } })],
    ['flapping', old({ observed: used, history: { flappingDeletes: new Map([['skill:Old', 0]]) } })],
    [
      'too_new',
      old({
        policy: { unusedForMs: 1 },
        history: { lastUsedMs: new Map([['skill:Old', NOW_MS]] as const) },
      }),
    ],
    [
      'max_delete_percent',
      {
        skills: numbered(9).map(({ name }) => name),
        observed: { skill: [...numbered(9), entry('Old')], ...used },
        policy: { maxDeletePercent: 9 },
      },
    ],
  ])('never releases %s', (rule, of) => {
    expect(rulesFor(plan({ ...of, ...approved }), 'Old')).toEqual([rule]);
  });

  it('never releases delete: never', () => {
    const made = plan(old({ observed: used, policy: { delete: 'never' }, ...approved }));
    expect(made.leftAlone).toMatchObject([{ rule: 'never_delete' }]);
  });
});

describe('an entry that is left alone', () => {
  const lists = observed({ skill: [entry('Kept'), entry('Admin'), entry('Old')] });
  const diffs = [diffKind('skill', wanted('Kept'), { observed: lists, usage: new Map(), history: HISTORY })];

  it.each<[OpenFreeze | null, number, readonly HoldRule[]]>([
    [{ window: 'a window', untilMs: null }, 10, ['freeze']],
    [null, 0, ['max_deletes']],
  ])(
    'is held by no rule, whatever holds the others (frozen: %j, maxDeletes: %d)',
    (frozen, maxDeletes, others) => {
      const { extras } = judge(diffs, {
        policy: { ...POLICY, protect: ['Admin'], maxDeletes },
        usage: new Map(),
        history: HISTORY,
        nowMs: NOW_MS,
        frozen,
        staleSource: false,
        approvals: [],
        unknownHolders: new Map(),
        acceptNoHistory: false,
      });
      expect(extras.map(({ leave, holds }) => [leave, holds])).toEqual([
        ['protected', []],
        [null, others],
      ]);
    },
  );
});

describe('an approval of a name that several entries have', () => {
  const twice = { skill: [entry('Kept'), entry('Old', '1'), entry('Old', '2')] };
  const approvedDeletes = [{ kind: 'skill', name: 'Old', expires: '2999-12-31' }] as const;

  it.each([
    ['unused', approvedDeletes],
    ['unused', []],
    ['always', approvedDeletes],
  ] as const)('releases none that people have, with delete: %s and the approvals %j', (mode, approvals) => {
    const resources = [person('p', ['1', '2'])];
    const skills = mode === 'always' ? [{ name: 'Kept', formerly: ['Old'] }] : ['Kept'];
    const made = plan({
      skills,
      approvedDeletes: approvals,
      policy: { delete: mode },
      observed: { ...twice, resources },
    });
    expect([steps(made), made.held.map(({ remoteId }) => remoteId)]).toEqual([[], ['1', '2']]);
    for (const { reason, release } of made.held) {
      expect(reason).toContain('2 skills have this name, and an approval may release only one');
      expect(release).toContain('delete by hand all but one of the 2 skills “Old”');
      expect(release).not.toContain('approvedDeletes');
    }
    if (approvals.length === 0) return expect(made.warnings).toEqual([]);
    expect(made.warnings).toMatchObject([{ code: 'approval_ambiguous', kind: 'skill', name: 'Old' }]);
    expect(made.warnings[0]?.message).toContain('names 2 entries (1, 2)');
    return undefined;
  });

  it('holds the one that people have, and the unused one needs no approval', () => {
    const made = plan({
      skills: ['Kept'],
      approvedDeletes,
      observed: { ...twice, resources: [person('p', ['1'])] },
    });
    expect(made.operations).toMatchObject([{ action: 'delete', remoteId: '2' }]);
    expect(made.held).toMatchObject([{ remoteId: '1', rules: ['in_use'] }]);
  });

  it('counts the entries of its kind only', () => {
    const resources = [person('p', ['1'], 'Old')];
    const one = { skill: [entry('Kept'), entry('Old', '1')], role: [entry('Old')], resources };
    const made = plan({ skills: ['Kept'], roles: ['R'], approvedDeletes, observed: one });
    expect(steps(made)).toContain('delete skill Old');
    expect(codes(made)).not.toContain('approval_ambiguous');
  });
});

describe('the other guards:', () => {
  it('a stale source holds deletes, and allows creates with a warning', () => {
    const made = plan(old({ skills: ['Kept', 'New'], input: { source: 'older' } }));
    expect([steps(made), rulesFor(made, 'Old'), codes(made)]).toEqual([
      ['create skill New'],
      ['stale_source'],
      ['older_source'],
    ]);
  });

  it('a stale source that is accepted holds nothing and causes a warning', () => {
    const made = plan(old({ input: { source: 'older', acceptOlderSource: true } }));
    expect([steps(made), codes(made)]).toEqual([['delete skill Old'], ['older_source']]);
  });

  it('an unknown source holds deletes until it is accepted, and always causes a warning', () => {
    const held = plan(old({ input: { source: 'unknown' } }));
    expect([steps(held), rulesFor(held, 'Old'), codes(held)]).toEqual([
      [],
      ['stale_source'],
      ['unknown_source'],
    ]);
    const accepted = plan(old({ input: { source: 'unknown', acceptOlderSource: true } }));
    expect([steps(accepted), codes(accepted)]).toEqual([['delete skill Old'], ['unknown_source']]);
    expect(accepted.warnings[0]?.message).toContain('allowed by --accept-older-source');
  });

  it('a source that is not stale causes no warning, accepted or not', () => {
    expect(codes(plan(old({ input: { source: 'current', acceptOlderSource: true } })))).toEqual([]);
  });

  it('a source on another branch causes a warning and holds nothing', () => {
    const made = plan(old({ input: { source: 'diverged' } }));
    expect([steps(made), codes(made)]).toEqual([['delete skill Old'], ['diverged_source']]);
  });

  it('a freeze window holds creates and deletes', () => {
    const made = plan(
      old({
        skills: ['Kept', 'New'],
        input: { frozen: { window: '2026-03-01 to 2026-03-31', untilMs: null } },
      }),
    );
    expect(made.operations).toEqual([]);
    expect([rulesFor(made, 'New'), rulesFor(made, 'Old')]).toEqual([['freeze'], ['freeze']]);
    expect(heldAs(made, 'New').reason).toContain('2026-03-01 to 2026-03-31');
  });

  it('a flapping name is neither created nor deleted, in its kind', () => {
    const history = {
      flappingCreates: new Map([['skill:New', 0]]),
      flappingDeletes: new Map([['skill:Old', 0]]),
    };
    const made = plan(old({ skills: ['Kept', 'New'], roles: ['New'], history }));
    expect(steps(made)).toEqual(['create role New']);
    expect([rulesFor(made, 'New'), rulesFor(made, 'Old')]).toEqual([['flapping'], ['flapping']]);
  });

  it('a plan without earlier lists holds deletes, allows creates, and warns', () => {
    const made = plan(old({ skills: ['Kept', 'New'], history: { hasSnapshot: false } }));
    expect([steps(made), rulesFor(made, 'Old')]).toEqual([['create skill New'], ['no_history']]);
    expect(codes(made)).toContain('no_history');
    expect(codes(plan(old()))).not.toContain('no_history');
  });

  it('a plan without earlier lists deletes when that is accepted, and warns', () => {
    const made = plan(old({ history: { hasSnapshot: false }, input: { acceptNoHistory: true } }));
    expect([steps(made), codes(made)]).toEqual([['delete skill Old'], ['no_history']]);
  });

  it('an approved delete is held without earlier lists and when no people are listed', () => {
    const made = plan(
      old({
        history: { hasSnapshot: false },
        policy: { allowNoPeople: false },
        approvedDeletes: [{ kind: 'skill', name: 'Old', expires: '2999-12-31' }],
      }),
    );
    expect(rulesFor(made, 'Old')).toEqual(['no_history', 'no_people']);
  });
});

describe('a list without people', () => {
  const nobody: Case['policy'] = { allowNoPeople: false };

  it('holds deletes, with history too', () => {
    expect(rulesFor(plan(old({ policy: nobody })), 'Old')).toEqual(['no_people']);
  });

  it('holds nothing with allowNoPeople or delete: always', () => {
    expect(steps(plan(old({ policy: { allowNoPeople: true } })))).toEqual(['delete skill Old']);
    expect(steps(plan(old({ policy: { ...nobody, delete: 'always' } })))).toEqual(['delete skill Old']);
  });

  it('holds the old name of a rename even under delete: always', () => {
    const made = plan(
      old({ skills: ['Kept', { name: 'New', formerly: ['Old'] }], policy: { ...nobody, delete: 'always' } }),
    );
    expect(rulesFor(made, 'Old')).toEqual(['no_people']);
  });

  it('does not include a list of one person without skills', () => {
    const lists = { skill: [entry('Kept'), entry('Old')], resources: [person('p', [])] };
    expect(steps(plan(old({ observed: lists, policy: nobody })))).toEqual(['delete skill Old']);
  });
});

describe('an _id that is listed under several names', () => {
  const twice = (...names: [string, ...string[]]): Partial<ObservedCatalog> => {
    const [name, ...otherNames] = names;
    return { skill: [{ ...entry(name, 'x1'), otherNames }, entry('Kept')] };
  };

  it('causes no create when any of them is desired, and a warning', () => {
    const made = plan({ skills: ['Kept', 'B'], observed: twice('A', 'B') });
    expect([steps(made), made.held, codes(made)]).toEqual([[], [], ['several_names']]);
    expect(steps(plan({ skills: ['Kept', 'A', 'B'], observed: twice('A', 'B') }))).toEqual([]);
  });

  it('causes one delete when none of them is desired or protected', () => {
    expect(steps(plan({ skills: ['Kept'], observed: twice('A', 'B') }))).toEqual(['delete skill A']);
    const kept = plan({ skills: ['Kept'], observed: twice('A', 'B'), policy: { protect: ['B'] } });
    expect(kept.leftAlone).toMatchObject([{ name: 'A', rule: 'protected' }]);
  });

  it('is a rename when one of them is a former name, and near when one is near', () => {
    const has = { resources: [person('p', ['x1'])] };
    const renamed = plan({
      skills: ['Kept', { name: 'C', formerly: ['B'] }],
      observed: { ...twice('A', 'B'), ...has },
    });
    expect(rulesFor(renamed, 'A')).toEqual(['in_use', 'rename']);
    const near = plan({
      skills: ['Kept', 'b'],
      observed: { ...twice('A', 'B'), ...has },
      policy: { delete: 'always' },
    });
    expect(rulesFor(near, 'A')).toEqual(['suspected_rename']);
  });
});

describe('several rules at once', () => {
  it('are all named, in their order, with a reason and a release for each', () => {
    const made = plan({
      skills: [],
      observed: { skill: [entry('Old'), entry('b'), entry('c')], ...used },
      history: {
        missingHoldings: [{ resourceId: 'gone', kind: 'skill', remoteId: 'Old', sinceMs: 0 }],
        flappingDeletes: new Map([['skill:Old', 0]]),
      },
      input: { source: 'older', frozen: { window: 'a window', untilMs: null } },
    });
    const { rules, reason, release } = heldAs(made, 'Old');
    expect(rules).toEqual([
      'in_use',
      'empty_catalog',
      'stale_source',
      'flapping',
      'holders_missing',
      'freeze',
    ]);
    expect(rules).toEqual(HOLD_RULES.filter((rule) => rules.includes(rule)));
    const reasons = [
      '1 person has it',
      'empty list',
      'older than',
      'each time it was created again',
      'missing',
      'a window',
    ];
    const releases = [
      'remove it from',
      'allowEmpty',
      'older-source',
      'find out who',
      'wait until the lists show them again',
      'freeze window',
    ];
    expect(reasons.filter((part) => !reason.includes(part))).toEqual([]);
    expect(releases.filter((part) => !release.includes(part))).toEqual([]);
  });
});
