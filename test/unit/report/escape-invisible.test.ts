// Hostile names: every invisible character is shown as an escape.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  inVisibleJson,
  visible,
  visibleJson,
  visibleLines,
  visibleName,
} from '../../../src/report/escape-invisible.ts';
import { times } from '../../support/thorough.ts';

describe('a text that is shown', () => {
  it.each([
    ['a terminal escape', 'a\u001b[31mred', 'a\\u001b[31mred'],
    ['a line break', 'one\ntwo\r', 'one\\u000atwo\\u000d'],
    ['a right-to-left override', '\u202egnp.exe', '\\u202egnp.exe'],
    ['a tag character', 'a\u{e0041}', 'a\\u{e0041}'],
    ['a lone surrogate', 'a\ud800', 'a\\ud800'],
    ['a combining mark without a base', '\u0301a', '\\u0301a'],
    ['a variation selector on a plain digit', '1\ufe0f', '1\\ufe0f'],
    ['a command to GitHub', '::error::x', '\\u003a:error::x'],
    ['a command to Azure', '##vso[task.complete]', '\\u0023#vso[task.complete]'],
  ])('has an escape for %s', (_, text, shown) => {
    expect(visible(text)).toBe(shown);
  });

  it.each(['C++', 'e\u0301', '日本語', 'עברית', '👨‍👩‍👧 team', '1️⃣', 'C:\\temp', 'std::vector', '## a'])(
    'contains %s unchanged',
    (text) => {
      expect(visible(text)).toBe(text);
    },
  );

  it('differs for an invisible character and for a name that spells its escape', () => {
    expect(visible('\\u202e')).toBe('\\\\u202e');
    expect(visible('\\\u202e')).toBe('\\\\\\u202e');
  });

  it('has at most eight combining marks in a row', () => {
    expect(visible(`a${'\u0301'.repeat(20)}`)).toBe(`a${'\u0301'.repeat(8)}${'\\u0301'.repeat(12)}`);
  });

  it('has escapes for the invisible spaces of a name', () => {
    expect(visibleName(' two  words ')).toBe('\\u0020two \\u0020words\\u0020');
    expect(visibleName('')).toBe('""');
  });

  it('is different for two different names', () => {
    const unit = fc.constantFrom(...Array.from('\\u20 a{\u202e\u200d\ufe0f\u0301👧'));
    const tricky = fc.string({ unit, minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(tricky, tricky, (a, b) => {
        fc.pre(a !== b);
        expect(visibleName(a)).not.toBe(visibleName(b));
      }),
      { numRuns: times(1000, 5000) },
    );
  });
});

describe('JSON that is shown', () => {
  const value = {
    'a\u202e': ['\u009b2J', 'x\u{e0041}\u200b', '##[error]', '\\ud800', '日本語 👨‍👩‍👧', '\u2028\u00a0'],
  };

  it('returns the exact value when it is parsed', () => {
    expect(JSON.parse(visibleJson(value, 2))).toEqual(value);
    expect(JSON.parse(inVisibleJson(JSON.stringify(value)))).toEqual(value);
  });

  it('has no half of a surrogate pair, which strict parsers refuse, also after it was JSON already', () => {
    const json = visibleJson(['\ud800\u{e0041}\\ud800', '\udc00\ud83d\ude00\ud83d']);
    expect(json).toBe('["\ufffdd800\\udb40\\udc41\\\\ud800","\ufffddc00😀\ufffdd83d"]');
    expect(inVisibleJson(json)).toBe(json);
  });

  it('contains no invisible character and no command', () => {
    expect(visibleJson(value)).toBe(
      String.raw`{"a\u202e":["\u009b2J","x\udb40\udc41\u200b","\u0023#[error]","\\ud800","日本語 👨\u200d👩\u200d👧","\u2028\u00a0"]}`,
    );
  });
});

it('escapes each line of a text', () => {
  expect(visibleLines('a\u202e\n::b::')).toBe('a\\u202e\n\\u003a:b::');
});
