// Messages for YAML syntax errors, and the checks of the plain text before the parser runs. The parser's own messages may
// quote the text, which may be a token, so only those that never do are passed on.
import { type Document, type Node, type YAMLError, isCollection, isPair, isScalar } from 'yaml';

export const TOO_DEEP = 'this is nested too deeply; a configuration needs few levels: take some out';

const MESSAGES: Partial<Record<YAMLError['code'], string>> = {
  ALIAS_PROPS: 'an alias (*name) cannot have a tag or an anchor; if this is a name, quote it',
  BAD_ALIAS: 'YAML reads & and * at the start of a value as an anchor and an alias; quote the value',
  BAD_COLLECTION_TYPE: 'YAML tags (!) are not used here; if this is a name, quote it',
  BAD_DIRECTIVE: 'a line that starts with % is a YAML directive; quote the value or take the line out',
  BAD_DQ_ESCAPE:
    'this is no escape that YAML knows within double quotes; write \\\\ for a backslash, or use single quotes',
  BAD_INDENT:
    'the indentation does not fit; indent every entry of a list or mapping by the same number of spaces',
  BAD_PROP_ORDER: 'an anchor or a tag stands in a wrong place; if this is a name, quote it',
  BAD_SCALAR_START: 'a plain value cannot start with this character; quote the value',
  BLOCK_AS_IMPLICIT_KEY: 'there is a second ": " in this line; quote the value, or start a new line',
  BLOCK_IN_FLOW:
    'an indented list or mapping cannot stand within [ ] or { }; close the bracket first, or write it with commas',
  KEY_OVER_1024_CHARS: 'a key is longer than YAML allows; is a quote or a colon misplaced?',
  MULTILINE_IMPLICIT_KEY: 'a key must stand in one line; is a colon or a quote missing?',
  MULTIPLE_ANCHORS: 'a value can have one anchor (&name) only; if this is a name, quote it',
  MULTIPLE_DOCS:
    'the file holds several YAML documents (---); keep one and move the others to files of their own',
  MULTIPLE_TAGS: 'a value can have one tag (!name) only; if this is a name, quote it',
  NON_STRING_KEY: 'a key must be plain text; if this is a name, quote it',
  RESOURCE_EXHAUSTION: TOO_DEEP,
  TAB_AS_INDENT: 'a tab indents this line; use spaces',
  TAG_RESOLVE_FAILED: 'YAML tags (!name) are not used here; if this is a name, quote it',
  UNEXPECTED_TOKEN:
    'YAML cannot make sense of this; is a quote, a comma, a colon or a bracket missing or left over?',
};

/** For `*name` without a `&name` before it: mostly a name that begins with a star. */
export const UNKNOWN_ALIAS = 'YAML reads * at the start of a value as an alias; quote the value';

/** For a bracket or a quote whose other half was missed in line `noticed`. */
export function unclosedMessage({ opening, closing }: Unclosed, noticed: number): string {
  return `the ${opening} that opens here is not closed (noticed in line ${noticed}); write its ${closing}`;
}

/** One sentence for a parser's error code. */
export function syntaxMessage(code: YAMLError['code'], parserMessage: string): string {
  // These are constant texts that name the missing character.
  if (code === 'MISSING_CHAR')
    return `YAML: ${parserMessage.charAt(0).toLowerCase()}${parserMessage.slice(1)}; write what is missing`;
  return MESSAGES[code] ?? 'this is not valid YAML; quote the value or take it out';
}

export interface Unclosed {
  /** The offset of the opening character. */
  readonly at: number;
  readonly opening: string;
  readonly closing: string;
}

const CLOSING: Readonly<Record<string, string>> = { '[': ']', '{': '}', '"': '"', "'": "'" };
/** A whole quoted text. */
const QUOTED = /^(?:"(?:[^"\\]|\\[^])*"|'(?:[^']|'')*')$/u;

/** For each error that stands where an unclosed bracket or quote ends: the innermost of them. */
export function unclosedAt(
  document: Document.Parsed,
  text: string,
): (problem: YAMLError) => Unclosed | undefined {
  let byEnd: ReadonlyMap<number, Unclosed> | undefined;
  return ({ code, pos: [at] }) => {
    if (code !== 'BAD_INDENT' && code !== 'MISSING_CHAR') return undefined;
    byEnd ??= collectUnclosed(document.contents, text);
    return byEnd.get(at);
  };
}

function collectUnclosed(root: Node | null, text: string): ReadonlyMap<number, Unclosed> {
  const found = new Map<number, Unclosed>();
  const visit = (node: unknown): void => {
    if (isPair(node)) {
      visit(node.key);
      visit(node.value);
    } else if (isCollection(node)) {
      node.items.forEach(visit);
      remember(
        node,
        node.items.some((item) => endOf(item) === node.range?.[1]),
      );
    } else if (isScalar(node)) remember(node, false);
  };
  const remember = ({ range }: { range?: Node['range'] }, childEndsThere: boolean): void => {
    if (!range) return;
    const [at, end] = range;
    const opening = text.charAt(at);
    const closing = CLOSING[opening];
    if (closing === undefined || found.has(end)) return;
    const isQuote = closing === opening;
    const isClosed = isQuote
      ? QUOTED.test(text.slice(at, end))
      : text.charAt(end - 1) === closing && end - at > 1 && !childEndsThere;
    if (!isClosed) found.set(end, { at, opening, closing });
  };
  visit(root);
  return found;
}

/** Where the last node of a pair, or a node, ends. */
function endOf(item: unknown): number | undefined {
  if (isPair(item)) return endOf(item.value) ?? endOf(item.key);
  return isCollection(item) || isScalar(item) ? item.range?.[1] : undefined;
}

/** What is wrong with a text, at an offset. */
export interface TextProblem {
  readonly at: number;
  readonly message: string;
}

/**
 * What structures YAML, line ends included: the parser's time and memory go by these, not by the length of the names.
 * So many are some 50,000 names, or 14,000 renames.
 */
const MAX_MARKS = 100_000;
const MARKS = new Set(Buffer.from('\n\\[]{},:-?"\'&*!%|>#'));
/** Brackets or dashes heaped up beyond any use; the parser's time grows faster than their number. */
const NESTED = /(?:[[{]\s*|[-?] +){100}/u;
/** The lines that git writes into a file that it could not merge; at the start of a line they are nothing else. */
const CONFLICT = /^(?:<{7}|>{7}|\|{7}|={7})(?: .*)?\r?$/gmu;
const MAX_CONFLICTS = 50;
/** YAML ends a line at a carriage return, and our parser and most editors do not: half of the file would go unseen. */
const LONE_RETURN = /\r(?!\n)/u;

/** Why a text is not parsed; nothing when it may be. */
export function textProblems(text: string): readonly TextProblem[] {
  const nul = text.indexOf('\0');
  if (nul !== -1)
    return [{ at: nul, message: 'a NUL character stands here; is the file UTF-16? save it as UTF-8' }];
  const conflicts = conflictMarkers(text);
  if (conflicts.length > 0) {
    const message =
      'a git merge conflict stands here; resolve it and remove its <<<<<<<, |||||||, ======= and >>>>>>> lines';
    return conflicts.map((at) => ({ at, message }));
  }
  const lone = LONE_RETURN.exec(text)?.index;
  if (lone !== undefined) {
    return [
      {
        at: lone,
        message: 'a carriage return stands here without a line feed; save the file with LF line ends',
      },
    ];
  }
  const deep = NESTED.exec(text)?.index;
  if (deep !== undefined) return [{ at: deep, message: TOO_DEEP }];
  const much = tooMuchAt(text);
  return much === undefined
    ? []
    : [{ at: much, message: 'the file holds too much to be read; split it with `extends`' }];
}

/** Only the first line of each conflict; the others when that has been taken out. */
function conflictMarkers(text: string): number[] {
  const marks = [...text.matchAll(CONFLICT)];
  const begins = marks.filter(([mark]) => mark.startsWith('<'));
  return (begins.length > 0 ? begins : marks).slice(0, MAX_CONFLICTS).map((mark) => mark.index);
}

/** The offset at which the text holds more structure than is read. */
function tooMuchAt(text: string): number | undefined {
  let marks = 0;
  for (let at = 0; at < text.length; at += 1) {
    if (MARKS.has(text.charCodeAt(at))) marks += 1;
    if (marks > MAX_MARKS) return at;
  }
  return undefined;
}
