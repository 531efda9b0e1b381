// Messages for YAML syntax errors, and checks of the text before the parser runs. Most messages of the parser are not
// shown, because they may quote the text, which may be a token.
import type { YAMLError } from 'yaml';

export const TOO_DEEP = 'this is nested too deeply; a configuration needs few levels: remove some';

const MESSAGES: Partial<Record<YAMLError['code'], string>> = {
  BAD_ALIAS: 'YAML reads & and * at the start of a value as an anchor and an alias; quote the value',
  BAD_DQ_ESCAPE:
    'this is not a valid escape in double quotes; write \\\\ for a backslash, or use single quotes',
  BAD_INDENT:
    'the indentation does not fit; indent every entry of a list or mapping by the same number of spaces, and close each bracket above',
  BAD_SCALAR_START: 'a plain value cannot start with this character; quote the value',
  BLOCK_AS_IMPLICIT_KEY: 'this line has a second ": "; quote the value, or start a new line',
  MULTILINE_IMPLICIT_KEY: 'a key must be in one line; is a colon or a quote missing?',
  MULTIPLE_DOCS: 'the file has several YAML documents (---); keep one and move the others to separate files',
  NON_STRING_KEY: 'a key must be plain text; if this is a name, quote it',
  RESOURCE_EXHAUSTION: TOO_DEEP,
  TAB_AS_INDENT: 'a tab indents this line; use spaces',
  TAG_RESOLVE_FAILED: 'YAML tags (!name) are not used here; if this is a name, quote it',
  UNEXPECTED_TOKEN: 'this is not valid YAML; is a quote, a comma, a colon or a bracket missing or misplaced?',
};

/** For `*name` without a `&name` before it: usually a name that starts with a star. */
export const UNKNOWN_ALIAS = 'YAML reads * at the start of a value as an alias; quote the value';

/** For a value without quotes that spans lines: usually two names. */
export const JOINED_LINES =
  'YAML joins this line and the next one to one value; add the missing dash, comma or colon, or indent the next line less; quote a value of several lines';

export const MERGE_KEY =
  'merge keys (<<) are not supported; write the keys here, or share settings with `defaults` and lists with `extends`';

/** A problem of the text, with its offset. */
export interface TextProblem {
  readonly at: number;
  readonly message: string;
}

/**
 * Limit for the characters that structure YAML, line ends included: the parser's time and memory depend on these, not
 * on the length of names. Enough for 30,000 names in lines of their own; the parser then takes a quarter of a second,
 * in which the daemon answers nobody.
 */
const MAX_MARKS = 60_000;
const MARKS = /[\n\\[\]{},:\-?"'&*!%|>#]/gu;
/** Very many consecutive brackets or dashes, for which the parser needs more than linear time. */
const NESTED = /(?:[[{]\s*|[-?] +){100}/u;
/** The markers that git writes into a file with a merge conflict. */
const CONFLICT = /^(?:<{7}|>{7}|\|{7}|={7})(?: .*)?\r?$/gmu;
const MAX_CONFLICTS = 50;
/**
 * YAML ends a line at a carriage return, but the parser and most editors do not, so a part of the file could be missed.
 */
const LONE_RETURN = /\r(?!\n)/u;

/** The message for an error code of the parser. */
export function syntaxMessage(code: YAMLError['code'], parserMessage: string): string {
  // The parser's message for this code is a constant text that names the missing character.
  if (code === 'MISSING_CHAR')
    return `YAML: ${parserMessage.charAt(0).toLowerCase()}${parserMessage.slice(1)}; write what is missing`;
  return MESSAGES[code] ?? 'this is not valid YAML; quote the value or remove it';
}

/** The reasons not to parse a text; empty if it can be parsed. */
export function textProblems(text: string): readonly TextProblem[] {
  const nul = text.indexOf('\0');
  if (nul !== -1)
    return [{ at: nul, message: 'the file has a NUL character here; if it is UTF-16, save it as UTF-8' }];
  const conflicts = conflictMarkers(text);
  if (conflicts.length > 0) {
    const message =
      'the file has a git merge conflict here; resolve it and remove its <<<<<<<, |||||||, ======= and >>>>>>> lines';
    return conflicts.map((at) => ({ at, message }));
  }
  const lone = LONE_RETURN.exec(text)?.index;
  if (lone !== undefined) {
    return [
      {
        at: lone,
        message: 'the file has a carriage return without a line feed here; save the file with LF line ends',
      },
    ];
  }
  const deep = NESTED.exec(text)?.index;
  if (deep !== undefined) return [{ at: deep, message: TOO_DEEP }];
  const much = tooMuchAt(text);
  return much === undefined
    ? []
    : [{ at: much, message: 'the file has too many names or values; split it with `extends`' }];
}

/** The first line of each conflict; the other markers only if these lines were removed. */
function conflictMarkers(text: string): number[] {
  const marks = [...text.matchAll(CONFLICT)];
  const begins = marks.filter(([mark]) => mark.startsWith('<'));
  return (begins.length > 0 ? begins : marks).slice(0, MAX_CONFLICTS).map((mark) => mark.index);
}

/** The offset at which the text has more than MAX_MARKS. */
function tooMuchAt(text: string): number | undefined {
  // Faster than a loop, for the usual file.
  if (text.length - text.replace(MARKS, '').length <= MAX_MARKS) return undefined;
  let marks = 0;
  for (const { index } of text.matchAll(MARKS)) {
    marks += 1;
    if (marks > MAX_MARKS) return index;
  }
  return undefined;
}
