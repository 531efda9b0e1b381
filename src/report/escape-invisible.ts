// Escapes invisible characters and terminal commands. Names come from people and from the service and may contain
// anything, so every text passes through here before it reaches a terminal or a page.
import { EMOJI_JOINT, INVISIBLE, RUNNER_COMMAND, STRAY_MARK } from '../core/names.ts';

const HIDDEN = [INVISIBLE, STRAY_MARK, RUNNER_COMMAND].join('|');

const ESCAPED = new RegExp(
  String.raw`(${EMOJI_JOINT})|(?<!\\)(\\+)(?!\\)(?=u|(?!${EMOJI_JOINT})(?:${HIDDEN}))|${HIDDEN}`,
  'gu',
);
const EDGE_SPACE = /^ | $|(?<= ) /g;

/**
 * The text with invisible characters and terminal commands written as `\u202e` or `\u{e0001}`. A backslash that could
 * be read as such an escape is doubled, so that two different texts never look the same.
 */
export function visible(text: string): string {
  return text.replace(ESCAPED, (match: string, kept?: string, backslashes?: string) => {
    if (kept !== undefined) return match;
    if (backslashes !== undefined) return backslashes.repeat(2);
    return escapePoint(match);
  });
}

/** Like `visible`, for text of several lines. */
export function visibleLines(text: string): string {
  return text.split('\n').map(visible).join('\n');
}

const INVISIBLE_IN_JSON = new RegExp(String.raw`(?!\n)(?:${INVISIBLE})|#(?=#)`, 'gu');

/** An escape in JSON; the group is a lone surrogate. */
const JSON_ESCAPE = /\\(?:ud[89ab]..\\ud[c-f]..|u(d[89a-f]..)|.)/gi;

/**
 * The value as JSON that is safe to show: invisible characters and commands to a terminal or a CI runner are written
 * as JSON escapes. A parser returns the exact value, except that texts are `wellFormed`, as strict parsers require.
 */
export function visibleJson(value: unknown, indent?: number): string {
  return inVisibleJson(JSON.stringify(value, null, indent));
}

/** Like `visibleJson`, for text that is JSON already, also of several lines. */
export function inVisibleJson(json: string): string {
  const complete = json.includes('\\ud')
    ? json.replace(JSON_ESCAPE, (escape, lone?: string) => (lone === undefined ? escape : `\ufffd${lone}`))
    : json;
  return complete.replace(INVISIBLE_IN_JSON, (character) =>
    Array.from({ length: character.length }, (_, at) => escapeUnit(character.charCodeAt(at))).join(''),
  );
}

function escapeUnit(unit: number): string {
  return `\\u${unit.toString(16).padStart(4, '0')}`;
}

/** For a name, an id or a command: like `visible`, and escapes spaces at its ends or in a row, which would not be seen. */
export function visibleName(name: string): string {
  if (name === '') return '""';
  return visible(name).replace(EDGE_SPACE, escapePoint);
}

function escapePoint(character: string): string {
  const point = character.codePointAt(0) ?? 0;
  const hex = point.toString(16);
  return point > 0xffff ? `\\u{${hex}}` : `\\u${hex.padStart(4, '0')}`;
}
