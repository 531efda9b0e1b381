// Why a plan is stale: what changed since it was reviewed.
import { describe, expect, it } from 'vitest';
import type { ObservedCatalog } from '../../../src/core/catalog.ts';
import { CHANGED_SINCE_PLAN, changesSince, type PlanChange } from '../../../src/core/plan-changes.ts';
import { type Case, entry, observed, person, plan } from './builders.ts';

const ANY_NUMBER = { maxDeletes: 100, maxDeletePercent: 100 } as const;

function changes(reviewed: Case, present: Case): PlanChange[] {
  const of = (sketch: Case): Case => ({ ...sketch, policy: { ...ANY_NUMBER, ...sketch.policy } });
  return changesSince(plan(of(reviewed)), plan(of(present)), observed(present.observed));
}

const messages = (reviewed: Case, present: Case): string[] =>
  changes(reviewed, present).map(({ message }) => message);

/** Lists with these skills, whose ids are their names, and with these people. */
function skills(names: readonly string[], resources: ObservedCatalog['resources'] = []) {
  return { skill: names.map((name) => entry(name)), resources };
}

const NEW_FILE = { input: { configDigest: 'sha256:d' } } as const;
const FROZEN = { input: { frozen: { window: 'nights', untilMs: null } } } as const;
const KEPT: Case = { skills: ['Kept'], observed: skills(['Kept']) };
const OLD: Case = { skills: ['Kept'], observed: skills(['Kept', 'Old']) };
const NEW: Case = { skills: ['Kept', 'New'], observed: skills(['Kept']) };
const FILE = "the lists of names, the policy or the address in the account's file changed";

describe('the changes since a plan was reviewed', () => {
  it('are warnings in the order of the present plan, and those of operations that are gone come last', () => {
    const found = changes(
      { skills: ['Gone', 'Kept'], observed: skills(['Kept', 'Left']) },
      { skills: ['Kept', 'B', 'A'], observed: skills(['Kept', 'C']), ...NEW_FILE, roles: ['R'] },
    );
    expect(found.map(({ action, name }) => [action, name])).toEqual([
      [undefined, undefined],
      ['create', 'A'],
      ['create', 'B'],
      ['create', 'R'],
      ['delete', 'C'],
      ['create', 'Gone'],
      ['delete', 'Left'],
    ]);
    expect(found.at(-1)).toEqual({
      code: CHANGED_SINCE_PLAN,
      action: 'delete',
      kind: 'skill',
      name: 'Left',
      remoteId: 'Left',
      message: 'is no longer in the account',
    });
  });

  it.each<[string, Case, Case, readonly string[]]>([
    ['nothing changed', OLD, OLD, []],
    [
      'the account id changed',
      { skills: [], input: { remoteAccountId: '42' } },
      { skills: [], input: { remoteAccountId: null } },
      ['the plan was made for account 42, and the lists are of an account of unknown id'],
    ],
    ['the file changed', { skills: [] }, { skills: [], ...NEW_FILE }, [FILE]],
    [
      'the file changed in another commit',
      { skills: [], input: { configCommit: 'a' } },
      { skills: [], input: { configDigest: 'sha256:d', configCommit: 'b' } },
      [`${FILE} (commit a → b)`],
    ],
    [
      'an entry that the file names is gone',
      KEPT,
      { skills: ['Kept'] },
      ['is no longer in the account; it would be created now'],
    ],
    [
      'the file names another entry',
      KEPT,
      { ...NEW, ...NEW_FILE },
      [FILE, 'was not planned; it would be created now'],
    ],
    ['a held create is free', { ...NEW, ...FROZEN }, NEW, ['was held (freeze), and nothing holds it now']],
    ['a create is held', NEW, { ...NEW, ...FROZEN }, ['is held now (freeze)']],
    [
      'somebody created an entry',
      NEW,
      { ...NEW, observed: skills(['Kept', 'New']) },
      ['exists in the account now'],
    ],
    [
      'the file no longer requests an entry',
      NEW,
      { ...KEPT, ...NEW_FILE },
      [FILE, 'exists now, or the file no longer requests it'],
    ],
    [
      'an entry appeared',
      KEPT,
      OLD,
      ['appeared in the account, or nothing leaves it alone any more; it would be deleted now'],
    ],
    [
      'the file no longer names an entry',
      { ...OLD, skills: ['Kept', 'Old'] },
      { ...OLD, ...NEW_FILE },
      [FILE, 'was not planned; it would be deleted now'],
    ],
    [
      'nobody has an entry any more',
      { ...OLD, observed: skills(['Kept', 'Old'], [person('p1', ['Old'])]) },
      OLD,
      ['was held (in_use), and nothing holds it now'],
    ],
    [
      'somebody has an entry now',
      OLD,
      { ...OLD, observed: skills(['Kept', 'Old'], [person('p1', ['Old'])]) },
      ['is held now (in_use); people who have it: p1'],
    ],
    ['an entry is gone', OLD, KEPT, ['is no longer in the account']],
    ['an entry is left alone', OLD, { ...OLD, policy: { delete: 'never' } }, ['is not deleted any more']],
    [
      'an entry has a desired name now',
      { ...OLD, skills: ['Kept', 'Wanted'] },
      { skills: ['Kept', 'Wanted'], observed: { skill: [entry('Kept'), entry('Wanted', 'Old')] } },
      ['exists in the account now', 'is named “Wanted” now'],
    ],
    [
      'an entry was renamed',
      OLD,
      { ...OLD, observed: { skill: [entry('Kept'), entry('Older', 'Old')] } },
      ['was renamed from “Old” to “Older”'],
    ],
  ])('are reported when %s', (_, reviewed, present, expected) => {
    expect(messages(reviewed, present)).toEqual(expected);
  });

  const many = Array.from({ length: 11 }, (_, index) => `p${String(index).padStart(2, '0')}`);
  it.each<[readonly string[], readonly string[], string]>([
    [['p1', 'p2'], ['p1'], '1 person has it now: no longer p2'],
    [['p1'], ['p2'], '1 person has it now: newly p2; no longer p1'],
    [[], many, `11 people have it now: newly ${many.slice(0, 10).join(', ')} … and 1 more`],
  ])('name the people who had a deleted entry (%j) and have it now (%j)', (then, now, message) => {
    const of = (people: readonly string[]): Case => ({
      skills: [],
      policy: { delete: 'always', maxDeletePercent: 100 },
      observed: skills(
        ['Old'],
        people.map((id) => person(id, ['Old'])),
      ),
    });
    expect(messages(of(then), of(now))).toEqual([message]);
  });

  it('are at most a thousand, and a last one counts the rest', () => {
    const of = (count: number): Case => ({
      ...KEPT,
      skills: ['Kept', ...Array.from({ length: count }, (_, index) => `New ${index}`)],
    });
    expect(changes(KEPT, of(1000))).toHaveLength(1000);
    expect(changes(KEPT, of(1002)).at(-1)?.message).toBe(
      '… and 2 more changes; run `rolecall plan acme` to see the present plan',
    );
  });
});
