// Finds where two names differ, also when a reader cannot see it, and whether two names look the same.
import { nameKey } from './names.ts';
import { INVISIBLE } from './invisible-characters.ts';

/** Letters of other scripts that look like Latin ones in most fonts: Cyrillic, then Greek. */
const LATIN_LOOKALIKES = new Map([
  ...pairs('аaеeоoрpсcуyхxіiјjѕsһhԁdԛqԝwАAВBЕEКKМMНHОOРPСCТTУYХXІIЈJЅSԌG'),
  ...pairs('οoνvαaρpΑAΒBΕEΖZΗHΙIΚKΜMΝNΟOΡPΤTΥYΧX'),
]);

function pairs(text: string): [string, string][] {
  return [...text.matchAll(/(.)(.)/gu)].map(([, from = '', to = '']) => [from, to]);
}

const SPACES_AND_CONTROLS = new Map([
  [0x00, 'null character'],
  [0x09, 'tab'],
  [0x0a, 'line feed'],
  [0x0d, 'carriage return'],
  [0x1b, 'escape'],
  [0x20, 'space'],
  [0xa0, 'no-break space'],
  [0xad, 'soft hyphen'],
  [0x2002, 'en space'],
  [0x2003, 'em space'],
  [0x2009, 'thin space'],
  [0x200b, 'zero-width space'],
  [0x200c, 'zero-width non-joiner'],
  [0x200d, 'zero-width joiner'],
  [0x200e, 'left-to-right mark'],
  [0x200f, 'right-to-left mark'],
  [0x2010, 'hyphen'],
  [0x2011, 'no-break hyphen'],
  [0x2013, 'en dash'],
  [0x2014, 'em dash'],
  [0x2018, 'left single quotation mark'],
  [0x2019, 'right single quotation mark'],
  [0x2028, 'line separator'],
  [0x202e, 'right-to-left override'],
  [0x202f, 'narrow no-break space'],
  [0x2060, 'word joiner'],
  [0x2212, 'minus sign'],
  [0x3000, 'ideographic space'],
  [0xfeff, 'byte order mark'],
]);

/** The kinds of characters that have no name above; the first that matches counts. */
const CLASSES: readonly (readonly [RegExp, string])[] = [
  [/\p{Zs}/u, 'space'],
  [/\p{Cc}/u, 'control character'],
  [/\p{Cs}/u, 'half of a surrogate pair'],
  [/\p{Co}/u, 'private-use character'],
  [/\p{Variation_Selector}/u, 'variation selector'],
  [/\p{Cf}|\p{Default_Ignorable_Code_Point}/u, 'invisible character'],
  [/\p{M}/u, 'combining mark'],
  [/[\uff01-\uff5e]/u, 'full-width form'],
  [/\p{Script=Cyrillic}/u, 'Cyrillic letter'],
  [/\p{Script=Greek}/u, 'Greek letter'],
];

const UNSEEN = new RegExp(String.raw`^(?:${INVISIBLE}|\p{M}| )$`, 'u');

/**
 * Where a name first differs from another one, such as `character 5 is U+00A0 no-break space, not U+0020 space`, and the
 * first difference that a reader cannot see. Characters are code points of the NFC forms, counted from 1. Empty for
 * equal names.
 */
export function nameDifference(name: string, other: string): string {
  const mine = Array.from(nameKey(name));
  const theirs = Array.from(nameKey(other));
  const at = mine.findIndex((character, index) => character !== theirs[index]);
  const first = at === -1 ? mine.length : at;
  const [here, there] = [mine[first], theirs[first]];
  if (here === undefined && there === undefined) return '';
  const position = `character ${first + 1}`;
  if (here === undefined) return `${position} is missing: ${described(there)}`;
  if (there === undefined) return `${position} is extra: ${described(here)}`;
  // After an inserted or a missing character the rest is equal.
  if (isSame(mine, theirs, [first + 1, first])) return `${position} is extra: ${described(here)}`;
  if (isSame(mine, theirs, [first, first + 1])) return `${position} is missing: ${described(there)}`;
  const unseen = mine.findIndex(
    (character, index) =>
      index > first &&
      mine.length === theirs.length &&
      character !== theirs[index] &&
      appearance(character) === appearance(theirs[index] ?? ''),
  );
  return [first, ...(unseen === -1 ? [] : [unseen])]
    .map((index) => `character ${index + 1} is ${described(mine[index])}, not ${described(theirs[index])}`)
    .join('; ');
}

function isSame(
  a: readonly string[],
  b: readonly string[],
  [fromA, fromB]: readonly [number, number],
): boolean {
  return a.slice(fromA).join('') === b.slice(fromB).join('');
}

function described(character = ''): string {
  if (/[!-~]/.test(character)) return `“${character}”`;
  const point = character.codePointAt(0) ?? 0;
  const label = [`U+${point.toString(16).toUpperCase().padStart(4, '0')}`, hintOf(character, point)]
    .filter((text) => text !== '')
    .join(' ');
  return UNSEEN.test(character) ? label : `“${character}” (${label})`;
}

function hintOf(character: string, point: number): string {
  return SPACES_AND_CONTROLS.get(point) ?? CLASSES.find(([pattern]) => pattern.test(character))?.[1] ?? '';
}

/** Names that contain nothing that `appearance` would change, which are most: they cost no work. */
const PLAIN = /^[!-~]+(?: [!-~]+)*$/;

/** Two names look the same if these keys are equal: invisible characters and look-alikes of other scripts do not count. */
export function appearance(name: string): string {
  if (PLAIN.test(name)) return name;
  const visible = name
    .normalize('NFKC')
    .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
    .replace(/\p{White_Space}+/gu, ' ')
    .trim();
  return Array.from(visible, (character) => LATIN_LOOKALIKES.get(character) ?? character).join('');
}
