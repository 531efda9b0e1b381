// The only functions that compare desired and observed names.

/** Whether a text has more than this number of characters (code points). */
export function isLongerThan(text: string, characters: number): boolean {
  return text.length > characters && (text.length > 2 * characters || Array.from(text).length > characters);
}

/** Normalisation does not change such a text, and is slow for the many names of a large configuration. */
const PRINTABLE_ASCII = /^[ -~]*$/u;

/** Half of a surrogate pair: an escape of JSON or YAML can write it, and UTF-8 cannot. */
const LONE_SURROGATE = /\p{Surrogate}/gu;

/**
 * The text with each lone surrogate as U+FFFD and its code, as in `\ufffdd800`. Every store, file and parser keeps such a
 * text. Different texts remain different, unless one contains such a code already, which a desired name must not.
 */
export function wellFormed(text: string): string {
  return text.replace(LONE_SURROGATE, (half) => `\ufffd${half.charCodeAt(0).toString(16)}`);
}

/** Two names are the same if their keys are equal: well-formed, in Unicode NFC. */
export function nameKey(name: string): string {
  return PRINTABLE_ASCII.test(name) ? name : wellFormed(name).normalize('NFC');
}

/**
 * Two different names are near if these keys are equal: they differ only in case, white space, diacritics, compatibility
 * forms or invisible characters.
 */
export function nearKey(name: string): string {
  if (PRINTABLE_ASCII.test(name)) return name.replaceAll(' ', '').toLowerCase();
  return (
    name
      .normalize('NFKD')
      .replace(/[\p{M}\p{White_Space}\p{Default_Ignorable_Code_Point}]/gu, '')
      // ẞ becomes ß only in lower case, and ß becomes ss only in upper case.
      .toLowerCase()
      .toUpperCase()
      .toLowerCase()
      .normalize('NFKD')
  );
}

/** Order by code points, which is not JavaScript's order of UTF-16 units. */
export function compareCodePoints(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  let i = 0;
  while (i < length && a.charCodeAt(i) === b.charCodeAt(i)) i += 1;
  if (i === length) return a.length - b.length;
  const x = a.charCodeAt(i);
  const y = b.charCodeAt(i);
  // Where two strings first differ, a surrogate belongs to a code point above every code point of the basic plane.
  const surrogateX = x >= 0xd800 && x <= 0xdfff;
  const surrogateY = y >= 0xd800 && y <= 0xdfff;
  if (surrogateX !== surrogateY) return surrogateX ? 1 : -1;
  return x - y;
}

type GlobToken = { readonly literal: string } | 'one' | 'any';

/**
 * A glob that matches complete names, case-sensitively, after NFC: `*` matches any run (also `/`), `?` one code point, `\`
 * escapes. The time is bounded by the product of the lengths, which a regular expression with many stars does not ensure.
 */
export function globMatcher(glob: string): (name: string) => boolean {
  const tokens = globTokens(glob);
  return (name) => matchesTokens(tokens, Array.from(nameKey(name)));
}

function globTokens(glob: string): GlobToken[] {
  const tokens: GlobToken[] = [];
  let escaped = false;
  for (const point of nameKey(glob)) {
    if (escaped) tokens.push({ literal: point });
    else if (point === '*') tokens.push('any');
    else if (point === '?') tokens.push('one');
    else if (point !== '\\') tokens.push({ literal: point });
    escaped = !escaped && point === '\\';
  }
  if (escaped) tokens.push({ literal: '\\' });
  return tokens;
}

/** Matches with one backtracking point: after a mismatch, only the latest star takes one more code point. */
function matchesTokens(tokens: readonly GlobToken[], points: readonly string[]): boolean {
  let token = 0;
  let point = 0;
  let star = -1;
  let starPoint = 0;
  while (point < points.length) {
    const current = tokens[token];
    if (current === 'any') {
      star = token;
      starPoint = point;
      token += 1;
    } else if (current === 'one' || (current !== undefined && current.literal === points[point])) {
      token += 1;
      point += 1;
    } else if (star >= 0) {
      starPoint += 1;
      point = starPoint;
      token = star + 1;
    } else return false;
  }
  return tokens.slice(token).every((rest) => rest === 'any');
}

/**
 * Where a name first differs from another one, such as `character 5 is U+00A0, not U+0020`: a reader may not see it.
 * Characters are code points of the NFC forms, counted from 1. Empty for equal names.
 */
export function nameDifference(name: string, other: string): string {
  const mine = Array.from(nameKey(name));
  const theirs = Array.from(nameKey(other));
  const at = mine.findIndex((character, index) => character !== theirs[index]);
  const first = at === -1 ? mine.length : at;
  const [here, there] = [mine[first], theirs[first]];
  if (here === undefined)
    return there === undefined ? '' : `character ${first + 1} is missing: ${described(there)}`;
  if (there === undefined) return `character ${first + 1} is extra: ${described(here)}`;
  return `character ${first + 1} is ${described(here)}, not ${described(there)}`;
}

function described(character: string): string {
  if (/[!-~]/.test(character)) return `“${character}”`;
  const code = `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
  return /[\p{L}\p{N}\p{P}\p{S}]/u.test(character) ? `“${character}” (${code})` : code;
}

/** Characters that are invisible, or that look like a space. */
export const INVISIBLE = [
  // Controls, format characters (bidi, zero-width), lone surrogates, private use, line and paragraph separators.
  String.raw`[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}]`,
  // Every white space that looks like a usual space.
  String.raw`(?! )\p{Zs}`,
  // The blank Braille pattern, a symbol that looks like a space.
  String.raw`\u2800`,
].join('|');

/** A combining mark without a base character would change the text before it; many in a row cover other lines. */
export const STRAY_MARK = [
  String.raw`(?<![\p{L}\p{N}\p{P}\p{S}\p{M}])\p{M}`,
  String.raw`(?<=\p{M}{8})\p{M}`,
].join('|');

/** Joiners and variation selectors within emoji sequences and keycaps, which are legitimate. */
export const EMOJI_JOINT = [
  String.raw`(?<=\p{Extended_Pictographic}[\u{1f3fb}-\u{1f3ff}\ufe0f]?)\u200d(?=\p{Extended_Pictographic})`,
  String.raw`(?<=\p{Extended_Pictographic})\ufe0f`,
  String.raw`(?<=[0-9#*])\ufe0f(?=\u20e3)`,
].join('|');

/**
 * Texts in a log that CI runners execute as commands: `::error::` at the start of a line or after white space (GitHub),
 * `##[error]`, `##vso[` and `##teamcity[` anywhere.
 */
export const RUNNER_COMMAND = String.raw`(?<!\S):(?=:)|#(?=#(?:\[|vso\[|teamcity\[))`;

/** The values by their keys (Map.groupBy needs a newer Node.js than the oldest supported one), in the order in which each key first occurs. */
export function groupBy<K, V>(values: Iterable<V>, keyOf: (value: V) => K): Map<K, [V, ...V[]]> {
  const groups = new Map<K, [V, ...V[]]>();
  for (const value of values) {
    const key = keyOf(value);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [value]);
    else group.push(value);
  }
  return groups;
}
