// The reason and the release of held changes.
import { describe, expect, it } from 'vitest';
import type { Case } from './builders.ts';
import { deletesAgo, entry, heldAs, person, plan } from './builders.ts';

const people = (count: number) =>
  Array.from({ length: count }, (_, index) => person(`p${String(index)}`, ['Old']));
const extras = (count: number) => Array.from({ length: count }, (_, index) => entry(`x${String(index)}`));
const rename = [{ name: 'New', formerly: ['Old'] }];

/** Texts that the reason and the release of the held `Old` (or another name) contain, and texts that neither contains. */
interface Expected {
  readonly of: Case;
  readonly name?: string;
  readonly reason?: readonly string[];
  readonly release?: readonly string[];
  readonly not?: readonly string[];
}

/** People have the entry, and the service refused to create a near name. */
const refusedAs = (skills: Case['skills'] = []): Case => ({
  skills,
  observed: { skill: [entry('Old')], resources: people(2) },
  history: { refusedCreates: new Set(['skill:OLD']) },
});
const old = { skill: [entry('Kept'), entry('Old')] };

describe('the explanation of a held change names', () => {
  it.each<[string, Expected]>([
    [
      'how many people have it, and how to allow the delete',
      {
        of: { skills: ['Kept'], observed: { ...old, resources: people(2) } },
        reason: ['2 people have it'],
        release: ['{ kind: skill, name: Old, expires: 2026-03-24 }'],
      },
    ],
    [
      'one person in the singular',
      { of: { skills: ['Kept'], observed: { ...old, resources: people(1) } }, reason: ['1 person has it'] },
    ],
    [
      'the new name of a rename, without repeating in_use',
      {
        of: { skills: rename, observed: { skill: [entry('Old')], resources: people(1) } },
        reason: ['renamed to “New” and 1 person has it'],
        release: ['assign “New” to the people who have it by hand, and remove the old name', 'name: Old'],
        not: ['remove it from'],
      },
    ],
    [
      'the new name that cannot be created yet',
      {
        of: {
          skills: rename,
          observed: { skill: [entry('Old')] },
          history: { flappingCreates: new Map([['skill:New', 0]]) },
        },
        reason: ['“New” cannot be created'],
        release: ['release the create'],
        not: ['by hand'],
      },
    ],
    [
      'the desired name that is near, without repeating in_use',
      {
        of: { skills: ['OLD'], observed: { skill: [entry('Old')], resources: people(1) } },
        reason: ['near the desired “OLD”', '1 person has it'],
        release: ['{ name: OLD, formerly: [Old] }', 'name: Old'],
        not: ['remove it from'],
      },
    ],
    ...[{ name: 'OLD', formerly: ['Old'] }, 'OLD'].map((desired, index): [string, Expected] => [
      `whom the only way costs, if the service refused a near name (${['declared', 'suspected'][index] ?? ''})`,
      {
        of: refusedAs([desired]),
        reason: ['the service refuses its new name “OLD” while it exists, and 2 people have it'],
        release: ['only deleting it first remains, which takes it from p0, p1: add { kind: skill'],
        not: ['by hand, and', 'formerly'],
      },
    ]),
    [
      'another declared name as usual, although the service refused a near one',
      { of: refusedAs(['OLD', ...rename]), release: ['assign “New” to the people'], not: ['refuses'] },
    ],
    [
      'the percentage limit and the number of deletes of that kind',
      {
        of: {
          skills: ['Kept'],
          roles: ['Kept'],
          observed: {
            skill: [entry('Kept'), ...extras(9)],
            role: [entry('Kept'), entry('Clerk')],
          },
          policy: { maxDeletes: 100 },
        },
        name: 'x0',
        reason: ['9 deletes of 10 skills (90 %), limit 30 %'],
        release: ['add { atMost: 10, expires: 2026-03-24 } to allowedDeletes'],
      },
    ],
    [
      'the create that somebody reverts each time',
      {
        of: { skills: ['New'], history: { flappingCreates: new Map([['skill:New', 0]]) } },
        name: 'New',
        reason: ['sent the create of the skill “New” three times'],
        release: ['who or what deletes it'],
        not: ['freeze'],
      },
    ],
    [
      'a configuration whose commit is unknown',
      {
        of: { skills: ['Kept'], observed: old, input: { source: 'unknown' } },
        reason: ['rolecall cannot check that this is not an older checkout'],
        release: ['make git work', 'run `apply --accept source`'],
        not: ['is older than', 'update the checkout'],
      },
    ],
    [
      'the freeze window that holds a create',
      {
        of: { skills: ['New'], input: { frozen: { window: 'cron 0 18 * * 5', untilMs: null } } },
        name: 'New',
        reason: ['(cron 0 18 * * 5)'],
        release: ['policy.freeze'],
      },
    ],
    [
      'all reasons, separated by semicolons',
      {
        of: {
          skills: ['New'],
          history: { flappingCreates: new Map([['skill:New', 0]]) },
          input: { frozen: { window: 'a window', untilMs: null } },
        },
        name: 'New',
        reason: ['no list showed it; a freeze window'],
        release: ['all of these are needed:\n(1) find out', '\n(2) wait'],
      },
    ],
  ])('%s', (_, { of, name = 'Old', reason = [], release = [], not = [] }) => {
    const held = heldAs(plan(of), name);
    expect(reason.filter((part) => !held.reason.includes(part))).toEqual([]);
    expect(release.filter((part) => !held.release.includes(part))).toEqual([]);
    expect(not.filter((part) => `${held.reason} ${held.release}`.includes(part))).toEqual([]);
  });
});

describe('the explanation of a held delete is exactly', () => {
  const kept = { skills: ['Kept'], observed: old };
  const allowance = 'add { kind: skill, name: Old, expires: 2026-03-24 } to allowedDeletes';

  it.each<[string, Case, { readonly reason: string; readonly release: string }]>([
    [
      'the missing person, or the missing field',
      {
        ...kept,
        policy: { unusedForMs: 3_600_000 },
        history: { missingUse: new Set(['skill:Old'] as const) },
      },
      {
        reason: 'a person who had it, or the field skillsIds of one, is missing from the lists',
        release: `wait until 2026-03-10 13:00:00 UTC: the next run then judges it again; or ${allowance}`,
      },
    ],
    [
      'the wait for an entry that people had recently',
      {
        ...kept,
        policy: { unusedForMs: 86_400_000 },
        history: { lastUsedMs: new Map([['skill:Old', 0]] as const) },
        input: { nowMs: 1 },
      },
      {
        reason: 'people had it less than 1d ago (policy.unusedFor)',
        release: `wait until 1970-01-02 00:00:00 UTC: the next run then judges it again; or ${allowance.replace('2026-03-24', '1970-01-15')}`,
      },
    ],
    [
      'the limit of a plan that would delete one entry',
      { ...kept, policy: { maxDeletes: 0 } },
      {
        reason: '1 delete in this plan, limit 0',
        release:
          'if these deletes are a mistake, put the names back into the file; if not, add { atMost: 1, expires: 2026-03-24 } to allowedDeletes',
      },
    ],
    [
      'the daily limit that two entries of the plan alone exceed',
      {
        ...kept,
        observed: { skill: [entry('Kept'), entry('Old'), entry('Older')] },
        policy: { maxDeletes: 1 },
        history: { recentDeletesMs: deletesAgo(3) },
      },
      {
        reason: '2 deletes in this plan and 3 in the last 24 hours, limit 1',
        release:
          'if these deletes are a mistake, put the names back into the file; if not, add { atMost: 2, expires: 2026-03-24 } to allowedDeletes',
      },
    ],
    [
      'the daily limit that the plan alone reaches',
      { ...kept, policy: { maxDeletes: 1 }, history: { recentDeletesMs: deletesAgo(1) } },
      {
        reason: '1 delete in this plan and 1 in the last 24 hours, limit 1',
        release:
          'if these deletes are a mistake, put the names back into the file; if not, add { atMost: 1, expires: 2026-03-24 } to allowedDeletes; or wait until 2026-03-11 11:59:00 UTC, when enough earlier deletes are a day old',
      },
    ],
    [
      'the percentage that one skill exceeds',
      {
        ...kept,
        skills: Array.from({ length: 9 }, (_, index) => `K${index}`),
        observed: { skill: [...Array.from({ length: 9 }, (_, index) => entry(`K${index}`)), entry('Old')] },
        policy: { maxDeletePercent: 9 },
      },
      {
        reason: '1 delete of 10 skills (10 %), limit 9 %',
        release:
          'if these deletes are a mistake, put the names back into the file; if not, add { atMost: 1, expires: 2026-03-24 } to allowedDeletes',
      },
    ],
    [
      'the percentage that a small part of a percent exceeds',
      {
        ...kept,
        skills: Array.from({ length: 29 }, (_, index) => `K${index}`),
        observed: { skill: [...Array.from({ length: 29 }, (_, index) => entry(`K${index}`)), entry('Old')] },
        policy: { maxDeletePercent: 3 },
      },
      {
        reason: '1 delete of 30 skills (3.4 %), limit 3 %',
        release:
          'if these deletes are a mistake, put the names back into the file; if not, add { atMost: 1, expires: 2026-03-24 } to allowedDeletes',
      },
    ],
    [
      'the freeze window whose end is unknown',
      { ...kept, input: { frozen: { window: 'nights', untilMs: null } } },
      {
        reason: 'a freeze window is open (nights)',
        release: 'wait for the end of the freeze window, or change policy.freeze',
      },
    ],
    [
      'the freeze window and its end',
      { ...kept, input: { frozen: { window: 'nights', untilMs: 0 } } },
      {
        reason: 'a freeze window is open (nights)',
        release: 'wait until 1970-01-01 00:00:00 UTC, or change policy.freeze',
      },
    ],
    [
      'the configuration that is older',
      { ...kept, input: { source: 'older' } },
      {
        reason: 'the configuration is older than the one last applied to this account',
        release: 'update the checkout, or run `apply --accept source`',
      },
    ],
    [
      'the missing history, if no other rule holds it',
      { ...kept, history: { hasSnapshot: false } },
      {
        reason: 'the store contains no earlier lists of this account to compare with',
        release:
          'review this plan, then plan or apply again with the same store, or use `--accept no_evidence`',
      },
    ],
    [
      'the other rule, if there is no history either',
      { ...kept, history: { hasSnapshot: false }, input: { frozen: { window: 'nights', untilMs: null } } },
      {
        reason: 'a freeze window is open (nights)',
        release: 'wait for the end of the freeze window, or change policy.freeze',
      },
    ],
    [
      'the commits among which the reason for the deletes is',
      {
        ...kept,
        policy: { maxDeletes: 0 },
        input: { configCommit: 'b'.repeat(40), appliedCommit: 'a'.repeat(40) },
      },
      {
        reason: '1 delete in this plan, limit 0',
        release:
          'if these deletes are a mistake, revert the commit that asks for them, which `git log -p aaaaaaaaaaaa..bbbbbbbbbbbb` shows; if not, add { atMost: 1, expires: 2026-03-24 } to allowedDeletes',
      },
    ],
    [
      'the list of people that is empty',
      { ...kept, policy: { allowNoPeople: false } },
      {
        reason: 'the service lists no people, so nobody can tell who has it',
        release:
          'check that the token may read resources; if the account has no people, set policy.allowNoPeople: true, or run `apply --accept no_evidence`',
      },
    ],
  ])('%s', (_, of, { reason, release }) => {
    const held = heldAs(plan(of), 'Old');
    expect([held.reason, held.release]).toEqual([reason, release]);
  });
});
