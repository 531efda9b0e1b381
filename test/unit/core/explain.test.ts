// The sentences beside what is held: each names what a person needs in order to judge and to release it.
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
const going = (count: number) => Array.from({ length: count }, (_, index) => entry(`x${String(index)}`));
const rename = [{ name: 'New', formerly: ['Old'] }];

/** Of the held `Old` (or another name): what its reason and its release say, and what they do not. */
interface Said {
  readonly of: Case;
  readonly name?: string;
  readonly reason?: readonly string[];
  readonly release?: readonly string[];
  readonly not?: readonly string[];
}

const old = { skill: [entry('Kept'), entry('Old')] };

describe('what is held says', () => {
  it.each<[string, Said]>([
    [
      'who many people have it, and how to approve it',
      {
        of: { skills: ['Kept'], observed: { ...old, resources: people(2) } },
        reason: ['2 people have it'],
        release: ['{ kind: skill, name: Old }'],
      },
    ],
    [
      'that one person has it',
      { of: { skills: ['Kept'], observed: { ...old, resources: people(1) } }, reason: ['1 person has it'] },
    ],
    [
      'to what it is renamed, and not in_use besides',
      {
        of: { skills: rename, observed: { skill: [entry('Old')], resources: people(1) } },
        reason: ['renamed to “New” and 1 person has it'],
        release: ['to “New”', 'name: Old'],
        not: ['take it off'],
      },
    ],
    [
      'which new name cannot be created yet',
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
      'which desired name it looks like, and not in_use besides',
      {
        of: { skills: ['OLD'], observed: { skill: [entry('Old')], resources: people(1) } },
        reason: ['looks like “OLD”', '1 person has it'],
        release: ['{ name: OLD, formerly: [Old] }', 'name: Old'],
        not: ['take it off'],
      },
    ],
    [
      'which one person is missing',
      {
        of: { skills: ['Kept'], observed: old, history: missing(1) },
        reason: ['1 person who had it is missing', '(m0)'],
      },
    ],
    [
      'which five people are missing',
      {
        of: { skills: ['Kept'], observed: old, history: missing(5) },
        reason: ['5 people who had it are missing', '(m0, m1, m2, m3, m4)'],
      },
    ],
    [
      'who is missing and who is listed without the field, apart',
      {
        of: {
          skills: ['Kept'],
          observed: { ...old, resources: [person('m1')] },
          history: missing(2),
        },
        reason: [
          '1 person who had it is missing from the list of resources (m0)',
          '1 person who had it is listed without any field for skills (m1)',
        ],
      },
    ],
    [
      'not to wait when the plan alone is over the daily limit',
      {
        of: { skills: ['Kept'], observed: old, policy: { maxDeletesPerDay: 0 } },
        release: ['raise policy.maxDeletesPerDay'],
        not: ['wait'],
      },
    ],
    [
      'to wait when it is the earlier deletes that pass the daily limit',
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
      'how many more people are missing',
      {
        of: { skills: ['Kept'], observed: old, history: missing(7) },
        reason: ['(m0, m1, m2, m3, m4, … and 2 more)'],
      },
    ],
    [
      'that it is too new',
      {
        of: { skills: ['Kept'], observed: old, policy: { unusedForMs: 1 } },
        reason: ['policy.unusedFor'],
        release: ['wait'],
      },
    ],
    [
      'which limit of a plan is passed, and by how many',
      {
        of: {
          skills: ['Kept'],
          observed: { skill: [entry('Kept'), ...going(3)] },
          policy: { maxDeletes: 2 },
        },
        name: 'x0',
        reason: ['delete 3, more than policy.maxDeletes 2'],
        release: ['policy.maxDeletes'],
      },
    ],
    [
      'which limit of a day is passed, after how many',
      {
        of: {
          skills: ['Kept'],
          observed: old,
          policy: { maxDeletesPerDay: 5 },
          history: { recentDeletesMs: deletesAgo(5) },
        },
        reason: ['delete 1 after 5', 'policy.maxDeletesPerDay 5'],
        release: ['policy.maxDeletesPerDay'],
      },
    ],
    [
      'which share of its kind is passed, by how many of that kind',
      {
        of: {
          skills: ['Kept'],
          roles: ['Kept'],
          observed: {
            skill: [entry('Kept'), ...going(9)],
            role: [entry('Kept'), entry('Clerk')],
          },
          policy: { maxDeletes: 100 },
        },
        name: 'x0',
        reason: ['delete 9 skills, more than policy.maxDeletePercent 30 %'],
        release: ['policy.maxDeletePercent'],
      },
    ],
    [
      'which create somebody fights over',
      {
        of: { skills: ['New'], history: { flappingCreates: new Map([['skill:New', 0]]) } },
        name: 'New',
        reason: ['created the skill “New” three times'],
        release: ['who or what deletes it'],
        not: ['freeze'],
      },
    ],
    [
      'which window holds a create',
      {
        of: { skills: ['New'], input: { frozen: { window: 'cron 0 18 * * 5', untilMs: null } } },
        name: 'New',
        reason: ['(cron 0 18 * * 5)'],
        release: ['policy.freeze'],
      },
    ],
    [
      'all of it, apart by semicolons',
      {
        of: {
          skills: ['New'],
          history: { flappingCreates: new Map([['skill:New', 0]]) },
          input: { frozen: { window: 'a window', untilMs: null } },
        },
        name: 'New',
        reason: ['each time; a freeze window'],
        release: ['each of these is needed: (1) find out', '; (2) wait'],
      },
    ],
  ])('%s', (_, { of, name = 'Old', reason = [], release = [], not = [] }) => {
    const held = heldAs(plan(of), name);
    expect(reason.filter((part) => !held.reason.includes(part))).toEqual([]);
    expect(release.filter((part) => !held.release.includes(part))).toEqual([]);
    expect(not.filter((part) => `${held.reason} ${held.release}`.includes(part))).toEqual([]);
  });
});
