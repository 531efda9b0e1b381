// The sentences about one held delete, and the same sentences for a group of deletes.
import { describe, expect, it } from 'vitest';
import {
  approvalLine,
  approveText,
  explainInUse,
  explainRename,
  explainSuspectedRename,
  newNameOf,
  renamedText,
  heldTexts,
} from '../../../src/core/held-texts.ts';
import { kindNameKey } from '../../../src/core/history.ts';
import type { HeldChange, HoldRule } from '../../../src/core/plan.ts';
import { FORBIDDEN_NAMES, LOUD_NAMES, ODD_NAMES } from '../../support/hostile-names.ts';
import { type Case, entry, heldAs, person, plan } from './builders.ts';

/** Names that repeat what the sentences themselves contain, and any other. */
const NAMES = [
  'Go',
  'x',
  'a; b',
  'New; name”',
  '“',
  '”',
  'x” cannot be created yet',
  'x” and 1 person has it',
  '$& $1 $`',
  'x”, and 2 people have it',
  'its new name “y',
  'it is being renamed to “y',
  '2 people have it',
  'undefined',
  '; ',
  'release the create first',
  ' to approvedDeletes',
  ...FORBIDDEN_NAMES,
  ...LOUD_NAMES,
  ...ODD_NAMES,
].filter((name) => name !== '');

const people = (count: number): string[] => Array.from({ length: count }, (_, index) => `p${index}`);

const DAY = '2026-03-10';

function change(name: string, usedBy: readonly string[] = []) {
  return { kind: 'skill', name, usedBy, approve: approveText({ kind: 'skill', name }, DAY) } as const;
}

function held(rules: readonly HoldRule[], parts: Partial<HeldChange>): HeldChange {
  return {
    action: 'delete',
    kind: 'skill',
    name: 'Old',
    remoteId: '7',
    usedBy: [],
    rules,
    reason: '',
    release: '',
    ...parts,
  };
}

/** The held delete of a skill that is renamed, as the planner holds it. */
function renamed(old: string, newName: string, usedBy: number, of: Partial<Case> = {}): HeldChange {
  const resources = people(usedBy).map((id) => person(id, ['7']));
  const made = plan({
    skills: [{ name: newName, formerly: [old] }],
    observed: { skill: [entry(old, '7')], resources },
    ...(usedBy === 0 ? { history: { flappingCreates: new Map([[kindNameKey('skill', newName), 0]]) } } : {}),
    ...of,
  });
  return heldAs(made, old);
}

describe('the approval of a delete', () => {
  it('is a line for approvedDeletes with the last day', () => {
    expect(approvalLine('role', 'C#', '2026-03-10')).toBe('{ kind: role, name: "C#", expires: 2026-03-10 }');
    expect(approveText(change('Go'), DAY)).toBe(
      'add { kind: skill, name: Go, expires: 2026-03-10 } to approvedDeletes',
    );
  });

  it('releases a held delete whose text has exactly its line', () => {
    const release = `wait; or ${approveText(change('Old'), DAY)}`;
    expect(heldTexts(held(['in_use'], { release })).expires).toBe(DAY);
    expect(heldTexts(held(['in_use'], { release, name: 'Older' })).expires).toBeNull();
    expect(heldTexts(held(['in_use'], { release, kind: 'role' })).expires).toBeNull();
    expect(heldTexts(held(['in_use'], { release, action: 'create' })).expires).toBeNull();
    expect(heldTexts(held(['freeze'], { release: 'wait' })).expires).toBeNull();
  });
});

describe('the explanation of a delete that is held because people have the entry', () => {
  it('has the number of people', () => {
    expect(explainInUse(change('Go', people(1)))).toEqual({
      reason: '1 person has it',
      release:
        'remove it from that person; or add { kind: skill, name: Go, expires: 2026-03-10 } to approvedDeletes',
    });
    expect(explainInUse(change('Go', people(2)))).toEqual({
      reason: '2 people have it',
      release:
        'remove it from those people; or add { kind: skill, name: Go, expires: 2026-03-10 } to approvedDeletes',
    });
  });

  it('has the new name of a rename', () => {
    expect(explainRename(change('Old', people(2)), 'New')).toEqual({
      reason: 'it is being renamed to “New” and 2 people have it',
      release:
        'assign “New” to those people by hand, and remove the old name; or add { kind: skill, name: Old, expires: 2026-03-10 } to approvedDeletes',
    });
    expect(explainRename(change('Old'), 'New')).toEqual({
      reason: 'its new name “New” cannot be created yet',
      release: 'release the create first',
    });
  });

  it('has the declaration of a suspected rename', () => {
    expect(explainSuspectedRename(change('C #', people(1)), 'c#')).toEqual({
      reason: 'its name is near the desired “c#”, and 1 person has it',
      release:
        'if it is a rename, write the new name as { name: "c#", formerly: ["C #"] }; if not, add { kind: skill, name: "C #", expires: 2026-03-10 } to approvedDeletes',
    });
  });
});

describe('the new name of a completed rename', () => {
  it('is found in the reason of the delete, whatever it is', () => {
    for (const name of NAMES) expect(newNameOf({ reason: renamedText(name) })).toBe(name);
  });

  it.each([
    undefined,
    '',
    'renamed to “',
    'renamed to “x',
    'renamed to x”',
    'x renamed to “y”',
    'an unused duplicate of its name',
  ])('is absent if the reason is %j', (reason) => {
    expect(newNameOf(reason === undefined ? {} : { reason })).toBeNull();
  });
});

describe('the desired name that a held delete is about', () => {
  it.each([0, 1, 2])(
    'is the new name of a rename, whatever it is, when %d people have the old one',
    (count) => {
      for (const name of NAMES) expect(heldTexts(renamed('Old', name, count)).desiredName, name).toBe(name);
    },
  );

  it('is the near name of a suspected rename', () => {
    for (const name of NAMES) {
      const old = `${name} `;
      const observed = { skill: [entry(old, '7')], resources: [person('p1', ['7'])] };
      const found = plan({ skills: [name], observed }).held.filter(({ rules }) =>
        rules.includes('suspected_rename'),
      );
      expect(found.map((each) => heldTexts(each).desiredName)).toEqual(found.map(() => name));
    }
  });

  it('is found beside the sentences of other rules', () => {
    const policy = { allowNoPeople: false, maxDeletes: 0 };
    const stale = { input: { source: 'older' } } as const;
    expect(heldTexts(renamed('Old', 'New', 2, { policy, ...stale })).desiredName).toBe('New');
  });

  it('is absent for other rules, and where an older version wrote other sentences', () => {
    expect(
      heldTexts(held(['in_use'], { usedBy: people(1), ...explainInUse(change('Old', people(1))) }))
        .desiredName,
    ).toBeNull();
    const sentences = explainRename(change('Old', people(1)), 'New');
    const now = { usedBy: people(1), ...sentences };
    expect(heldTexts(held(['rename'], now)).desiredName).toBe('New');
    expect(heldTexts(held(['in_use'], now)).desiredName).toBeNull();
    const near = { usedBy: people(1), ...explainSuspectedRename(change('Old', people(1)), 'OLD') };
    expect(heldTexts(held(['suspected_rename'], near)).desiredName).toBe('OLD');
    expect(heldTexts(held(['in_use'], near)).desiredName).toBeNull();
    expect(heldTexts(held(['rename'], near)).desiredName).toBeNull();
    expect(heldTexts(held(['suspected_rename'], now)).desiredName).toBeNull();
    expect(heldTexts(held(['rename'], { ...now, usedBy: [] })).desiredName).toBeNull();
    expect(heldTexts(held(['rename'], { ...now, usedBy: people(2) })).desiredName).toBeNull();
    expect(heldTexts(held(['rename'], { ...now, release: 'move them' })).desiredName).toBeNull();
    expect(heldTexts(held(['rename'], { ...now, reason: 'it is being renamed' })).desiredName).toBeNull();
    expect(
      heldTexts(held(['rename'], { ...now, reason: 'renamed to “New” and 1 person has it' })).desiredName,
    ).toBeNull();
    expect(
      heldTexts(held(['rename'], { ...now, reason: 'it is being renamed to “New”' })).desiredName,
    ).toBeNull();
  });
});

describe('the explanation that several held deletes share', () => {
  const observed = {
    skill: [entry('A'), entry('B; or', 'b')],
    resources: [person('p1', ['A', 'b']), person('p2', ['b'])],
  };

  it('has neither the names nor the people of one of them', () => {
    const made = plan({ skills: ['Kept'], observed });
    expect(made.held.map((each) => heldTexts(each).shared)).toEqual([
      { reason: '', release: 'remove them from these people; or approve the deletes in the account’s file' },
      { reason: '', release: 'remove them from these people; or approve the deletes in the account’s file' },
    ]);
  });

  it('has the sentences of the other rules', () => {
    const made = plan({ skills: ['Kept'], observed, input: { source: 'older' } });
    const [first, second] = made.held.map((each) => heldTexts(each).shared);
    expect(first).toEqual(second);
    expect(first?.reason).toBe('the configuration is older than the one last applied to this account');
    expect(first?.release).toBe(
      'all of these are needed:\n(1) remove them from these people; or approve the deletes in the account’s file\n(2) update the checkout, or run `apply --accept-older-source`',
    );
  });

  it.each([
    [0, 'release the creates of the new names first'],
    [1, 'assign the new name to these people by hand; or approve the deletes in the account’s file'],
    [2, 'assign the new name to these people by hand; or approve the deletes in the account’s file'],
  ])('has no name of a rename, whatever it is, when %d people have the old one', (count, release) => {
    for (const name of NAMES)
      expect(heldTexts(renamed('Old', name, count)).shared, name).toEqual({ reason: '', release });
  });

  it('has no name of a suspected rename', () => {
    for (const old of ['OLD', 'old ', 'öld']) {
      const made = plan({
        skills: ['Old'],
        observed: { skill: [entry(old, '7')], resources: [person('p1', ['7'])] },
      });
      expect(heldTexts(heldAs(made, old)).shared).toEqual({
        reason: '',
        release:
          'if it is a rename, declare it: { name: NEW, formerly: [OLD] }; if not, approve the deletes in the account’s file',
      });
    }
  });

  it('has the sentences before, after and around the one that is left out', () => {
    const own = explainRename(change('Old', people(1)), 'New');
    const reasons = [own.reason, `a; ${own.reason}`, `${own.reason}; b`, `a; ${own.reason}; b`].map(
      (reason) =>
        heldTexts(held(['rename'], { usedBy: people(1), release: own.release, reason })).shared.reason,
    );
    expect(reasons).toEqual(['', 'a', 'b', 'a; b']);
  });

  it('is the explanation itself where no rule names anything of the entry', () => {
    const explanation = { reason: 'a freeze window is open (nights)', release: 'wait until tomorrow' };
    expect(heldTexts(held(['freeze'], explanation)).shared).toEqual(explanation);
  });

  it('approves all of them where a rule without names is released by an approval', () => {
    const release = `wait; or ${approveText(change('Old'), DAY)}`;
    expect(heldTexts(held(['holders_missing'], { reason: 'a', release })).shared).toEqual({
      reason: 'a',
      release: 'wait; or approve the deletes in the account’s file',
    });
  });

  it('keeps sentences that an older version wrote', () => {
    const written = { usedBy: people(1), reason: 'people have it', release: 'move them' };
    expect(heldTexts(held(['in_use'], written)).shared).toEqual({
      reason: 'people have it',
      release: 'move them',
    });
    expect(heldTexts(held(['rename'], written)).shared).toEqual({
      reason: 'people have it',
      release: 'move them',
    });
  });
});

describe('the release of a held delete that is alone in its group', () => {
  it('does not repeat the approval that is printed below it', () => {
    for (const name of NAMES) {
      const { release } = explainInUse(change(name, people(1)));
      expect(heldTexts(held(['in_use'], { name, release, usedBy: people(1) })).ownRelease).toBe(
        'remove it from that person; or approve the delete in the account’s file',
      );
    }
  });
});
