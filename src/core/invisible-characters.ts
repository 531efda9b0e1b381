// Patterns for characters that are invisible or look like others: names come from people and from the service, and may
// contain anything. Sources of regular expressions with the flag `u`.

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
