// The warnings of a plan.
import { describe, expect, it } from 'vitest';
import type { Warning } from '../../../src/core/catalog.ts';
import { type Case, codes, entry, person, plan } from './builders.ts';

function onlyWarning(of: Case): Warning {
  const { warnings } = plan(of);
  expect(warnings.map(({ code }) => code)).toHaveLength(1);
  return warnings[0] ?? { code: '', message: '' };
}

describe('a warning about the history of an account', () => {
  it('names missing history, and whether deletes are allowed without it', () => {
    const messages = [true, false].map(
      (acceptNoEvidence) =>
        plan({ skills: [], history: { hasSnapshot: false }, input: { acceptNoEvidence } }).warnings[0]
          ?.message,
    );
    expect(messages[0]).toContain('deletes are allowed by --accept no_evidence');
    expect(messages[1]).toContain('deletes are held until the next plan or run');
  });
});

describe('a warning about the file', () => {
  it('names the command that fills in a file with neither skills nor roles', () => {
    const warning = onlyWarning({});
    expect(warning.code).toBe('nothing_managed');
    expect(warning.message).toContain('rolecall dump acme --write');
    expect(codes(plan({ roles: [] }))).toEqual([]);
    expect(codes(plan({ skills: [] }))).toEqual([]);
  });

  it('names two desired names that a reader may confuse, and where they differ', () => {
    const warning = onlyWarning({ skills: ['Design', 'Kept', 'design', 'Kepler'] });
    expect(warning).toMatchObject({ code: 'near_name', kind: 'skill', name: 'design' });
    expect(warning.message).toContain('“Design” and “design”');
    expect(warning.message).toContain('character 1 is “d”, not “D”');
  });

  it('names each further desired name that is near to an earlier one', () => {
    const { warnings } = plan({ skills: ['a', 'A', 'á', 'b'], roles: ['a'] });
    expect(warnings.map(({ name }) => name)).toEqual(['A', 'á']);
  });
});

describe('a warning about the lists', () => {
  it('names a deleted entry that the list still shows', () => {
    const warning = onlyWarning({
      skills: ['Kept'],
      observed: { skill: [entry('Kept'), entry('Old', '7')] },
      history: { gone: new Set(['skill:7'] as const) },
    });
    expect(warning).toMatchObject({ code: 'not_shown_yet', kind: 'skill', name: 'Old', remoteId: '7' });
    expect(warning.message).toContain('was deleted recently and the list still shows it');
  });

  it('names a created entry that no list shows yet, in the order of code points', () => {
    const awaited = ['b', 'é', 'a'].map((name) => ({ kind: 'skill', remoteId: `id-${name}`, name }) as const);
    const { warnings } = plan({ skills: ['a', 'b', 'é'], history: { awaited } });
    expect(warnings).toMatchObject([
      { code: 'not_shown_yet', kind: 'skill', name: 'a', remoteId: 'id-a' },
      { code: 'not_shown_yet', kind: 'skill', name: 'b', remoteId: 'id-b' },
      { code: 'not_shown_yet', kind: 'skill', name: 'é', remoteId: 'id-é' },
    ]);
  });

  it('names one duplicate in the singular and several in the plural', () => {
    const duplicates = (ids: readonly string[]) =>
      onlyWarning({ skills: ['Go'], observed: { skill: ids.map((id) => entry('Go', id)) } }).message;
    expect(duplicates(['1', '2'])).toContain('exists 2 times; 1 is kept, its duplicate is 2');
    expect(duplicates(['1', '2', '3'])).toContain('exists 3 times; 1 is kept, its duplicates are 2, 3');
  });

  it('names an existing name that is near to a desired one, and where they differ', () => {
    const warning = onlyWarning({
      skills: ['Site lead'],
      observed: {
        skill: [entry('Site\u00a0lead', '7')],
        resources: [person('p1', ['7']), person('p2', ['7'])],
      },
    });
    expect(warning).toMatchObject({
      code: 'near_name',
      kind: 'skill',
      name: 'Site\u00a0lead',
      remoteId: '7',
    });
    expect(warning.message).toContain('(2 people)');
    expect(warning.message).toContain('character 5 is U+00A0, not U+0020');
  });

  it('names a near name once, although it also looks the same', () => {
    const near = entry('Pay\u00adroll', '7');
    expect(codes(plan({ skills: ['Payroll'], observed: { skill: [near] } }))).toEqual(['near_name']);
  });
});
