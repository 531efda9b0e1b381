// Equal names, near names, their order, and globs.
import { describe, expect, it } from 'vitest';
import {
  compareCodePoints,
  globMatcher,
  nameDifference,
  nameKey,
  nearKey,
  wellFormed,
} from '../../../src/core/names.ts';

describe('the key of a name', () => {
  it('is the same for composed and decomposed forms', () => {
    expect(nameKey('Cafe\u0301')).toBe(nameKey('Caf\u00e9'));
    expect(nameKey('\u1112\u1161\u11ab')).toBe(nameKey('\ud55c'));
  });

  it.each([
    ['case', 'Design', 'design'],
    ['white space', 'Design', 'Design '],
    ['compatibility forms', 'ﬁt', 'fit'],
    ['an invisible character', 'Design', 'De\u200dsign'],
  ])('differs when only %s differs', (_, a, b) => {
    expect(nameKey(a)).not.toBe(nameKey(b));
  });
});

describe('near names', () => {
  it.each([
    ['case', 'TypeScript', 'typescript'],
    ['leading, trailing and inner white space', 'Type Script', ' TypeScript\u00a0'],
    ['diacritics', 'Résumé', 'Resume'],
    ['composed and decomposed diacritics', 'Re\u0301sume\u0301', 'résumé'],
    ['full width', 'ＳＱＬ', 'sql'],
    ['ligatures', 'ﬁnance', 'Finance'],
    ['zero width joiners', 'De\u200dsign', 'Design'],
    ['soft hyphens', 'De\u00adsign', 'Design'],
    ['the German sharp s and its capitals', 'Straße', 'STRASSE'],
    ['final and medial sigma', 'ΣΟΦΟΣ', 'σοφος'],
    ['the Turkish dotted capital i', 'İstanbul', 'istanbul'],
  ])('differ only in %s', (_, a, b) => {
    expect(nearKey(a)).toBe(nearKey(b));
  });

  it.each([
    ['C', 'C++'],
    ['C#', 'C'],
    ['Java', 'JavaScript'],
    ['Role-1', 'Role 1'],
    ['1', '2'],
  ])('are not %s and %s', (a, b) => {
    expect(nearKey(a)).not.toBe(nearKey(b));
  });
});

describe('the order of names', () => {
  it('is that of code points, also above the basic plane', () => {
    const names = ['\u{1f600}', '\uffee', 'b', 'B', 'é', 'a\u{1f600}', 'a\uffee', 'a', ''];
    expect(names.toSorted(compareCodePoints)).toEqual([
      '',
      'B',
      'a',
      'a\uffee',
      'a\u{1f600}',
      'b',
      'é',
      '\uffee',
      '\u{1f600}',
    ]);
  });
});

describe('a text with half a surrogate pair', () => {
  it('becomes well-formed, and different texts remain different', () => {
    const texts = ['a\ud800', 'a\udbff', 'a\udc00', '\ude00\ud83d', '\ufffd', 'a\ufffd', '😀', ''];
    expect(texts.map(wellFormed)).toEqual([
      'a\ufffdd800',
      'a\ufffddbff',
      'a\ufffddc00',
      '\ufffdde00\ufffdd83d',
      '\ufffd',
      'a\ufffd',
      '😀',
      '',
    ]);
  });
});

describe('globs', () => {
  it.each([
    ['Admin*', 'Admin', true],
    ['Admin*', 'Administrator / EU', true],
    ['Admin*', 'admin', false],
    ['Admin*', 'Sub Admin', false],
    ['*/EU', 'a/b/EU', true],
    ['*', '', true],
    ['*', 'two\nlines', true],
    ['?', 'x', true],
    ['?', '\u{1f600}', true],
    ['?', '', false],
    ['?', 'xy', false],
    ['a?c', 'a/c', true],
    ['C\\*', 'C*', true],
    ['C\\*', 'C++', false],
    ['what\\?', 'what?', true],
    ['what\\?', 'whats', false],
    ['back\\\\slash', 'back\\slash', true],
    ['\\a', 'a', true],
    ['end\\', 'end\\', true],
    ['C++ (2020) [x] {y} ^$|.', 'C++ (2020) [x] {y} ^$|.', true],
    ['a.c', 'abc', false],
    ['Caf\u00e9', 'Cafe\u0301', true],
    ['Cafe\u0301*', 'Caf\u00e9 owner', true],
    ['**', 'anything', true],
    ['a**b', 'ab', true],
    ['\\**', '*x', true],
    ['\\**', 'x*', false],
  ])('%s against %j is %s', (glob, name, matches) => {
    expect(globMatcher(glob)(name)).toBe(matches);
  });

  it('end also when many stars could match in many ways', () => {
    // Backtracking over this would take years; a linear matcher takes about a thousand steps.
    expect(globMatcher(`${'*a'.repeat(20)}*b`)('a'.repeat(96))).toBe(false);
  });
});

describe('the difference of two names', () => {
  it.each([
    ['typescript', 'TypeScript', 'character 1 is “t”, not “T”'],
    ['Site\u00a0lead', 'Site lead', 'character 5 is U+00A0, not U+0020'],
    ['P\u0430yroll', 'Payroll', 'character 2 is “а” (U+0430), not “a”'],
    ['Perl', 'Perl\n', 'character 5 is missing: U+000A'],
    ['Perl 5', 'Perl', 'character 5 is extra: U+0020'],
    ['👩x', '👩X', 'character 2 is “x”, not “X”'],
    ['e\u0301', 'é', ''],
  ])('%j and %j: %s', (name, other, difference) => {
    expect(nameDifference(name, other)).toBe(difference);
  });
});
