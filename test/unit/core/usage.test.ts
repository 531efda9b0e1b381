// The assignments of people, the people of entries, and unknown references.
import { describe, expect, it } from 'vitest';
import { accountUsage, holdingsOf, unlistedEntries, usageOf } from '../../../src/core/usage.ts';
import { entry, observed, person } from './builders.ts';

const skill = (resourceId: string, remoteId: string) => ({ resourceId, kind: 'skill' as const, remoteId });
const role = (resourceId: string, remoteId: string) => ({ resourceId, kind: 'role' as const, remoteId });

describe('the assignments of a person', () => {
  it.each([
    ['skills and a role', person('p', ['a', 'b'], 'r'), [skill('p', 'a'), skill('p', 'b'), role('p', 'r')]],
    ['a skill that is named twice', person('p', ['a', 'a']), [skill('p', 'a')]],
    ['nothing', person('p'), []],
    ['an empty list and no role', person('p', [], null), []],
    ['a role without an id', person('p', [], ''), []],
    ['several roles', { ...person('p', [], 'r'), otherRoleIds: ['s', ''] }, [role('p', 'r'), role('p', 's')]],
  ])('are %s', (_, resource, holdings) => {
    expect(holdingsOf(resource)).toEqual(holdings);
  });
});

describe('the people of an entry', () => {
  it('are listed once each, by code points, separately by kind', () => {
    const usage = usageOf([
      person('\uffee', ['1']),
      person('b', ['1', '1']),
      person('\u{1f600}', ['1']),
      person('c', [], '1'),
    ]);
    expect([...usage]).toEqual([
      ['skill:1', ['b', '\uffee', '\u{1f600}']],
      ['role:1', ['c']],
    ]);
  });
});

describe('the usage of an account', () => {
  it('contains every entry with its people, unused ones, and references to unknown ids', () => {
    const lists = observed({
      skill: [entry('TypeScript', '1'), entry('Perl', '2')],
      role: [entry('Clerk', '1')],
      resources: [person('q', ['1', '9'], '1'), person('p', ['1'], '2')],
    });
    expect(accountUsage('acme', lists, 'now')).toEqual({
      account: 'acme',
      takenAt: 'now',
      entries: [
        { kind: 'skill', name: 'TypeScript', remoteId: '1', usedBy: ['p', 'q'] },
        { kind: 'skill', name: 'Perl', remoteId: '2', usedBy: [] },
        { kind: 'role', name: 'Clerk', remoteId: '1', usedBy: ['q'] },
      ],
      unknownReferences: [skill('q', '9'), role('p', '2')],
    });
  });
});

it('the lists lack the entries that people refer to, each once', () => {
  const lists = observed({
    skill: [entry('Go', 's1')],
    resources: [person('ann', ['s1', 's2', 's8'], 'r1'), person('bob', ['s2'])],
  });
  expect(unlistedEntries(lists)).toEqual(['skill:s2', 'skill:s8', 'role:r1']);
});
