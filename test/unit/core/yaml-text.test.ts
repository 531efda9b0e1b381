// Texts as YAML on one line.
import { describe, expect, it } from 'vitest';
import { yamlQuoted, yamlText } from '../../../src/core/yaml-text.ts';

// prettier-ignore
const PLAIN = [
  'Go', 'a', 'C++', 'Backend engineer', 'R&D', 'Node.js', 'é', 'e\u0301', '日本語', 'a b c', 'x/y', 'a (b)', 'snake_case',
  'kebab-case', 'v1.0', 'truely', 'yesterday', 'offline', 'nulls', 'ny', 'Ⅷ',
];

// prettier-ignore
const AMBIGUOUS = [
  '', ' ', ' a', 'a ', 'a  b', '1', '1.0', '.5', '-a', '- a', '+a', '_a', '/a', '(a)', '&a', '*a', '?a', '~', '٣', 'true',
  'False', 'NULL', 'yes', 'No', 'on', 'OFF', 'y', 'N', 'a: b', 'a:', 'a #b', 'C#', 'a, b', '[a]', '{a}', "it's", 'a!', 'a%',
  'a@b', '`a`', 'a|b', 'a>b', '<<', 'a=b', 'a~', '$a', 'a^', 'a;b', 'a?', '😀', '€',
];

describe('a text in YAML', () => {
  it('has no quotes if no parser can misread it', () => {
    expect(PLAIN.map(yamlText)).toEqual(PLAIN);
  });

  it('has quotes if a parser could misread it', () => {
    const quoted = AMBIGUOUS.map((text) => `"${text.replaceAll('a  b', String.raw`a \x20b`)}"`);
    expect(AMBIGUOUS.map(yamlText)).toEqual(quoted);
  });

  it.each([
    ['a zero-width joiner', 'a\u200db', String.raw`"a\U0000200Db"`],
    ['a soft hyphen', 'a\u00adb', String.raw`"a\xADb"`],
    ['an unusual space', 'a\u00a0b', String.raw`"a\xA0b"`],
    ['a filler that is a letter', 'a\u3164b', String.raw`"a\U00003164b"`],
    ['a mark after eight others', `a${'\u0301'.repeat(9)}`, String.raw`"a${'\u0301'.repeat(8)}\U00000301"`],
    ['a line break', 'a\nb', String.raw`"a\x0Ab"`],
    ['a terminal escape', '\u001b[2J', String.raw`"\x1B[2J"`],
    ['a tag', '\u{e0041}', String.raw`"\U000E0041"`],
    ['the last character with two digits', '\u00ff\u009f', String.raw`"ÿ\x9F"`],
    ['a quote', 'say "a"', String.raw`"say \"a\""`],
    ['a backslash', String.raw`C:\temp`, String.raw`"C:\\temp"`],
    ['a backslash at the end', 'a\\', String.raw`"a\\"`],
    ['a backslash before the letter u', String.raw`a\u0041`, String.raw`"a\x5Cu0041"`],
    ['two backslashes before the letter u', String.raw`a\\u0041`, String.raw`"a\\\x5Cu0041"`],
    ['repeated spaces', 'a   b', String.raw`"a \x20\x20b"`],
    ['a command to GitHub', '::error::x', String.raw`"\x3A:error::x"`],
    ['a command to GitHub after a space', 'a ::error', String.raw`"a \x3A:error"`],
    ['a command to Azure', 'a##[error]x', String.raw`"a\x23#[error]x"`],
  ])('has an escape for %s', (_, text, written) => {
    expect(yamlText(text)).toBe(written);
    expect(yamlQuoted(text)).toBe(written);
  });

  it('is in quotes where the caller wants it so', () => {
    expect(yamlQuoted('Go')).toBe('"Go"');
    expect(yamlQuoted('')).toBe('""');
  });
});
