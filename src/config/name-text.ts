// What a file may hold as the name of a skill or a role, and what looks odd in one (contract, section 2).
import { nameKey } from '../core/names.ts';

/** What most names are; the other tests are slower, and a catalog has thousands. */
const SIMPLE = /^[!-~](?:[ -~]*[!-~])?$/u;
const EDGE_SPACE = /^[\s\p{White_Space}\uFEFF]|[\s\p{White_Space}\uFEFF]$/u;
const CONTROL = /[\p{Cc}\u2028\u2029]/u;
const LONE_SURROGATE = /\p{Cs}/u;
// Thirty are what Unicode allows a text that is normalised piece by piece (UAX #15); of many more in a row the
// normalisation takes minutes.
const MARK_HEAP = /\p{M}{31}/u;
// An emoji is joined and coloured by invisible characters that are no accident there.
const EMOJI_JOINTS = /\p{Extended_Pictographic}(?:\p{Emoji_Modifier}|\uFE0F|\u200D|[\u{E0020}-\u{E007F}])*/gu;
const INVISIBLE = /[\p{Cf}\p{Default_Ignorable_Code_Point}]|(?! )[\p{Zs}]/u;

/** Why a file may not hold the name, ending in the mend; undefined when it may. */
export function nameProblem(name: string): string | undefined {
  if (SIMPLE.test(name)) return undefined;
  if (name === '') return 'a name is empty; write the name or take the line out';
  if (CONTROL.test(name)) return 'a name has a control character or a line break in it; take it out';
  if (LONE_SURROGATE.test(name))
    return 'a name has half of a character in it (a lone surrogate); write the whole character';
  if (hasMarkHeap(name)) return 'a name has more than 30 combining marks in a row; take them out';
  if (EDGE_SPACE.test(name)) return 'a name has leading or trailing white space; take it away';
  return undefined;
}

/** Whether normalising the text could take minutes. */
export function hasMarkHeap(text: string): boolean {
  return MARK_HEAP.test(text);
}

/** The first invisible or misleading character of a name, as `U+200B`; undefined when all is visible. */
export function oddCharacter(name: string): string | undefined {
  if (SIMPLE.test(name)) return undefined;
  const [found] = INVISIBLE.exec(name.replace(EMOJI_JOINTS, '')) ?? [];
  return found === undefined
    ? undefined
    : `U+${(found.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}

/** The name as it is compared and sent: NFC. */
export function normalName(name: string): string {
  return nameKey(name);
}

/**
 * A copy that stands alone. What the parser gives is a window into the file's text, which would keep all of the text in
 * memory for as long as the name; texts of less than 13 characters are never windows.
 */
export function detached(text: string): string {
  return text.length < 13 ? text : Buffer.from(text).toString();
}
