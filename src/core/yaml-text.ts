// Quotes texts for what people copy: as a word of a shell command, and as one line of YAML 1.2 that every parser reads back
// exactly, also when it was copied from a report, which escapes invisible characters and doubles a backslash before `u`
// (report/escape-invisible.ts).
import { INVISIBLE, RUNNER_COMMAND, STRAY_MARK } from './names.ts';

const HIDDEN = `${INVISIBLE}|${STRAY_MARK}|${RUNNER_COMMAND}`;
const UNSAFE = new RegExp(HIDDEN, 'u');
/** Hidden characters, quotes, backslashes, and repeated spaces, which a page would show as one. */
const ESCAPED = new RegExp(String.raw`["\\]|(?<= ) |${HIDDEN}`, 'gu');
/** Words of letters, digits and signs without a meaning in YAML, separated by single spaces. */
const PLAIN = /^[\p{L}\p{Nl}][\p{L}\p{M}\p{N}+./&()_-]*(?: [\p{L}\p{M}\p{N}+./&()_-]+)*$/u;
/** Words that some version of YAML reads as another type. */
const TYPED = /^(?:true|false|null|yes|no|on|off|y|n)$/iu;

/** The text as one word of a shell command. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** The text, without quotes where every YAML parser reads it as this text, in block and in flow style. */
export function yamlText(text: string): string {
  return PLAIN.test(text) && !TYPED.test(text) && !UNSAFE.test(text) ? text : yamlQuoted(text);
}

/** The text in double quotes, with invisible characters, line breaks and commands for CI runners escaped. */
export function yamlQuoted(text: string): string {
  return `"${text.replace(ESCAPED, (character, at: number) => escapePoint(character, text.charAt(at + 1)))}"`;
}

function escapePoint(character: string, next: string): string {
  if (character === '"') return String.raw`\"`;
  if (character === '\\' && next !== 'u') return String.raw`\\`;
  const hex = (character.codePointAt(0) ?? 0).toString(16).toUpperCase();
  return hex.length > 2 ? String.raw`\U${hex.padStart(8, '0')}` : String.raw`\x${hex.padStart(2, '0')}`;
}
