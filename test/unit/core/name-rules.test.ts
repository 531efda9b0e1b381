// Which names files can contain, and which are suspicious.
import { describe, expect, it } from 'vitest';
import {
  hasTooManyMarks,
  nameProblem,
  oddCharacters,
  referenceProblem,
} from '../../../src/core/name-rules.ts';
import { FORBIDDEN_NAMES, LOUD_NAMES, ODD_NAMES } from '../../support/hostile-names.ts';

const MARK = '\u0301';

// prettier-ignore
const USABLE = [
  'Go', 'x', '!', '~', 'C++', 'two words', 'two  spaces', 'Ünïcödé', '日本語', 'a\u00a0b', '👩‍💻', 'e\u0301', `a${MARK.repeat(30)}`,
];

// prettier-ignore
const USUAL = [
  'Go', 'naïve café', 'e\u0301', '日本語', 'Дизайнер', 'Αθήνα', 'Дизайнер UX', 'नेतृत्व', '👩‍💻 team', '❤️', '1️⃣',
  '\u{1F3F4}\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F} England',
];

describe('a name of an account file', () => {
  it('can be any usual text', () => {
    expect(USABLE.filter((name) => nameProblem(name) !== undefined)).toEqual([]);
  });

  it.each([
    ['is empty', ''],
    ['control character', 'a\u0000b'],
    ['control character', 'a\tb'],
    ['control character', 'a\u007f'],
    ['control character', '\u0085a'],
    ['line break', 'a\nb'],
    ['line break', 'a\u2028b'],
    ['line break', 'a\u2029'],
    ['half of a character', 'a\ud800b'],
    ['half of a character', '\udc00'],
    ['half of a character', 'a\ufffdd800b'],
    ['half of a character', '\ufffddfff'],
    ['more than 30 combining marks', `a${MARK.repeat(31)}`],
    ['white space', ' a'],
    ['white space', 'a '],
    ['white space', ' '],
    ['white space', '\u00a0a'],
    ['white space', 'a\u3000'],
    ['white space', '\ufeffa'],
    ['white space', 'é\ufeff'],
  ])('cannot be one that has this problem: %s (%j)', (problem, name) => {
    expect(nameProblem(name)).toContain(problem);
  });

  it('can have up to 1,000 characters, however many UTF-16 units they are', () => {
    for (const character of ['x', 'é', '😀']) {
      expect(nameProblem(character.repeat(1000))).toBeUndefined();
      expect(nameProblem(character.repeat(1001))).toContain('more than 1,000 characters');
    }
  });

  it('has the first of several problems, which are ordered by how much they hide', () => {
    const marks = MARK.repeat(31);
    expect(nameProblem(` \n\ud800${marks}${'x'.repeat(1000)}`)).toContain('control character');
    expect(nameProblem(` \ud800${marks}${'x'.repeat(1000)}`)).toContain('half of a character');
    expect(nameProblem(` ${marks}${'x'.repeat(1000)}`)).toContain('combining marks');
    expect(nameProblem(` ${'x'.repeat(1000)}`)).toContain('1,000 characters');
  });

  it('cannot be a forbidden one, and can be every other hostile one', () => {
    expect(FORBIDDEN_NAMES.filter((name) => nameProblem(name) === undefined)).toEqual([]);
    expect([...ODD_NAMES, ...LOUD_NAMES].filter((name) => nameProblem(name) !== undefined)).toEqual([]);
  });
});

describe('a reference to an existing name', () => {
  it('can be any text that an entry can have', () => {
    const names = [...FORBIDDEN_NAMES, ...ODD_NAMES, 'x'.repeat(1000), '😀'.repeat(1000)];
    expect(names.filter((name) => referenceProblem(name) !== undefined)).toEqual([]);
  });

  it('cannot be longer than any entry', () => {
    expect(referenceProblem('x'.repeat(1001))).toContain('more than 1000 characters');
  });
});

describe('a text with many combining marks', () => {
  it('has too many when more than 30 follow each other', () => {
    expect(hasTooManyMarks(`a${MARK.repeat(30)}b${MARK.repeat(30)}`)).toBe(false);
    expect(hasTooManyMarks(`a${MARK.repeat(31)}`)).toBe(true);
  });
});

describe('the suspicious characters of a name', () => {
  it.each([
    ['a\u200bb', 'U+200B at 2'],
    ['\u202egnp.exe', 'U+202E at 1'],
    ['soft\u00adhyphen', 'U+00AD at 5'],
    ['\u{e0041}', 'U+E0041 at 1'],
    ['😀\u200b', 'U+200B at 2'],
    ['1\ufe0f', 'U+FE0F at 2'],
    ['a\u3000b', 'U+3000 at 2'],
    ['\u0301a', 'U+0301 at 1'],
    ['\u{1F3F4}\u{E0067} \u{E0067}', 'U+E0067 at 4'],
    ['P\u0430yroll', 'U+0430 at 2'],
    ['Go P\u0430yr\u043ell', 'U+0430 at 5, U+043E at 8'],
    ['\u039fracle', 'U+039F at 1'],
    ['\u043e\u200bOne\u043e', 'U+200B at 2, U+043E at 6'],
    ['P\u0430\u200b', 'U+0430 at 2, U+200B at 3'],
    ['a\u200b\u200b\u200b\u200b\u200b', 'U+200B at 2, U+200B at 3, U+200B at 4, U+200B at 5, U+200B at 6'],
    [
      'a\u200b\u200b\u200b\u200b\u200b\u200b',
      'U+200B at 2, U+200B at 3, U+200B at 4, U+200B at 5, U+200B at 6 … and 1 more',
    ],
  ])('of %j are %s', (name, odd) => {
    expect(oddCharacters(name)).toBe(odd);
  });

  it('of usual names are none', () => {
    expect(USUAL.filter((name) => oddCharacters(name) !== undefined)).toEqual([]);
  });

  it('are found in every odd name, and in no loud one', () => {
    expect(ODD_NAMES.filter((name) => oddCharacters(name) === undefined)).toEqual([]);
    const usual = LOUD_NAMES.filter((name) => !/[^ -~]/u.test(name));
    expect(usual.filter((name) => oddCharacters(name) !== undefined)).toEqual([]);
  });
});
