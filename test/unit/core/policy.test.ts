// The decision about an entry that the file does not name: each rule alone, and several together.
import { describe, expect, it } from 'vitest';
import type { Policy } from '../../../src/core/catalog.ts';
import { diffKind } from '../../../src/core/diff.ts';
import type { OpenFreeze, Plan } from '../../../src/core/plan.ts';
import { type HoldRule, HOLD_RULES } from '../../../src/core/journal.ts';
import { judge } from '../../../src/core/policy.ts';
import {
  type Case,
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

const DAY_MS = 86_400_000;
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
const renamed = { name: 'New', formerly: ['Old'] };
const allowance = (name: string, kind: 'skill' | 'role' = 'skill', expires = '2999-12-31') =>
  [{ kind, name, expires }] as const;
const allowedDeletes = allowance('Old');
const missing = { missingUse: new Set(['skill:Old'] as const) };
const lately = { unusedForMs: DAY_MS };
const always = { delete: 'always' } as const;
const frozen = { window: 'a window', untilMs: null };

/** All operations, then what is held and left alone, then the codes of the warnings. */
function outcomeOf(made: Plan): string[] {
  return [
    ...steps(made),
    ...made.held.map(({ action, kind, name, rules }) => `${action} ${kind} ${name} held: ${rules.join(' ')}`),
    ...made.leftAlone.map(({ kind, name, rule }) => `${kind} ${name} left alone: ${rule}`),
    ...codes(made).map((code) => `warning: ${code}`),
  ];
}

function decides(rows: Readonly<Record<string, readonly [of: Case, outcome: readonly string[]]>>): void {
  it.each(Object.entries(rows))('%s', (_, [of, outcome]) => expect(outcomeOf(plan(of))).toEqual(outcome));
}

const DELETED = ['delete skill Old'];
const heldBy = (...rules: HoldRule[]): string[] => [`delete skill Old held: ${rules.join(' ')}`];

describe('delete: never | unused | always', () => {
  decides({
    'unused deletes an entry that nobody has': [old(), DELETED],
    'unused holds a role that somebody has': [
      {
        roles: ['Kept'],
        observed: { role: [entry('Kept'), entry('Old')], resources: [person('p', [], 'Old')] },
      },
      ['delete role Old held: in_use'],
    ],
    'a skill in use does not hold a role of the same id': [
      {
        skills: ['Kept', 'Old'],
        roles: ['Kept'],
        observed: {
          skill: [entry('Kept'), entry('Old')],
          role: [entry('Kept'), entry('Old')],
          resources: [person('p', ['Old'])],
        },
      },
      ['delete role Old'],
    ],
    'never leaves every entry alone, even if an allowance names it': [
      old({ observed: used, policy: { delete: 'never' }, allowedDeletes }),
      ['skill Old left alone: never_delete'],
    ],
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
    expect(held.release).toContain('allowedDeletes');
  });

  it('always deletes an entry that people have, and lists them in the operation', () => {
    const made = plan(old({ observed: used, policy: always }));
    expect(made.operations).toMatchObject([{ action: 'delete', name: 'Old', usedBy: ['p1'] }]);
  });
});

describe('ownership: listed, and absent', () => {
  const listed = { ownership: 'listed' } as const;
  const absent = { skill: ['Old'] };
  decides({
    'leaves alone what is not named, also what rolecall created': [
      old({ policy: listed, history: { owned: new Set(['skill:Old'] as const) } }),
      ['skill Old left alone: unmanaged'],
    ],
    'deletes what the file wants absent': [old({ policy: listed, absent }), DELETED],
    'deletes it although the file wants nothing else': [
      { skills: [], observed: { skill: [entry('Old'), entry('Other')] }, policy: listed, absent },
      [...DELETED, 'skill Other left alone: unmanaged'],
    ],
    'finishes a rename': [
      { skills: [renamed], observed: { skill: [entry('New'), entry('Old')] }, policy: listed },
      DELETED,
    ],
    'leaves duplicates alone': [
      {
        skills: ['Old'],
        observed: { skill: [entry('Old', '1'), entry('Old', '2')] },
        policy: { ...listed, duplicates: 'remove-unused' },
      },
      ['skill Old left alone: duplicate', 'warning: duplicate'],
    ],
    'keeps an absent entry that people have': [
      old({ policy: listed, absent, observed: used }),
      heldBy('in_use'),
    ],
    'keeps an absent entry that is protected': [
      old({ policy: { ...listed, protect: ['O*'] }, absent }),
      ['skill Old left alone: protected'],
    ],
    'deletes what managed accounts want absent, whoever created it': [
      old({ policy: { ownership: 'managed' }, absent }),
      DELETED,
    ],
    'an empty list with an absent entry still asks for nothing elsewhere': [
      { skills: [], observed: { skill: [entry('Old')] }, absent },
      heldBy('too_many'),
    ],
  });
});

describe('ownership: managed', () => {
  const managed = { ownership: 'managed' } as const;
  const owning = (key: 'skill:Old' | 'role:Old') =>
    old({ policy: managed, history: { owned: new Set([key] as const) } });

  decides({
    'leaves an entry alone that rolecall neither created nor adopted': [
      old({ policy: managed }),
      ['skill Old left alone: unmanaged'],
    ],
    'deletes an entry that rolecall owns': [owning('skill:Old'), DELETED],
    'does not confuse a role with an owned skill of the same id': [
      owning('role:Old'),
      ['skill Old left alone: unmanaged'],
    ],
    'counts a former name as named by the file': [
      { skills: [renamed], observed: { skill: [entry('Old')] }, policy: managed },
      ['create skill New', 'delete skill Old'],
    ],
  });
});

describe('protect', () => {
  decides({
    'leaves an entry alone that a glob matches, whatever policy.delete is and even if allowed': [
      old({ observed: used, policy: { ...always, protect: ['O?d'] }, allowedDeletes }),
      ['skill Old left alone: protected'],
    ],
    'protects an entry with a former name too': [
      { skills: [renamed], observed: { skill: [entry('Old')] }, policy: { protect: ['Old'] } },
      ['create skill New', 'skill Old left alone: protected'],
    ],
    'does not prevent the create of a matching name': [
      { skills: ['Admin'], policy: { protect: ['*'] } },
      ['create skill Admin'],
    ],
  });
});

describe('duplicates', () => {
  const skill = [entry('Kept', '1', '2020-01-01'), entry('Kept', '2', '2021-01-01')];
  const remove = { duplicates: 'remove-unused' } as const;
  const inUse = { skill, resources: [person('p', ['1', '2'])] };
  const left = ['skill Kept left alone: duplicate', 'warning: duplicate'];

  decides({
    'are reported and left alone by default': [{ skills: ['Kept'], observed: { skill } }, left],
    'are deleted under remove-unused when nobody has them, and one is kept': [
      { skills: ['Kept'], observed: { skill }, policy: remove },
      ['delete skill Kept', 'warning: duplicate'],
    ],
    'in use are kept under remove-unused, even if allowed': [
      { skills: ['Kept'], observed: inUse, policy: remove, allowedDeletes: allowance('Kept') },
      left,
    ],
    'in use are kept under remove-unused and delete: always, even if allowed': [
      {
        skills: ['Kept'],
        observed: inUse,
        policy: { ...remove, ...always },
        allowedDeletes: allowance('Kept'),
      },
      left,
    ],
    'that a missing person had are kept too, also under delete: always': [
      {
        skills: ['Kept'],
        observed: { skill },
        policy: { ...remove, ...always, ...lately },
        history: { missingUse: new Set(['skill:2'] as const) },
      },
      left,
    ],
  });

  it('are the entries that are not kept', () => {
    const made = plan({ skills: ['Kept'], observed: { skill } });
    expect(made.leftAlone).toEqual([{ kind: 'skill', name: 'Kept', remoteId: '2', rule: 'duplicate' }]);
    const removed = plan({ skills: ['Kept'], observed: { skill }, policy: remove });
    expect(removed.operations).toMatchObject([{ action: 'delete', remoteId: '2' }]);
  });
});

describe('renames', () => {
  const both = { skill: [entry('Old'), entry('New')], ...used };

  decides({
    'create the new name first and delete the old one that nobody has': [
      { skills: [renamed], observed: { skill: [entry('Old')] } },
      ['create skill New', 'delete skill Old'],
    ],
    'keep the old one while people have it': [
      { skills: [renamed], observed: both },
      heldBy('in_use', 'rename'),
    ],
    'keep the old one while people have it, also under delete: always': [
      { skills: [renamed], observed: both, policy: always },
      heldBy('rename'),
    ],
    'hold the old name when the create of the new one is held': [
      {
        skills: [renamed],
        observed: { skill: [entry('Old')] },
        history: { flappingCreates: new Map([['skill:New', 0]]) },
      },
      ['create skill New held: flapping', ...heldBy('rename')],
    ],
  });

  it('name the new name as the reason, and the people who still have the old one', () => {
    const made = plan({ skills: [renamed], observed: { skill: [entry('Old')] } });
    expect(made.operations[1]?.reason).toContain('New');
    expect(heldAs(plan({ skills: [renamed], observed: both }), 'Old').usedBy).toEqual(['p1']);
  });
});

describe('suspected renames', () => {
  const resources = [person('p', ['typescript'])];
  const near: Case = { skills: ['TypeScript'], observed: { skill: [entry('typescript')], resources } };

  decides({
    'hold a near name that people have': [
      near,
      ['create skill TypeScript', 'delete skill typescript held: in_use rename', 'warning: near_name'],
    ],
    'hold a near name that people have, also under delete: always': [
      { ...near, policy: always },
      ['create skill TypeScript', 'delete skill typescript held: rename', 'warning: near_name'],
    ],
    'hold a near name also when the desired name exists already': [
      {
        ...near,
        observed: { skill: [entry('typescript'), entry('TypeScript')], resources },
        policy: always,
      },
      ['delete skill typescript held: rename', 'warning: near_name'],
    ],
    'do not hold a near name that nobody has, but warn about it': [
      { ...near, observed: { skill: [entry('typescript')] } },
      ['create skill TypeScript', 'delete skill typescript', 'warning: near_name'],
    ],
    'do not include a declared rename': [
      { ...near, skills: [{ name: 'TypeScript', formerly: ['typescript'] }], policy: always },
      ['create skill TypeScript', 'delete skill typescript held: rename'],
    ],
    'do not include names of the other kind': [
      { ...near, skills: [], roles: ['TypeScript'], policy: { ...always, maxDeletePercent: 100 } },
      ['create role TypeScript', 'delete skill typescript'],
    ],
  });
});

describe('people who are missing', () => {
  const policy = lately;
  decides({
    'hold the delete of an entry that they had': [old({ history: missing, policy }), heldBy('in_use')],
    'do not hold an allowed delete': [old({ history: missing, policy, allowedDeletes }), DELETED],
    'hold nothing under delete: always': [
      old({ history: missing, policy: { ...policy, ...always } }),
      DELETED,
    ],
    'hold a near name under delete: always, because it may be a rename': [
      old({ skills: ['Kept', 'OLD'], history: missing, policy: { ...policy, ...always } }),
      ['create skill OLD', ...heldBy('rename'), 'warning: near_name'],
    ],
    'hold a declared rename under delete: always': [
      {
        skills: [renamed],
        observed: { skill: [entry('Old')] },
        history: missing,
        policy: { ...policy, ...always },
      },
      ['create skill New', ...heldBy('rename')],
    ],
    'do not hold an entry of the other kind that has the same id': [
      { roles: ['Kept'], observed: { role: [entry('Kept'), entry('Old')] }, history: missing, policy },
      ['delete role Old'],
    ],
    'hold nothing with unusedFor 0': [old({ history: missing }), DELETED],
  });
});

describe('unusedFor', () => {
  const since = (ms: number, policy: Partial<Policy> = {}): Case =>
    old({
      policy: { unusedForMs: DAY_MS, ...policy },
      history: { lastUsedMs: new Map([['skill:Old', NOW_MS - ms]] as const) },
    });

  decides({
    'holds an entry that has been unused for less time': [since(DAY_MS - 1), heldBy('in_use')],
    'deletes an entry exactly when the time has passed': [since(DAY_MS), DELETED],
    'of 0 holds nothing, also when the clock was set back': [since(-DAY_MS, { unusedForMs: 0 }), DELETED],
    'holds no entry that the journal never saw in use': [old({ policy: { unusedForMs: DAY_MS } }), DELETED],
    'holds nothing where it does not matter whether people have the entry': [since(1, always), DELETED],
    'is released by a line of allowedDeletes': [{ ...since(1), allowedDeletes }, DELETED],
  });
});

describe('an empty list', () => {
  const empty: Case = { skills: [], observed: { skill: [entry('a')] } };

  decides({
    'is 100 %, of however few': [empty, ['delete skill a held: too_many']],
    'is held by any limit below 100 %': [
      { ...empty, policy: { maxDeletePercent: 99.9 } },
      ['delete skill a held: too_many'],
    ],
    'deletes with maxDeletePercent: 100': [
      { ...empty, policy: { maxDeletePercent: 100 } },
      ['delete skill a'],
    ],
    'is different from a kind that is omitted': [
      { roles: ['x'], observed: { skill: [entry('a')], role: [entry('x')] } },
      [],
    ],
  });
});

describe('a limit', () => {
  /** This many skills are not in the file. */
  const extra = (count: number, more: Case = {}): Case => ({
    skills: ['Kept'],
    ...more,
    observed: { skill: [entry('Kept'), ...numbered(count)], ...more.observed },
    policy: { maxDeletes: 3, maxDeletePercent: 100, ...more.policy },
  });
  /** `count` of `all` skills are not in the file. */
  const part = (count: number, all: number, maxDeletePercent = 30, more: Case = {}): Case => ({
    skills: numbered(all - count, 'k').map(({ name }) => name),
    ...more,
    observed: { skill: [...numbered(all - count, 'k'), ...numbered(count)], ...more.observed },
    policy: { maxDeletes: 1000, maxDeletePercent },
  });
  const inUse = { observed: { resources: [person('p', ['x000'])] } };

  it.each<[string, Case, deleted: number, held: number]>([
    ['maxDeletes allows exactly its number of deletes', extra(3), 3, 0],
    ['maxDeletes holds all deletes when there is one more, never a part of them', extra(4), 0, 4],
    ['maxDeletes does not count entries that another rule holds', extra(4, inUse), 3, 1],
    ['maxDeletes does not count entries left alone', extra(4, { policy: { protect: ['x000'] } }), 3, 0],
    [
      'maxDeletes counts both kinds together',
      extra(2, { roles: ['Kept'], observed: { role: [entry('Kept'), ...numbered(2, 'r')] } }),
      0,
      4,
    ],
    ['maxDeletes of 0 holds every delete', extra(1, { policy: { maxDeletes: 0 } }), 0, 1],
    ['maxDeletePercent has no effect below ten entries', part(8, 9), 8, 0],
    ['maxDeletePercent allows deletes up to its limit, from ten entries on', part(3, 10), 3, 0],
    ['maxDeletePercent holds all deletes of the kind when one more would exceed it', part(4, 10), 0, 4],
    ['maxDeletePercent does not count entries that another rule holds', part(4, 10, 30, inUse), 3, 1],
    [
      'maxDeletePercent does not hold the other kind',
      part(4, 10, 30, { roles: ['r'], observed: { role: [entry('r'), entry('gone')] } }),
      1,
      4,
    ],
    ['maxDeletePercent holds at a fraction above the limit', part(4, 11, 36), 0, 4],
    ['maxDeletePercent allows a fraction below the limit', part(4, 11, 36.4), 4, 0],
  ])('%s', (_, of, deleted, held) => {
    expect(plan(of).summary).toMatchObject({ delete: deleted, hold: held });
  });

  const afterDeletes = (count: number, more: Partial<Case['observed']> = {}): Case =>
    old({
      policy: { maxDeletes: 5 },
      history: { recentDeletesMs: deletesAgo(count) },
      observed: { ...more },
    });

  decides({
    'maxDeletes counts the deletes of the last 24 hours, up to its number': [afterDeletes(4), DELETED],
    'maxDeletes holds deletes beyond its number': [afterDeletes(5), heldBy('too_many')],
    'maxDeletes does not hold an entry that another rule holds when nothing else would be deleted': [
      afterDeletes(9, used),
      heldBy('in_use'),
    ],
  });

  it('holds no create, and is reported beside another rule that holds an entry', () => {
    const made = plan(extra(5, { skills: ['Kept', 'New'], ...inUse }));
    expect(steps(made)).toEqual(['create skill New']);
    expect(rulesFor(made, 'x000')).toEqual(['in_use', 'too_many']);
    expect(rulesFor(made, 'x001')).toEqual(['too_many']);
    expect(rulesFor(plan(part(4, 10)), 'x000')).toEqual(['too_many']);
  });

  describe('that a line of allowedDeletes releases for a run', () => {
    const line = (atMost: number, expires = '2999-12-31') => ({ allowedDeletes: [{ atMost, expires }] });
    const rules = (of: Case) => [...new Set(plan(of).held.flatMap((held) => held.rules))];

    it('is released up to that many deletes, with a warning that the run uses the line up', () => {
      const made = plan(extra(5, line(5)));
      expect(made.summary).toMatchObject({ delete: 5, hold: 0 });
      expect(made.warnings).toMatchObject([{ code: 'limit_released', name: '2999-12-31 5' }]);
      expect(rules(extra(6, line(5)))).toEqual(['too_many']);
      expect(codes(plan(extra(3, line(5))))).toEqual([]);
    });

    it('is released for the percentage and for an empty list', () => {
      expect(plan({ ...part(4, 10), ...line(4) }).summary).toMatchObject({ delete: 4, hold: 0 });
      expect(steps(plan({ skills: [], observed: { skill: [entry('a')] }, ...line(1) }))).toEqual([
        'delete skill a',
      ]);
    });

    it('is not released by a line that expired or that a run used up, with a warning', () => {
      const expired = extra(5, line(5, '2026-03-09'));
      expect([rules(expired), codes(plan(expired))]).toEqual([['too_many'], ['allowed_delete_expired']]);
      const used = extra(5, { ...line(5), history: { releasedRuns: new Map([['2999-12-31 5', 'run-1']]) } });
      expect([rules(used), codes(plan(used))]).toEqual([['too_many'], ['allowed_delete_used']]);
    });

    it('releases nothing that people have', () => {
      const made = plan(extra(5, { ...line(5), ...inUse }));
      expect([made.summary.delete, rulesFor(made, 'x000')]).toEqual([4, ['in_use']]);
    });
  });
});

describe('allowedDeletes', () => {
  const until = (expires: string, now?: string): Case =>
    old({
      observed: used,
      allowedDeletes: allowance('Old', 'skill', expires),
      ...(now === undefined ? {} : { input: { now } }),
    });
  const cafe = (name: string): Case => ({
    skills: ['Kept'],
    observed: { skill: [entry('Kept'), entry('Cafe\u0301', 'c')], resources: [person('p', ['c'])] },
    allowedDeletes: allowance(name),
  });

  decides({
    'release a rename whose old name people have': [
      { skills: [renamed], observed: { skill: [entry('Old'), entry('New')], ...used }, allowedDeletes },
      DELETED,
    ],
    'release a suspected rename': [
      { skills: ['OLD'], observed: { skill: [entry('Old'), entry('OLD')], ...used }, allowedDeletes },
      [...DELETED, 'warning: near_name'],
    ],
    'do not release an entry of the other kind': [
      old({ observed: used, allowedDeletes: allowance('Old', 'role') }),
      [...heldBy('in_use'), 'warning: allowed_delete_unused'],
    ],
    'match the entry in any Unicode form': [cafe('Caf\u00e9'), ['delete skill Cafe\u0301']],
    'do not match an entry in another case': [
      cafe('caf\u00e9'),
      ['delete skill Cafe\u0301 held: in_use', 'warning: allowed_delete_unused'],
    ],
    'are valid on their last day': [until('2026-03-10'), DELETED],
    'are valid through the last moment of their last day': [
      until('2026-03-10', '2026-03-10T23:59:59.999Z'),
      DELETED,
    ],
    'expire after their last day': [
      until('2026-03-09'),
      [...heldBy('in_use'), 'warning: allowed_delete_expired'],
    ],
  });

  it('are the reason of the operation that they release', () => {
    const made = plan(old({ observed: used, allowedDeletes }));
    expect(made.operations).toMatchObject([
      { name: 'Old', usedBy: ['p1'], reason: 'allowed in allowedDeletes' },
    ]);
  });

  it.each<[string, Case]>([
    ['too_many', { skills: [], observed: { skill: [entry('Old')], ...used } }],
    ['too_many', old({ observed: used, policy: { maxDeletes: 0 } })],
    ['source', old({ observed: used, input: { source: 'older' } })],
    ['freeze', old({ observed: used, input: { frozen } })],
    ['flapping', old({ observed: used, history: { flappingDeletes: new Map([['skill:Old', 0]]) } })],
    [
      'too_many',
      {
        skills: numbered(9).map(({ name }) => name),
        observed: { skill: [...numbered(9), entry('Old')], ...used },
        policy: { maxDeletePercent: 9 },
      },
    ],
  ])('never release %s', (rule, of) => {
    expect(rulesFor(plan({ ...of, allowedDeletes }), 'Old')).toEqual([rule]);
  });
});

describe('an entry that is left alone', () => {
  const lists = observed({ skill: [entry('Kept'), entry('Admin'), entry('Old')] });
  const diffs = [diffKind('skill', wanted('Kept'), { observed: lists, usage: new Map(), history: HISTORY })];

  it.each<[OpenFreeze | null, number, readonly HoldRule[]]>([
    [{ window: 'a window', untilMs: null }, 10, ['freeze']],
    [null, 0, ['too_many']],
  ])(
    'is held by no rule, whatever holds the others (frozen: %j, maxDeletes: %d)',
    (frozen, maxDeletes, others) => {
      const { extras } = judge(diffs, {
        policy: { ...POLICY, protect: ['Admin'], maxDeletes },
        usage: new Map(),
        history: HISTORY,
        nowMs: NOW_MS,
        frozen,
        rollout: null,
        uncommitted: [],
        source: 'current',
        acceptOlderSource: false,
        configCommit: null,
        appliedCommit: null,
        today: '2026-03-10',
        allowances: [],
        unknownHolders: new Map(),
        acceptNoEvidence: false,
      });
      expect(extras.map(({ leave, holds }) => [leave, holds])).toEqual([
        ['protected', []],
        [null, others],
      ]);
    },
  );
});

describe('an allowance of a name that several entries have', () => {
  const twice = { skill: [entry('Kept'), entry('Old', '1'), entry('Old', '2')] };

  it.each([
    ['unused', allowedDeletes],
    ['unused', []],
    ['always', allowedDeletes],
  ] as const)('releases none that people have, with delete: %s and the allowances %j', (mode, allowances) => {
    const resources = [person('p', ['1', '2'])];
    const skills = mode === 'always' ? [{ name: 'Kept', formerly: ['Old'] }] : ['Kept'];
    const made = plan({
      skills,
      allowedDeletes: allowances,
      policy: { delete: mode },
      observed: { ...twice, resources },
    });
    expect([steps(made), made.held.map(({ remoteId }) => remoteId)]).toEqual([[], ['1', '2']]);
    for (const { reason, release } of made.held) {
      expect(reason).toContain('2 skills have this name, and a line of allowedDeletes may release only one');
      expect(release).toContain('delete by hand all but one of the 2 skills “Old”');
      expect(release).not.toContain('to allowedDeletes');
    }
    if (allowances.length === 0) return expect(made.warnings).toEqual([]);
    expect(made.warnings).toMatchObject([{ code: 'allowed_delete_ambiguous', kind: 'skill', name: 'Old' }]);
    expect(made.warnings[0]?.message).toContain('names 2 entries (1, 2)');
    return undefined;
  });

  it('holds the one that people have, and the unused one needs no allowance', () => {
    const made = plan({
      skills: ['Kept'],
      allowedDeletes,
      observed: { ...twice, resources: [person('p', ['1'])] },
    });
    expect(made.operations).toMatchObject([{ action: 'delete', remoteId: '2' }]);
    expect(made.held).toMatchObject([{ remoteId: '1', rules: ['in_use'] }]);
  });

  it('counts the entries of its kind only', () => {
    const resources = [person('p', ['1'], 'Old')];
    const one = { skill: [entry('Kept'), entry('Old', '1')], role: [entry('Old')], resources };
    const made = plan({ skills: ['Kept'], roles: ['R'], allowedDeletes, observed: one });
    expect(steps(made)).toContain('delete skill Old');
    expect(codes(made)).not.toContain('allowed_delete_ambiguous');
  });
});

describe('the other guards:', () => {
  const source = (age: 'older' | 'unknown' | 'diverged' | 'current', acceptOlderSource = false): Case =>
    old({ skills: ['Kept', 'New'], input: { source: age, acceptOlderSource } });
  const done = ['create skill New', ...DELETED];
  const stale = ['create skill New held: source', ...heldBy('source')];
  const noHistory = { hasSnapshot: false };
  const nobody = { allowNoPeople: false };
  const unknown = 'warning: unknown_holders';

  decides({
    'an older source holds every change': [source('older'), stale],
    'an older source that is accepted holds nothing, and is a warning': [
      source('older', true),
      [...done, 'warning: older_source'],
    ],
    'an unknown source holds every change, and is a warning': [
      source('unknown'),
      [...stale, 'warning: unknown_source'],
    ],
    'an unknown source that is accepted holds nothing, and is a warning': [
      source('unknown', true),
      [...done, 'warning: unknown_source'],
    ],
    'files that are not committed hold creates and deletes': [
      old({ skills: ['Kept', 'New'], input: { uncommitted: ['a.yaml'], acceptOlderSource: true } }),
      ['create skill New held: source', ...heldBy('source')],
    ],
    'files of which nobody knows whether they are committed hold the same': [
      old({ skills: ['Kept', 'New'], input: { uncommitted: null } }),
      ['create skill New held: source', ...heldBy('source')],
    ],
    'a current source is no warning, accepted or not': [source('current', true), done],
    'a source on another branch holds nothing, and is a warning': [
      source('diverged'),
      [...done, 'warning: diverged_source'],
    ],
    'a freeze window holds creates and deletes': [
      old({ skills: ['Kept', 'New'], input: { frozen } }),
      ['create skill New held: freeze', ...heldBy('freeze')],
    ],
    'a flapping name is neither created nor deleted, in its kind': [
      old({
        skills: ['Kept', 'New'],
        roles: ['New'],
        history: {
          flappingCreates: new Map([['skill:New', 0]]),
          flappingDeletes: new Map([['skill:Old', 0]]),
        },
      }),
      ['create role New', 'create skill New held: flapping', ...heldBy('flapping')],
    ],
    'a plan without earlier lists holds deletes, allows creates, and warns': [
      old({ skills: ['Kept', 'New'], history: noHistory }),
      ['create skill New', ...heldBy('no_evidence'), 'warning: no_history'],
    ],
    'a plan without earlier lists deletes when that is accepted, and warns': [
      old({ history: noHistory, input: { acceptNoEvidence: true } }),
      [...DELETED, 'warning: no_history'],
    ],
    'an allowed delete is held without earlier lists and when no people are listed': [
      old({ history: noHistory, policy: nobody, allowedDeletes }),
      [...heldBy('no_evidence'), 'warning: no_history', unknown],
    ],
    'a list without people holds deletes, with history too': [
      old({ policy: nobody }),
      [...heldBy('no_evidence'), unknown],
    ],
    'a list without people holds nothing with allowNoPeople': [
      old({ policy: { allowNoPeople: true } }),
      DELETED,
    ],
    'a list without people holds nothing under delete: always': [
      old({ policy: { ...nobody, ...always } }),
      [...DELETED, unknown],
    ],
    'a list without people holds the old name of a rename even under delete: always': [
      old({ skills: ['Kept', renamed], policy: { ...nobody, ...always } }),
      ['create skill New', ...heldBy('no_evidence'), unknown],
    ],
    'a list of one person without skills is not a list without people': [
      old({ observed: { resources: [person('p', [])] }, policy: nobody }),
      DELETED,
    ],
  });

  it('a freeze window and an accepted unknown source are named', () => {
    expect(heldAs(plan(old({ input: { frozen } })), 'Old').reason).toContain('a window');
    expect(plan(source('unknown', true)).warnings[0]?.message).toContain('accepted by --accept');
  });
});

describe('an _id that is listed under several names', () => {
  const twice = { skill: [{ ...entry('A', 'x1'), otherNames: ['B'] }, entry('Kept')] };
  const held = { ...twice, resources: [person('p', ['x1'])] };

  decides({
    'causes no create when one of them is desired': [{ skills: ['Kept', 'B'], observed: twice }, []],
    'causes no create when all are desired': [{ skills: ['Kept', 'A', 'B'], observed: twice }, []],
    'causes one delete when none of them is desired': [
      { skills: ['Kept'], observed: twice },
      ['delete skill A'],
    ],
    'is left alone when one of them is protected': [
      { skills: ['Kept'], observed: twice, policy: { protect: ['B'] } },
      ['skill A left alone: protected'],
    ],
    'is a rename when one of them is a former name': [
      { skills: ['Kept', { name: 'C', formerly: ['B'] }], observed: held },
      ['create skill C', 'delete skill A held: in_use rename'],
    ],
    'is near when one of them is near': [
      { skills: ['Kept', 'b'], observed: held, policy: always },
      ['create skill b', 'delete skill A held: rename', 'warning: near_name'],
    ],
  });
});

describe('several rules at once', () => {
  it('are all named, in their order, with a reason and a release for each', () => {
    const made = plan({
      skills: [],
      observed: { skill: [entry('Old'), entry('b'), entry('c')], ...used },
      history: { flappingDeletes: new Map([['skill:Old', 0]]) },
      input: { source: 'older', frozen },
    });
    const { rules, reason, release } = heldAs(made, 'Old');
    expect(rules).toEqual(['in_use', 'flapping', 'source', 'freeze']);
    expect(rules).toEqual(HOLD_RULES.filter((rule) => rules.includes(rule)));
    const reasons = ['1 person has it', 'older than', 'each time it was created again', 'a window'];
    const releases = ['remove it from', '--accept', 'find out who', 'freeze window'];
    expect(reasons.filter((part) => !reason.includes(part))).toEqual([]);
    expect(releases.filter((part) => !release.includes(part))).toEqual([]);
  });
});
