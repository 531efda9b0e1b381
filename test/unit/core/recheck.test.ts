// The recheck of a delete by lists that were read right before it.
import { describe, expect, it } from 'vitest';
import type { ObservedCatalog, Policy } from '../../../src/core/catalog.ts';
import { DELETE_RULES } from '../../../src/core/delete-rules.ts';
import { HOLD_RULES } from '../../../src/core/plan.ts';
import type { RunFacts } from '../../../src/core/recheck.ts';
import { findingsOf, recheckDelete } from '../../../src/core/recheck.ts';
import { entry, HISTORY, observed, person, POLICY, wanted } from './builders.ts';

interface Now {
  readonly lists?: Partial<ObservedCatalog>;
  readonly policy?: Partial<Policy>;
  readonly run?: Partial<RunFacts>;
  readonly usedBy?: readonly string[];
}

/** The result for the planned delete of the skill `Old`, beside the desired `Kept` and `New`, which was `Old` once. */
function recheck({ lists, policy, run, usedBy = [] }: Now, formerly: readonly string[] = []): string | null {
  const now = observed({
    skill: [entry('Kept'), entry('New'), entry('Old')],
    resources: [person('p1', ['Kept'])],
    ...lists,
  });
  const desired = { skill: [...wanted('Kept'), { name: 'New', formerly }], approvedDeletes: [] };
  const result = recheckDelete(
    { action: 'delete', kind: 'skill', name: 'Old', remoteId: 'Old', usedBy },
    findingsOf(desired, now, HISTORY),
    {
      policy: { ...POLICY, allowNoPeople: false, ...policy },
      answeredFor: undefined,
      hadMissingHolders: false,
      hasExpired: false,
      pendingCreates: new Set(),
      ...run,
    },
  );
  return result === null ? null : (result.rule ?? result.status);
}

const others = [entry('Kept'), entry('New')];

describe('a recheck of a delete', () => {
  it.each<[string, Now, string | null]>([
    ['allows it when nothing has changed', {}, null],
    ['reports it as done when the entry is gone', { lists: { skill: others } }, 'done'],
    [
      'holds it when the entry has another name',
      { lists: { skill: [...others, entry('Oil', 'Old')] } },
      'rename',
    ],
    ['holds it when the service returned the entry for a create', { run: { answeredFor: 'New' } }, 'rename'],
    ['holds it when somebody has the entry now', { lists: { resources: [person('p1', ['Old'])] } }, 'in_use'],
    [
      'allows it when only the people of the plan have the entry',
      { lists: { resources: [person('p1', ['Old'])] }, usedBy: ['p1'] },
      null,
    ],
    [
      'holds it when people have the entry and the approval has expired',
      { lists: { resources: [person('p1', ['Old'])] }, usedBy: ['p1'], run: { hasExpired: true } },
      'in_use',
    ],
    ['allows it when the approval has expired and nobody has the entry', { run: { hasExpired: true } }, null],
    [
      'holds it when the approval has expired and people who are missing from the lists had the entry',
      { run: { hasExpired: true, hadMissingHolders: true } },
      'holders_missing',
    ],
    ['holds it when no people are listed', { lists: { resources: [] } }, 'no_people'],
    [
      'allows it without people when delete is always',
      { lists: { resources: [] }, policy: { delete: 'always' } },
      null,
    ],
    [
      'allows it without people when the policy allows it',
      { lists: { resources: [] }, policy: { allowNoPeople: true } },
      null,
    ],
  ])('%s', (_, now, outcome) => {
    expect(recheck(now)).toBe(outcome);
  });

  it('holds a duplicate when it is the only entry of its name now', () => {
    const result = recheckDelete(
      { action: 'delete', kind: 'skill', name: 'Kept', remoteId: 'second', usedBy: [] },
      findingsOf(
        { skill: wanted('Kept'), approvedDeletes: [] },
        observed({ skill: [entry('Kept', 'second')], resources: [person('p1')] }),
        HISTORY,
      ),
      {
        policy: POLICY,
        answeredFor: undefined,
        hadMissingHolders: false,
        hasExpired: false,
        pendingCreates: new Set(),
      },
    );
    expect(result).toMatchObject({ status: 'held', rule: 'rename' });
  });

  it('holds a declared rename when its new name is missing, unless the run has yet to create it', () => {
    const skill = [entry('Kept'), entry('Old')];
    expect(recheck({ lists: { skill } }, ['Old'])).toBe('rename');
    expect(
      recheck({ lists: { skill }, run: { pendingCreates: new Set(['skill:New']) } }, ['Old']),
    ).toBeNull();
    expect(recheck({}, ['Old'])).toBeNull();
  });

  it('holds an entry with a near name when no people are listed, also when delete is always', () => {
    const result = recheckDelete(
      { action: 'delete', kind: 'skill', name: 'Old', remoteId: 'Old', usedBy: [] },
      findingsOf(
        { skill: wanted('OLD'), approvedDeletes: [] },
        observed({ skill: [entry('OLD'), entry('Old')], resources: [] }),
        HISTORY,
      ),
      {
        policy: { ...POLICY, delete: 'always', allowNoPeople: false },
        answeredFor: undefined,
        hadMissingHolders: false,
        hasExpired: false,
        pendingCreates: new Set(),
      },
    );
    expect(result).toMatchObject({ status: 'held', rule: 'no_people' });
  });

  it('reports no_people before a declared rename', () => {
    const now = { skill: [entry('Kept'), entry('Old')], resources: [] };
    expect(recheck({ lists: now, policy: { delete: 'always' } }, ['Old'])).toBe('no_people');
  });
});

describe('the table of rules', () => {
  it('has every rule once, and each checks deletes or their number, or applies only during a run', () => {
    expect(Object.keys(DELETE_RULES).toSorted()).toEqual(HOLD_RULES.toSorted());
    const duringRun = HOLD_RULES.filter((rule) => {
      const { holds, isExceeded } = DELETE_RULES[rule];
      expect(holds !== undefined && isExceeded !== undefined).toBe(false);
      return holds === undefined && isExceeded === undefined;
    });
    expect(duringRun).toEqual(['failed_creates']);
  });
});
