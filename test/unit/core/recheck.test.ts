// The recheck of a delete by lists that were read right before it.
import { describe, expect, it } from 'vitest';
import type { ObservedCatalog, Policy } from '../../../src/core/catalog.ts';
import type { RecheckResult, RunFacts } from '../../../src/core/recheck.ts';
import { findingsOf, recheckDelete } from '../../../src/core/recheck.ts';
import { baselineOf } from '../../../src/core/list-plausibility.ts';
import { entry, HISTORY, observed, person, POLICY, wanted } from './builders.ts';

/** The lists of the plan: one person, who has a skill and no role. */
const PLANNED = baselineOf(observed({ resources: [person('p1', ['Kept'], null)] }), new Set());

interface Now {
  readonly lists?: Partial<ObservedCatalog>;
  readonly policy?: Partial<Policy>;
  readonly run?: Partial<RunFacts>;
  readonly usedBy?: readonly string[];
}

/** The result for the planned delete of the skill `Old`, beside the desired `Kept` and `New`, which was `Old` once. */
function recheckedOld(
  { lists, policy, run, usedBy = [] }: Now,
  formerly: readonly string[] = [],
  alsoDesired: readonly string[] = [],
): RecheckResult | null {
  const now = observed({
    skill: [entry('Kept'), entry('New'), entry('Old')],
    resources: [person('p1', ['Kept'])],
    ...lists,
  });
  const skill = [...wanted('Kept', ...alsoDesired), { name: 'New', formerly }];
  return recheckDelete(
    { action: 'delete', kind: 'skill', name: 'Old', remoteId: 'Old', usedBy },
    findingsOf({ skill, allowedDeletes: [] }, now, { history: HISTORY, planned: PLANNED }),
    {
      policy: { ...POLICY, allowNoPeople: false, ...policy },
      answeredFor: undefined,
      wasUsedBefore: false,
      hasExpired: false,
      pendingCreates: new Set(),
      ...run,
    },
  );
}

/** The rule that holds it, or its status; null when the delete is allowed. */
function recheck(...of: Parameters<typeof recheckedOld>): string | null {
  const result = recheckedOld(...of);
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
    [
      'holds it when one of two readings shows another name',
      { lists: { skill: [...others, { ...entry('Old'), otherNames: ['Oil'] }] } },
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
      'holds it when people have the entry and the allowance has expired',
      { lists: { resources: [person('p1', ['Old'])] }, usedBy: ['p1'], run: { hasExpired: true } },
      'in_use',
    ],
    [
      'allows it when the allowance has expired and nobody has the entry',
      { run: { hasExpired: true } },
      null,
    ],
    [
      'holds it when the allowance has expired and people who are missing from the lists had the entry',
      { run: { hasExpired: true, wasUsedBefore: true } },
      'in_use',
    ],
    ['holds it when no people are listed', { lists: { resources: [] } }, 'no_evidence'],
    [
      'holds it when nobody has any skill any more',
      { lists: { resources: [person('p1', [])] } },
      'no_evidence',
    ],
    [
      'holds it when people are listed without skills',
      { lists: { resources: [person('p1')] } },
      'no_evidence',
    ],
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
    [
      'holds it when people are listed without skills, although the policy allows that no people are listed',
      { lists: { resources: [person('p1')] }, policy: { allowNoPeople: true } },
      'no_evidence',
    ],
  ])('%s', (_, now, outcome) => {
    expect(recheck(now)).toBe(outcome);
  });

  it('holds a duplicate when it is the only entry of its name now', () => {
    const result = recheckDelete(
      { action: 'delete', kind: 'skill', name: 'Kept', remoteId: 'second', usedBy: [] },
      findingsOf(
        { skill: wanted('Kept'), allowedDeletes: [] },
        observed({ skill: [entry('Kept', 'second')], resources: [person('p1')] }),
        { history: HISTORY, planned: PLANNED },
      ),
      {
        policy: POLICY,
        answeredFor: undefined,
        wasUsedBefore: false,
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
        { skill: wanted('OLD'), allowedDeletes: [] },
        observed({ skill: [entry('OLD'), entry('Old')], resources: [] }),
        { history: HISTORY, planned: PLANNED },
      ),
      {
        policy: { ...POLICY, delete: 'always', allowNoPeople: false },
        answeredFor: undefined,
        wasUsedBefore: false,
        hasExpired: false,
        pendingCreates: new Set(),
      },
    );
    expect(result).toMatchObject({ status: 'held', rule: 'no_evidence' });
  });

  it('holds an entry that the file asks for now, also if no people are listed and delete is always', () => {
    expect(
      recheck(
        { lists: { skill: [entry('Kept'), entry('Old')], resources: [] }, policy: { delete: 'always' } },
        [],
        ['Old'],
      ),
    ).toBe('rename');
  });

  it.each([
    [1, 'p0'],
    [5, 'p0, p1, p2, p3, p4'],
    [6, 'p0, p1, p2, p3, p4 … and 1 more'],
    [8, 'p0, p1, p2, p3, p4 … and 3 more'],
  ])('names at most five of %d people who have the entry now', (count, who) => {
    const people = Array.from({ length: count }, (_, index) => person(`p${index}`, ['Old']));
    const result = recheckedOld({ lists: { resources: [person('p9', ['Old']), ...people] }, usedBy: ['p9'] });
    expect(result?.reason).toContain(`it was assigned to ${who} during the run`);
  });
});
