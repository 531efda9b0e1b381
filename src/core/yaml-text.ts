// Names and other texts as one line of YAML 1.2 that every reader takes for exactly that text, also when it was copied
// from a report, which escapes what is not visible and doubles a backslash before `u` (report/escape-invisible.ts).
import { RUNNER_COMMAND, STRAY_MARK, UNSEEN } from './invisible-characters.ts';

const HIDDEN = `${UNSEEN}|${STRAY_MARK}|${RUNNER_COMMAND}`;
const UNSAFE = new RegExp(HIDDEN, 'u');
/** Besides what is hidden: quotes, backslashes, and spaces in a row, which a page would show as one. */
const ESCAPED = new RegExp(String.raw`["\\]|(?<= ) |${HIDDEN}`, 'gu');
/** Letters, digits and signs that mean nothing to YAML, in words with single spaces between them. */
const PLAIN = /^[\p{L}\p{Nl}][\p{L}\p{M}\p{N}+./&()_-]*(?: [\p{L}\p{M}\p{N}+./&()_-]+)*$/u;
/** Words that some version of YAML takes for another type. */
const TYPED = /^(?:true|false|null|yes|no|on|off|y|n)$/iu;

/** The text without quotes where no reader of YAML could take it for anything else, in block and in flow style. */
export function yamlText(text: string): string {
  return PLAIN.test(text) && !TYPED.test(text) && !UNSAFE.test(text) ? text : yamlQuoted(text);
}

/** In double quotes, with whatever is not visible, breaks the line or commands a runner of CI escaped. */
export function yamlQuoted(text: string): string {
  return `"${text.replace(ESCAPED, (character, at: number) => escapePoint(character, text.charAt(at + 1)))}"`;
}

function escapePoint(character: string, next: string): string {
  if (character === '"') return String.raw`\"`;
  if (character === '\\' && next !== 'u') return String.raw`\\`;
  const hex = (character.codePointAt(0) ?? 0).toString(16).toUpperCase();
  return hex.length > 2 ? String.raw`\U${hex.padStart(8, '0')}` : String.raw`\x${hex.padStart(2, '0')}`;
}
