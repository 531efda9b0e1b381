// Names and other texts as one line of YAML 1.2 that every reader takes for exactly that text.
import { RUNNER_COMMAND, STRAY_MARK, UNSEEN } from './unseen.ts';

const QUOTED = new RegExp(`${UNSEEN}|${STRAY_MARK}|${RUNNER_COMMAND}`, 'gu');
/** Letters, digits and signs that mean nothing to YAML, in words with single spaces between them. */
const PLAIN = /^[\p{L}\p{Nl}][\p{L}\p{M}\p{N}+./&()_-]*(?: [\p{L}\p{M}\p{N}+./&()_-]+)*$/u;
/** Words that some version of YAML takes for another type. */
const TYPED = /^(?:true|false|null|yes|no|on|off|y|n)$/iu;

/** The text without quotes where no reader of YAML could take it for anything else, in block and in flow style. */
export function yamlText(text: string): string {
  return PLAIN.test(text) && !TYPED.test(text) && text.search(QUOTED) === -1 ? text : yamlQuoted(text);
}

/** In double quotes, with whatever is not visible, breaks the line or commands a runner of CI escaped. */
export function yamlQuoted(text: string): string {
  const inner = JSON.stringify(text).slice(1, -1);
  return `"${inner.replace(QUOTED, escapePoint)}"`;
}

function escapePoint(character: string): string {
  const hex = (character.codePointAt(0) ?? 0).toString(16);
  return hex.length > 4 ? `\\U${hex.padStart(8, '0')}` : `\\u${hex.padStart(4, '0')}`;
}
