// What holds for every name and every glob.
import fc from 'fast-check';
import '../support/seed.ts';
import { describe, expect, it } from 'vitest';
import { compareCodePoints, globMatcher, nameKey, nearKey } from '../../src/core/names.ts';

const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 12 }),
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.string({
    unit: fc.constantFrom('a', 'A', '\u0301', ' ', 'é', '\u{1f600}', '\uffee', '*', '?', '\\'),
    maxLength: 12,
  }),
);

describe('the keys of names', () => {
  it('are the same when they are computed again from a key', () => {
    fc.assert(
      fc.property(text, (name) => {
        expect(nameKey(nameKey(name))).toBe(nameKey(name));
        expect(nearKey(nearKey(name))).toBe(nearKey(name));
      }),
    );
  });

  it('are the same for the composed and the decomposed form of a name', () => {
    fc.assert(
      fc.property(text, (name) => {
        for (const form of ['NFC', 'NFD'] as const) {
          expect(nameKey(name.normalize(form))).toBe(nameKey(name));
          expect(nearKey(name.normalize(form))).toBe(nearKey(name));
        }
        expect(nearKey(nameKey(name))).toBe(nearKey(name));
      }),
    );
  });

  it('of a name in ASCII are those of the same name beside another letter', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme-ascii', maxLength: 12 }), (name) => {
        expect(nameKey(name)).toBe(name.normalize('NFC'));
        expect(`${nearKey(name)}e`).toBe(nearKey(`${name}é`));
      }),
    );
  });

  it('are near for names that differ only in case', () => {
    const letters = fc.string({
      unit: fc.constantFrom('a', 'Z', 'é', 'ß', 'ẞ', 'Σ', 'ς', 'Ж', 'İ', 'ﬁ', 'ǅ', 'ա', '1'),
      maxLength: 8,
    });
    fc.assert(
      fc.property(letters, (name) => {
        expect(nearKey(name.toLowerCase())).toBe(nearKey(name));
        expect(nearKey(name.toUpperCase())).toBe(nearKey(name));
      }),
    );
  });

  it('are near for names that differ only in surrounding white space', () => {
    fc.assert(
      fc.property(text, fc.constantFrom(' ', '\t', '\u00a0', '\u2003'), (name, space) => {
        expect(nearKey(`${space}${name}${space}`)).toBe(nearKey(name));
      }),
    );
  });
});

describe('the order of names', () => {
  const points = (name: string): number[] => Array.from(name, (each) => each.codePointAt(0) ?? 0);

  it('is the order of their code points', () => {
    fc.assert(
      fc.property(text, text, (a, b) => {
        const [x, y] = [points(a), points(b)];
        const at = x.findIndex((point, index) => point !== y[index]);
        const expected = at === -1 ? x.length - y.length : (x[at] ?? 0) - (y[at] ?? -1);
        expect(Math.sign(compareCodePoints(a, b))).toBe(Math.sign(expected));
      }),
    );
  });
});

describe('a glob', () => {
  const escaped = (name: string): string => name.replace(/[\\*?]/g, '\\$&');

  it('from an escaped name matches that name and no other', () => {
    fc.assert(
      fc.property(text, text, (name, other) => {
        const matches = globMatcher(escaped(name));
        expect(matches(name)).toBe(true);
        expect(matches(other)).toBe(nameKey(other) === nameKey(name));
      }),
    );
  });

  it('with stars around an escaped part matches exactly the names that contain the part', () => {
    const ascii = fc.string({ unit: fc.constantFrom('a', 'b', '*', '?', '/'), maxLength: 6 });
    fc.assert(
      fc.property(ascii, ascii, (part, name) => {
        expect(globMatcher(`*${escaped(part)}*`)(name)).toBe(name.includes(part));
        expect(globMatcher(`${escaped(part)}*`)(name)).toBe(name.startsWith(part));
        expect(globMatcher(`*${escaped(part)}`)(name)).toBe(name.endsWith(part));
      }),
    );
  });

  it('of question marks matches exactly the names with that many characters', () => {
    const plain = fc.string({ unit: fc.constantFrom('a', 'é', '\u{1f600}', '\n'), maxLength: 5 });
    fc.assert(
      fc.property(plain, fc.nat(5), (name, count) => {
        expect(globMatcher('?'.repeat(count))(name)).toBe(Array.from(name).length === count);
      }),
    );
  });
});
