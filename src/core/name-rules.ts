// What a file may hold as the name of a skill or a role, and what looks odd in one (contract, section 2).
import { isLongerThan, LONGEST_NAME } from './names.ts';
import { EMOJI_JOINT, STRAY_MARK, UNSEEN } from './invisible-characters.ts';

/** What most names are; the other tests are slower, and a catalog has thousands. */
const SIMPLE = /^[!-~](?:[ -~]*[!-~])?$/u;
const EDGE_SPACE = /^[\s\p{White_Space}\uFEFF]|[\s\p{White_Space}\uFEFF]$/u;
const CONTROL = /[\p{Cc}\u2028\u2029]/u;
const LONE_SURROGATE = /\p{Cs}/u;
// Thirty are what Unicode allows a text that is normalised piece by piece (UAX #15); of many more in a row the
// normalisation takes minutes.
const MARK_HEAP = /\p{M}{31}/u;
const ODD = new RegExp(`(${EMOJI_JOINT})|${UNSEEN}|${STRAY_MARK}`, 'gu');
/** A flag may be made of a black flag and invisible letters. */
const FLAG = /\u{1F3F4}[\u{E0020}-\u{E007F}]+/gu;
const WORD = /[\p{L}\p{M}]+/gu;
/** Cyrillic and Greek letters that look like Latin ones. */
const LOOKALIKE = /[аеорсухіјѕһԁԛԝАВЕЗІЈКМНОРСТУХЅԌԚԜοκνρυχΑΒΕΖΗΙΚΜΝΟΡΤΥΧ]/gu;
const MOST_SPOTS = 5;

/** Why a file may not hold the name, ending in the mend; undefined when it may. */
export function nameProblem(name: string): string | undefined {
  if (SIMPLE.test(name) && name.length <= LONGEST_NAME) return undefined;
  if (name === '') return 'a name is empty; write the name or take the line out';
  if (CONTROL.test(name)) return 'a name has a control character or a line break in it; take it out';
  if (LONE_SURROGATE.test(name))
    return 'a name has half of a character in it (a lone surrogate); write the whole character';
  if (hasMarkHeap(name)) return 'a name has more than 30 combining marks in a row; take them out';
  if (isLongerThan(name, LONGEST_NAME)) return 'a name has more than 1,000 characters; shorten it';
  if (EDGE_SPACE.test(name)) return 'a name has leading or trailing white space; take it away';
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

/** Whether normalising the text could take minutes. */
export function hasMarkHeap(text: string): boolean {
  return MARK_HEAP.test(text);
}

/**
 * The characters of a name that do not show or that are taken for others, as `U+200B at 3` (characters count from 1);
 * undefined when there are none.
 */
export function oddCharacters(name: string): string | undefined {
  if (SIMPLE.test(name)) return undefined;
  const spots = [...unseenAt(name), ...lookalikesAt(name)].sort((a, b) => a - b);
  if (spots.length === 0) return undefined;
  const shown = spots.slice(0, MOST_SPOTS).map((at) => `${codePoint(name, at)} at ${placeOf(name, at)}`);
  const rest = spots.length - shown.length;
  return shown.join(', ') + (rest > 0 ? ` and ${rest} more` : '');
}

function unseenAt(name: string): number[] {
  const withoutFlags = name.replace(FLAG, (flag) => 'x'.repeat(flag.length));
  return [...withoutFlags.matchAll(ODD)].flatMap(({ index, 1: joint }) =>
    joint === undefined ? [index] : [],
  );
}

/** In words that are Latin otherwise: a word of one script is somebody's language. */
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
