// Which characters of a text are not seen, or are taken for others: names come from people and from the service, and
// may hold anything. Sources of regular expressions with the flag `u`.

/** What is never seen as what it is. */
export const UNSEEN = [
  // Controls, format characters (bidi, zero-width), lone surrogates, private use, line and paragraph separators.
  String.raw`[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}]`,
  // Every white space that looks like the usual one and is not.
  String.raw`(?! )\p{Zs}`,
  // The blank pattern of Braille, which is a symbol and looks like a space.
  String.raw`\u2800`,
].join('|');

/** A mark with nothing to stand on would change the text before it; piles of them paint over other lines. */
export const STRAY_MARK = [
  String.raw`(?<![\p{L}\p{N}\p{P}\p{S}\p{M}])\p{M}`,
  String.raw`(?<=\p{M}{8})\p{M}`,
].join('|');

/** Within emoji sequences and keycaps the joining and colouring characters are no accident, and may stay. */
export const EMOJI_JOINT = [
  String.raw`(?<=\p{Extended_Pictographic}[\u{1f3fb}-\u{1f3ff}\ufe0f]?)\u200d(?=\p{Extended_Pictographic})`,
  String.raw`(?<=\p{Extended_Pictographic})\ufe0f`,
  String.raw`(?<=[0-9#*])\ufe0f(?=\u20e3)`,
].join('|');

/**
 * What the runners of CI take for a command to them when it stands in a log: `::error::` after nothing but white space
 * (GitHub), `##[error]`, `##vso[` and `##teamcity[` anywhere.
 */
export const RUNNER_COMMAND = String.raw`(?<!\S):(?=:)|#(?=#(?:\[|vso\[|teamcity\[))`;
