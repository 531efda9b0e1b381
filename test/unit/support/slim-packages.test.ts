// The build changes the text of packages; what they compute must stay the same.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import stringWidth from 'string-width';
import { expect, test } from 'vitest';
import { isThorough, times } from '../../support/thorough.ts';
import { withLazyEmoji } from '../../support/slim-packages.mjs';

const FILE = fileURLToPath(import.meta.resolve('string-width'));

/** Parts of emoji sequences, keycaps, flags, other scripts and colour codes, so that random texts combine them. */
const PARTS = Array.from(
  '👩👧🏽\u200D\uFE0F\uFE0E❤#1\u20E3🇩🇪🇨🏴\u{E0067}\u{E007F}☎©™〰㊗⌚‼🀄日ア가가é\u0301अा… a\u001B[31m',
);
const texts = fc.oneof(
  fc.array(fc.constantFrom(...PARTS), { maxLength: 8 }).map((parts) => parts.join('')),
  fc.string({ unit: 'grapheme', maxLength: 8 }),
  fc.string({ unit: 'binary', maxLength: 8 }),
);

test('a text is as wide when the class of all emoji is built late', async () => {
  const url = (name: string) => import.meta.resolve(name);
  const source = withLazyEmoji(readFileSync(FILE, 'utf8'))
    .replace("'strip-ansi'", JSON.stringify(url('strip-ansi')))
    .replace("'get-east-asian-width'", JSON.stringify(url('get-east-asian-width')));
  const { default: width } = (await import(
    /* @vite-ignore */ `data:text/javascript,${encodeURIComponent(source)}`
  )) as { default: typeof stringWidth };
  fc.assert(
    fc.property(texts, (text) => width(text) === stringWidth(text)),
    { numRuns: times(2_000, 200_000) },
  );
  const points = Array.from({ length: 0x20000 }, (_, point) => String.fromCodePoint(point));
  const tried = isThorough ? points : points.filter((text) => /\p{Emoji}/u.test(text));
  expect(tried.filter((text) => width(text) !== stringWidth(text))).toEqual([]);
});

test('the build fails when the text of a package is not what it changes', () => {
  expect(() => withLazyEmoji('const other = 1;')).toThrow('string-width has changed');
});
