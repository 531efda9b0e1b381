// The reason and the release of held changes.
import { describe, expect, it } from 'vitest';
import type { Case } from './builders.ts';
import { deletesAgo, entry, heldAs, person, plan } from './builders.ts';

const people = (count: number) =>
  Array.from({ length: count }, (_, index) => person(`p${String(index)}`, ['Old']));
const missing = (count: number) => ({
  missingHoldings: Array.from({ length: count }, (_, index) => ({
    resourceId: `m${String(index)}`,
    kind: 'skill' as const,
    remoteId: 'Old',
    sinceMs: 0,
  })),
});
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

const old = { skill: [entry('Kept'), entry('Old')] };

describe('the explanation of a held change names', () => {
  it.each<[string, Expected]>([
    [
      'how many people have it, and how to approve the delete',
      {
        of: { skills: ['Kept'], observed: { ...old, resources: people(2) } },
        reason: ['2 people have it'],
        release: ['{ kind: skill, name: Old }'],
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
        release: ['assign “New” to that person by hand', 'name: Old'],
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
    [
      'the one person who is missing',
      {
        of: { skills: ['Kept'], observed: old, history: missing(1) },
        reason: ['1 person who had it is missing', '(m0)'],
      },
    ],
    [
      'the five people who are missing',
      {
        of: { skills: ['Kept'], observed: old, history: missing(5) },
        reason: ['5 people who had it are missing', '(m0, m1, m2, m3, m4)'],
      },
    ],
    [
      'people who are missing apart from people who are listed without the field',
      {
        of: {
          skills: ['Kept'],
          observed: { ...old, resources: [person('m1')] },
          history: missing(2),
        },
        reason: [
          '1 person who had it is missing from the list of resources (m0)',
          '1 person who had it is listed without the field skillsIds (m1)',
        ],
      },
    ],
    [
      'no wait when the plan alone exceeds the daily limit',
      {
        of: { skills: ['Kept'], observed: old, policy: { maxDeletesPerDay: 0 } },
        release: ['raise policy.maxDeletesPerDay'],
        not: ['wait'],
      },
    ],
    [
      'a wait when the earlier deletes exceed the daily limit',
      {
        of: {
          skills: ['Kept'],
          observed: old,
          policy: { maxDeletesPerDay: 5 },
          history: { recentDeletesMs: deletesAgo(5) },
        },
        release: ['when enough earlier deletes are a day old, or raise'],
      },
    ],
    [
      'five missing people and the count of the rest',
      {
        of: { skills: ['Kept'], observed: old, history: missing(7) },
        reason: ['(m0, m1, m2, m3, m4 … and 2 more)'],
      },
    ],
    [
      'the policy that a recently unused entry is too new for',
      {
        of: { skills: ['Kept'], observed: old, policy: { unusedForMs: 1 } },
        reason: ['policy.unusedFor'],
        release: ['wait'],
      },
    ],
    [
      'the limit of a plan and the number of deletes that exceeds it',
      {
        of: {
          skills: ['Kept'],
          observed: { skill: [entry('Kept'), ...extras(3)] },
          policy: { maxDeletes: 2 },
        },
        name: 'x0',
        reason: ['delete 3 entries, more than the 2 that policy.maxDeletes allows'],
        release: ['policy.maxDeletes'],
      },
    ],
    [
      'the daily limit and the number of earlier deletes',
      {
        of: {
          skills: ['Kept'],
          observed: old,
          policy: { maxDeletesPerDay: 5 },
          history: { recentDeletesMs: deletesAgo(5) },
        },
        reason: ['delete 1 entry after 5', 'more than the 5 that policy.maxDeletesPerDay allows'],
        release: ['policy.maxDeletesPerDay'],
      },
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
        reason: ['delete 9 skills, more than the 30 % that policy.maxDeletePercent allows'],
        release: ['policy.maxDeletePercent'],
      },
    ],
    [
      'the create that somebody reverts each time',
      {
        of: { skills: ['New'], history: { flappingCreates: new Map([['skill:New', 0]]) } },
        name: 'New',
        reason: ['created the skill “New” three times'],
        release: ['who or what deletes it'],
        not: ['freeze'],
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
        release: ['all of these are needed: (1) find out', '; (2) wait'],
      },
    ],
  ])('%s', (_, { of, name = 'Old', reason = [], release = [], not = [] }) => {
    const held = heldAs(plan(of), name);
    expect(reason.filter((part) => !held.reason.includes(part))).toEqual([]);
    expect(release.filter((part) => !held.release.includes(part))).toEqual([]);
    expect(not.filter((part) => `${held.reason} ${held.release}`.includes(part))).toEqual([]);
  });
});
