// Checks of the text before the parser runs, messages for its syntax errors, and checks of its nodes before they are used:
// the targets of aliases, duplicate keys, what YAML reads in another way than people mean it, and the size of the file with
// all aliases expanded. Most messages of the parser are not shown, because they may quote the text, which may be a token.
import { type Alias, type Node, Scalar, type YAMLError, isAlias, isCollection, isMap, isScalar } from 'yaml';

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
const UNKNOWN_ALIAS = 'YAML reads * at the start of a value as an alias; quote the value';

/** For a value without quotes that spans lines: usually two names. */
const JOINED_LINES =
  'YAML joins this line and the next one to one value; add the missing dash, comma or colon, or indent the next line less; quote a value of several lines';

const MERGE_KEY =
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
const CONFLICT =
  'the file has a git merge conflict here; resolve it and remove its <<<<<<<, |||||||, ======= and >>>>>>> lines';

/** Texts that are not parsed, each with its message. Of a pattern without `g` only the first match is reported. */
const UNREADABLE: readonly (readonly [RegExp, string])[] = [
  [/\0/u, 'the file has a NUL character here; if it is UTF-16, save it as UTF-8'],
  // The first line of each conflict; the other lines only if somebody removed the first ones.
  [/^<{7}(?: .*)?\r?$/gmu, CONFLICT],
  [/^(?:>{7}|\|{7}|={7})(?: .*)?\r?$/gmu, CONFLICT],
  // YAML ends a line at a carriage return, but the parser and most editors do not, so a part of the file could be missed.
  [/\r(?!\n)/u, 'the file has a carriage return without a line feed here; save the file with LF line ends'],
  // What looks like spaces at the start of a line or after its dash, but is part of a name or a key for YAML.
  [
    /[\u00A0\u1680\u2000-\u200B\u202F\u205F\u2060\u3000\uFEFF](?<=(?:^|\n)[ \t]*-?.)/gu,
    'this line is indented with a non-breaking space (U+00A0) or a similar character; replace it with spaces',
  ],
  // Very many consecutive brackets or dashes, for which the parser needs more than linear time.
  [/(?:[[{]\s*|[-?] +){100}/u, TOO_DEEP],
];
const MAX_ISSUES = 50;

/** The message for an error code of the parser. */
export function syntaxMessage(code: YAMLError['code'], parserMessage: string): string {
  // The parser's message for this code is a constant text that names the missing character.
  if (code === 'MISSING_CHAR')
    return `YAML: ${parserMessage.charAt(0).toLowerCase()}${parserMessage.slice(1)}; write what is missing`;
  return MESSAGES[code] ?? 'this is not valid YAML; quote the value or remove it';
}

/** The reasons not to parse a text; empty if it can be parsed. */
export function textProblems(text: string): readonly TextProblem[] {
  for (const [pattern, message] of UNREADABLE) {
    const found = pattern.global ? text.matchAll(pattern) : [pattern.exec(text)];
    const problems = [...found].flatMap((match) => (match === null ? [] : [{ at: match.index, message }]));
    if (problems.length > 0) return problems.slice(0, MAX_ISSUES);
  }
  const much = tooMuchAt(text);
  return much === undefined
    ? []
    : [{ at: much, message: 'the file has too many names or values; split it with `extends`' }];
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

export interface NodeInspection {
  /** The target of each alias: the last node before it with its anchor. */
  readonly targets: ReadonlyMap<Node, Node>;
  readonly duplicateKeys: readonly Scalar[];
  /** YAML reads these in another way than people mean them, so the file must not be used. */
  readonly mistakes: readonly { readonly node: Node; readonly message: string }[];
  /** The first node at which the expanded file exceeds a limit. */
  readonly excess?: { readonly node: Node; readonly kind: 'nested' | 'huge' | 'deep' };
}

/** The characters of all aliases together: more than the names of any account. */
const MAX_EXPANDED_SIZE = 1024 * 1024;
const MAX_DEPTH = 20;

/** Takes linear time in the size of the file (`text`), even if its aliases would expand to a huge one. */
export function inspectNodes(root: Node, text: string): NodeInspection {
  const inspector = new NodeInspector(text);
  inspector.visit(root, 1, false);
  return inspector;
}

class NodeInspector implements NodeInspection {
  readonly targets = new Map<Node, Node>();
  readonly duplicateKeys: Scalar[] = [];
  readonly mistakes: { node: Node; message: string }[] = [];
  excess?: NonNullable<NodeInspection['excess']>;
  readonly #text: string;
  readonly #anchors = new Map<string, Node>();
  #expandedSize = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** `isAnchored`: the node is part of one with an anchor, so an alias of that would refer to another alias. */
  visit(node: unknown, depth: number, isAnchored: boolean): void {
    if (isAlias(node)) return this.#visitAlias(node, isAnchored);
    if (!isScalar(node) && !isCollection(node)) return;
    if (depth > MAX_DEPTH) return this.#exceed(node, 'deep');
    if (isPlain(node) && this.#text.slice(node.range?.[0], node.range?.[1]).includes('\n'))
      this.mistakes.push({ node, message: JOINED_LINES });
    if (node.anchor !== undefined) this.#anchors.set(node.anchor, node);
    const isBelow = isAnchored || node.anchor !== undefined;
    if (isMap(node)) this.#checkKeys(node.items.map(({ key }) => key));
    const items = isMap(node) ? node.items.flatMap(({ key, value }) => [key, value]) : [];
    for (const item of isCollection(node) && !isMap(node) ? node.items : items)
      this.visit(item, depth + 1, isBelow);
  }

  #visitAlias(alias: Alias, isAnchored: boolean): void {
    const target = this.#anchors.get(alias.source);
    if (target === undefined) {
      this.mistakes.push({ node: alias, message: UNKNOWN_ALIAS });
      return;
    }
    this.targets.set(alias, target);
    this.#expandedSize += target.range ? target.range[1] - target.range[0] : 0;
    if (isAnchored) this.#exceed(alias, 'nested');
    else if (this.#expandedSize > MAX_EXPANDED_SIZE) this.#exceed(alias, 'huge');
  }

  #checkKeys(keys: readonly unknown[]): void {
    const seen = new Set<unknown>();
    for (const key of keys) {
      if (!isScalar(key)) continue;
      if (isPlain(key) && key.value === '<<') this.mistakes.push({ node: key, message: MERGE_KEY });
      if (seen.has(key.value)) this.duplicateKeys.push(key);
      seen.add(key.value);
    }
  }

  #exceed(node: Node, kind: NonNullable<NodeInspection['excess']>['kind']): void {
    this.excess ??= { node, kind };
  }
}

/** Whether the node is a scalar without quotes. */
function isPlain(node: Node): node is Scalar {
  return isScalar(node) && node.type === Scalar.PLAIN;
}
