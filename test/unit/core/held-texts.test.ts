// The sentences about one held delete, and the same sentences for a group of deletes.
import { allowLine } from '../../../src/core/allowed-deletes.ts';
import { describe, expect, it } from 'vitest';
import { sharedExplanation, withoutAllowLine } from '../../../src/core/held-texts.ts';
import { kindNameKey } from '../../../src/core/history.ts';
import type { HeldChange } from '../../../src/core/plan.ts';
import { FORBIDDEN_NAMES, LOUD_NAMES, ODD_NAMES } from '../../support/hostile-names.ts';
import { entry, heldAs, person, plan } from './builders.ts';

/** Names that repeat what the sentences themselves contain, and any other. */
const NAMES = [
  'Go',
  'New; name”',
  'x” and 1 person has it',
  '$& $1 $`',
  ' to allowedDeletes',
  ...FORBIDDEN_NAMES,
  ...LOUD_NAMES,
  ...ODD_NAMES,
].filter((name) => name !== '');

/** The held delete of a skill that is renamed, as the planner holds it. */
function renamed(newName: string, usedBy: number): HeldChange {
  const resources = Array.from({ length: usedBy }, (_, index) => person(`p${index}`, ['7']));
  const flappingCreates = new Map([[kindNameKey('skill', newName), 0]]);
  const made = plan({
    skills: [{ name: newName, formerly: ['Old'] }],
    observed: { skill: [entry('Old', '7')], resources },
    ...(usedBy === 0 ? { history: { flappingCreates } } : {}),
  });
  return heldAs(made, 'Old');
}

const IN_USE = 'remove it from the people who have it; or allow the delete';

describe('a held delete', () => {
  it('has the line that allows it, which its release advises to add', () => {
    const observed = { skill: [entry('C#', '7')], resources: [person('p1', ['7'])] };
    const held = heldAs(plan({ skills: ['Kept'], observed }), 'C#');
    expect(held.allowance).toBe('{ kind: skill, name: "C#", expires: 2026-03-24 }');
    expect(held.release).toBe(
      `remove it from the people who have it; or add ${held.allowance ?? ''} to allowedDeletes`,
    );
    expect(withoutAllowLine(held).release).toBe(IN_USE);
    expect(allowLine({ kind: 'role', name: 'Go', expires: '2026-03-10' })).toBe(
      '{ kind: role, name: Go, expires: 2026-03-10 }',
    );
  });

  it.each([0, 1, 2])(
    'has the new name of a rename, whatever it is, when %d people have the old one',
    (count) => {
      for (const name of NAMES) expect(renamed(name, count).desiredName, name).toBe(name);
      expect(renamed('New', count).allowance === undefined).toBe(count === 0);
    },
  );

  it('has the near name of a suspected rename', () => {
    for (const name of NAMES) {
      const observed = { skill: [entry(`${name} `, '7')], resources: [person('p1', ['7'])] };
      const found = plan({ skills: [name], observed }).held;
      for (const { rules, desiredName } of found)
        expect(desiredName).toBe(rules.includes('rename') ? name : undefined);
    }
  });
});

describe('the explanation that several held deletes share', () => {
  const observed = {
    skill: [entry('A'), entry('B; or', 'b')],
    resources: [person('p1', ['A', 'b']), person('p2', ['b'])],
  };

  it('has neither the names nor the people of one of them', () => {
    const made = plan({ skills: ['Kept'], observed });
    const shared = { reason: 'people have it', release: IN_USE };
    expect(made.held.map(sharedExplanation)).toEqual([shared, shared]);
  });

  it('has the sentences of the other rules', () => {
    const made = plan({
      skills: [],
      roles: [],
      observed,
      input: { source: 'older' },
      policy: { maxDeletePercent: 100 },
    });
    const [first, second] = made.held.map(sharedExplanation);
    expect(first).toEqual(second);
    expect(first).toEqual({
      reason: 'people have it; the configuration is older than the one last applied to this account',
      release: `all of these are needed:\n(1) ${IN_USE}\n(2) update the checkout, or run \`apply --accept source\``,
    });
  });

  it.each([0, 1, 2])('has no name of a rename, whatever it is, when %d people have the old one', (count) => {
    for (const name of NAMES)
      expect(sharedExplanation(renamed(name, count)), name).toEqual(sharedExplanation(renamed('Go', count)));
  });

  it('has no name of a suspected rename, also where the service refused its create', () => {
    for (const old of ['OLD', 'old ', 'öld']) {
      const skills = ['Old'];
      const lists = { skill: [entry(old, '7')], resources: [person('p1', ['7'])] };
      expect(sharedExplanation(heldAs(plan({ skills, observed: lists }), old))).toEqual({
        reason: 'its name is near the desired “…”, and people have it',
        release:
          'if it is a rename, write the new name as { name: NEW, formerly: [OLD] }; if not, allow the delete',
      });
      const history = { refusedCreates: new Set(['skill:Old']) };
      expect(sharedExplanation(heldAs(plan({ skills, observed: lists, history }), old))).toEqual({
        reason: 'the service refuses its new name “…” while it exists, and people have it',
        release:
          'only deleting it first remains, which takes it from them: allow the delete; then assign “…” to them by hand',
      });
    }
  });
});
