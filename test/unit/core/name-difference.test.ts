// Where two names differ, in words that a reader can act on.
import { describe, expect, it } from 'vitest';
import { appearance, nameDifference } from '../../../src/core/name-difference.ts';
import { entry, person, plan } from './builders.ts';

describe('the difference of two names', () => {
  it.each([
    ['typescript', 'TypeScript', 'character 1 is “t”, not “T”'],
    ['Site\u00a0lead', 'Site lead', 'character 5 is U+00A0 no-break space, not U+0020 space'],
    ['P\u0430yroll', 'Payroll', 'character 2 is “а” (U+0430 Cyrillic letter), not “a”'],
    ['Site lead', 'Sitelead', 'character 5 is extra: U+0020 space'],
    ['Sitelead', 'Site\u200blead', 'character 5 is missing: U+200B zero-width space'],
    ['Perl ', 'Perl', 'character 5 is extra: U+0020 space'],
    ['Perl', 'Perl\n', 'character 5 is missing: U+000A line feed'],
    ['Perl', 'Perl 5', 'character 5 is missing: U+0020 space'],
    ['Perl 5', 'Perl', 'character 5 is extra: U+0020 space'],
    ['xb\u0430', 'Xba2', 'character 1 is “x”, not “X”'],
    ['Cafe', 'Café', 'character 4 is “e”, not “é” (U+00E9)'],
    ['👩x', '👩X', 'character 2 is “x”, not “X”'],
    [
      'nb\u00a0sp',
      'Nb sp',
      'character 1 is “n”, not “N”; character 3 is U+00A0 no-break space, not U+0020 space',
    ],
    [
      'p\u0430yroll',
      'Payroll',
      'character 1 is “p”, not “P”; character 2 is “а” (U+0430 Cyrillic letter), not “a”',
    ],
    ['perL', 'Perl', 'character 1 is “p”, not “P”'],
    ['\uff21', 'A', 'character 1 is “Ａ” (U+FF21 full-width form), not “A”'],
    ['a\u0001', 'a', 'character 2 is extra: U+0001 control character'],
    ['e\u0301', 'é', ''],
  ])('%j and %j: %s', (name, other, difference) => {
    expect(nameDifference(name, other)).toBe(difference);
  });
});

describe('the appearance of a name', () => {
  it('is equal for letters of other scripts that look the same, and for invisible characters', () => {
    expect(appearance('\u0420\u0430yr\u200boll  x')).toBe('Payroll x');
    expect(appearance('\u00a0Payroll\u3000')).toBe('Payroll');
    expect(appearance('Perl')).not.toBe(appearance('perl'));
  });

  it('warns of an entry that only looks like a desired one, and names the letter', () => {
    const old = 'P\u0430yroll';
    const { warnings } = plan({
      skills: ['Payroll', 'Perl'],
      observed: { skill: [entry(old), entry('Cobol')], resources: [person('p1', [old])] },
    });
    expect(warnings).toMatchObject([{ code: 'lookalike_name', kind: 'skill', name: old, remoteId: old }]);
    expect(warnings[0]?.message).toContain('(1 person) looks like the desired “Payroll”');
    expect(warnings[0]?.message).toContain('character 2 is “а” (U+0430 Cyrillic letter), not “a”');
  });
});
