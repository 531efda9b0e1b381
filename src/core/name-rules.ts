// Checks names of skills and roles in files: which are forbidden, and which contain suspicious characters.
import { firstFew } from './amounts.ts';
import { EMOJI_JOINT, INVISIBLE, isLongerThan, STRAY_MARK } from './names.ts';
import { LONGEST_NAME } from './limits.ts';

/** Matches most names quickly; the other tests are slower, and a catalog has thousands of names. */
const SIMPLE = /^[!-~](?:[ -~]*[!-~])?$/u;
const EDGE_SPACE = /^[\s\p{White_Space}\uFEFF]|[\s\p{White_Space}\uFEFF]$/u;
const CONTROL = /[\p{Cc}\u2028\u2029]/u;
/** As written, or as `wellFormed` writes it. */
const LONE_SURROGATE = /\p{Cs}|\ufffdd[89a-f][0-9a-f]{2}/u;
// Unicode limits a text that is normalised in pieces to 30 (UAX #15); with very many in a row, normalisation takes
// minutes.
const MARK_RUN = /\p{M}{31}/u;
const ODD = new RegExp(`(${EMOJI_JOINT})|${INVISIBLE}|${STRAY_MARK}`, 'gu');
/** Flag emoji of regions consist of a black flag and invisible letters. */
const FLAG = /\u{1F3F4}[\u{E0020}-\u{E007F}]+/gu;
const WORD = /[\p{L}\p{M}]+/gu;
/** Cyrillic and Greek letters that look like Latin ones. */
const LOOKALIKE = /[аеорсухіјѕһԁԛԝАВЕЗІЈКМНОРСТУХЅԌԚԜοκνρυχΑΒΕΖΗΙΚΜΝΟΡΤΥΧ]/gu;
const MOST_SPOTS = 5;

/** Why a file may not contain the name, with the fix; undefined when it may. */
export function nameProblem(name: string): string | undefined {
  if (SIMPLE.test(name) && name.length <= LONGEST_NAME) return undefined;
  if (name === '') return 'a name is empty; write the name or remove the line';
  if (CONTROL.test(name)) return 'a name contains a control character or a line break; remove it';
  if (LONE_SURROGATE.test(name))
    return 'a name contains half of a character (a lone surrogate); write the complete character';
  if (hasTooManyMarks(name)) return 'a name has more than 30 combining marks in a row; remove them';
  if (isLongerThan(name, LONGEST_NAME)) return 'a name has more than 1,000 characters; shorten it';
  if (EDGE_SPACE.test(name)) return 'a name has leading or trailing white space; remove it';
  return undefined;
}

/**
 * Why a file may not refer to an existing entry by the name; undefined when it may. Such an entry may have any name,
 * white space at its ends and control characters included.
 */
export function referenceProblem(name: string): string | undefined {
  return isLongerThan(name, LONGEST_NAME)
    ? `a name has more than ${LONGEST_NAME} characters, which no entry has; shorten it`
    : undefined;
}

/** Whether the text has so many combining marks in a row that normalising it could take minutes. */
export function hasTooManyMarks(text: string): boolean {
  return MARK_RUN.test(text);
}

/**
 * The characters of a name that are invisible or look like others, as `U+200B at 3` (characters count from 1); undefined
 * when there are none.
 */
export function oddCharacters(name: string): string | undefined {
  if (SIMPLE.test(name)) return undefined;
  const spots = [...invisibleAt(name), ...lookalikesAt(name)].sort((a, b) => a - b);
  if (spots.length === 0) return undefined;
  const textOf = (at: number): string => `${codePoint(name, at)} at ${placeOf(name, at)}`;
  const shown = spots.map((at, index) => (index < MOST_SPOTS ? textOf(at) : ''));
  return firstFew(shown, MOST_SPOTS);
}

function invisibleAt(name: string): number[] {
  const withoutFlags = name.replace(FLAG, (flag) => 'x'.repeat(flag.length));
  return [...withoutFlags.matchAll(ODD)].flatMap(({ index, 1: joint }) =>
    joint === undefined ? [index] : [],
  );
}

/** Look-alike letters in words with Latin letters: words of one other script are normal text. */
function lookalikesAt(name: string): number[] {
  return [...name.matchAll(WORD)].flatMap(({ index, 0: word }) =>
    /\p{Script=Latin}/u.test(word) ? [...word.matchAll(LOOKALIKE)].map((letter) => index + letter.index) : [],
  );
}

function codePoint(name: string, at: number): string {
  return `U+${(name.codePointAt(at) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}

function placeOf(name: string, at: number): number {
  return Array.from(name.slice(0, at)).length + 1;
}
