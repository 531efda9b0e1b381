// The patterns for characters that are invisible or look like others.
import { describe, expect, it } from 'vitest';
import { EMOJI_JOINT, INVISIBLE, RUNNER_COMMAND, STRAY_MARK } from '../../../src/core/names.ts';

/** The positions at which a pattern matches, in UTF-16 units. */
function positions(pattern: string, text: string): number[] {
  return [...text.matchAll(new RegExp(pattern, 'gu'))].map(({ index }) => index);
}

describe('an invisible character', () => {
  it.each([
    ['a control character', '\u0000\t\n\u007f\u009b'],
    ['a zero-width space or joiner', '\u200b\u200c\u200d\u2060\ufeff'],
    ['a direction override or isolate', '\u202a\u202e\u2066\u2069\u061c'],
    ['half of a character', '\ud800'],
    ['a character of private use', '\ue000\u{f0000}'],
    ['a line or paragraph separator', '\u2028\u2029'],
    ['a filler that is a letter', '\u3164\u115f\uffa0'],
    ['a variation selector', '\ufe0f\u{e0101}'],
    ['a tag', '\u{e0041}'],
    ['a soft hyphen', '\u00ad'],
    ['a space other than the usual one', '\u00a0\u1680\u2000\u202f\u205f\u3000'],
    ['a blank symbol', '\u2800'],
    ['no character at all', '\uffff\ufdd0'],
  ])('is %s', (_, text) => {
    for (const character of text)
      expect(positions(INVISIBLE, character), character.codePointAt(0)?.toString(16)).toEqual([0]);
  });

  it('is neither a usual space nor a letter, digit, sign, mark or emoji', () => {
    expect(positions(INVISIBLE, 'a Z 9 é e\u0301 日本 עברית हि + – “ ” € 👩 ❤')).toEqual([]);
  });
});

describe('a stray combining mark', () => {
  it('is one that has no base character', () => {
    expect(positions(STRAY_MARK, '\u0301')).toEqual([0]);
    expect(positions(STRAY_MARK, 'a \u0301')).toEqual([2]);
    expect(positions(STRAY_MARK, 'a\n\u0301')).toEqual([2]);
    for (const base of ['a', '1', '-', '€', '日'])
      expect(positions(STRAY_MARK, `${base}\u0301\u0302`), base).toEqual([]);
  });

  it('is one that follows eight others', () => {
    expect(positions(STRAY_MARK, `a${'\u0301'.repeat(8)}`)).toEqual([]);
    expect(positions(STRAY_MARK, `a${'\u0301'.repeat(10)}`)).toEqual([9, 10]);
  });
});

describe('a joint of an emoji', () => {
  it.each([
    ['a joiner between two emoji', '👩\u200d💻', [2]],
    ['a joiner after a skin colour', '👩\u{1f3fd}\u200d💻', [4]],
    ['a selector after an emoji, and a joiner after it', '❤\ufe0f\u200d🔥', [1, 2]],
    ['the selector of a keycap', '1\ufe0f\u20e3', [1]],
    ['the selector of a keycap of a sign', '#\ufe0f\u20e3*\ufe0f\u20e3', [1, 4]],
  ])('is %s', (_, text, expected) => {
    expect(positions(EMOJI_JOINT, text)).toEqual(expected);
  });

  it.each([
    ['a joiner between letters', 'a\u200db'],
    ['a joiner after an emoji and before a letter', '👩\u200da'],
    ['a joiner after a letter and before an emoji', 'a\u200d👩'],
    ['a selector after a letter', 'a\ufe0f'],
    ['a selector after a digit that is no keycap', '1\ufe0f'],
    ['a second selector', '❤\ufe0f\ufe0f'.slice(2)],
  ])('is not %s', (_, text) => {
    expect(positions(EMOJI_JOINT, text)).toEqual([]);
  });
});

describe('a command to a CI runner', () => {
  it.each([
    ['::error::x', [0]],
    ['a ::error::x', [2]],
    ['a\n::error::x', [2]],
    ['##[error]x', [0]],
    ['a##[error]x', [1]],
    ['a##vso[task]', [1]],
    ['##teamcity[x]', [0]],
  ])('begins in %j at %j', (text, expected) => {
    expect(positions(RUNNER_COMMAND, text)).toEqual(expected);
  });

  it.each(['std::vector', 'a: b', ':', '## a', '##vso', '#[x]', '##teamcity x'])(
    'does not begin in %j',
    (text) => {
      expect(positions(RUNNER_COMMAND, text)).toEqual([]);
    },
  );
});
