// Between hostile text and whoever reads it: names come from people and from the service, and may hold anything.
// Every text of every report passes through here; nothing reaches a terminal or a page without it.

/** Emoji sequences are joined by characters that are invisible anywhere else; there they may stay. */
const EMOJI_JOINER = String.raw`(?<=\p{Extended_Pictographic}[\u{1f3fb}-\u{1f3ff}\ufe0f]?)\u200d(?=\p{Extended_Pictographic})`;
const EMOJI_STYLE = String.raw`(?<=[\p{Extended_Pictographic}0-9#*])\ufe0f`;
const KEPT = `${EMOJI_JOINER}|${EMOJI_STYLE}`;

const HIDDEN = [
  // Controls, format characters (bidi, zero-width), lone surrogates, private use, line and paragraph separators.
  String.raw`[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}]`,
  // Every white space that looks like the usual one and is not.
  String.raw`(?! )\p{Zs}`,
  // A mark with nothing to stand on would change the text before it; piles of them paint over other lines.
  String.raw`(?<![\p{L}\p{N}\p{P}\p{S}\p{M}])\p{M}`,
  String.raw`(?<=\p{M}{8})\p{M}`,
].join('|');

const ESCAPED = new RegExp(String.raw`(${KEPT})|(\\+)(?=u|(?!${KEPT})(?:${HIDDEN}))|${HIDDEN}`, 'gu');
const EDGE_SPACE = /^ | $|(?<= ) /g;

/**
 * The text with everything that cannot be seen, or that would command a terminal, written as `\u202e` or `\u{e0001}`.
 * Backslashes that could be taken for such an escape are doubled, so two different texts never look the same.
 */
export function visible(text: string): string {
  return text.replace(ESCAPED, (match: string, kept?: string, backslashes?: string) => {
    if (kept !== undefined) return match;
    if (backslashes !== undefined) return backslashes.repeat(2);
    return escapePoint(match);
  });
}

/** A name, an id or a command: as `visible`, and spaces at its ends or in a row, which alignment would swallow, show as well. */
export function visibleName(name: string): string {
  if (name === '') return '""';
  return visible(name).replace(EDGE_SPACE, escapePoint);
}

function escapePoint(character: string): string {
  const point = character.codePointAt(0) ?? 0;
  const hex = point.toString(16);
  return point > 0xffff ? `\\u{${hex}}` : `\\u${hex.padStart(4, '0')}`;
}
