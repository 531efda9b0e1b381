// The second step of loading: parses text to YAML nodes with positions, or reports issues with positions. Finds the node of a
// path such as ['api', 'timeout'] on demand, because most files have no issue and large ones have ten thousand nodes.
import {
  type Document,
  LineCounter,
  type Node,
  type Pair,
  type Scalar,
  type YAMLMap,
  isAlias,
  isCollection,
  isMap,
  isScalar,
  isSeq,
  parseDocument,
} from 'yaml';
import type { ConfigIssue } from '../../core/errors.ts';
import { wellFormed } from '../../core/names.ts';
import { holdsToken, NOT_SHOWN } from '../../core/secret-looks.ts';
import { TOO_DEEP, inspectNodes, textProblems, syntaxMessage } from './syntax-checks.ts';
import type { SourceText } from './source-text.ts';
import { detached } from './source-text.ts';

/** Limit for the issues of one file; more are not helpful. */
const MAX_SYNTAX_ISSUES = 50;

const EXCESSES = {
  huge: 'aliases (*name) make this file too large; write the needed values instead',
  nested: 'a value with an anchor (&name) must not contain an alias (*name); write the value instead',
  deep: TOO_DEEP,
} as const;

const ESCAPES: Readonly<Record<string, string>> = {
  '\n': String.raw`\n`,
  '\r': String.raw`\r`,
  '\t': String.raw`\t`,
  '"': String.raw`\"`,
};

/** A position in the file: a node, or an offset of the text. */
export type Spot = Node | number;

/** A file with valid syntax whose root is a mapping. */
export interface YamlFile {
  /** Absolute. */
  readonly path: string;
  readonly text: string;
  readonly root: YAMLMap;
  /** The target of an alias, otherwise the node itself. */
  readonly resolve: (node: unknown) => Node | undefined;
  readonly issue: (spot: Spot, message: string, severity?: ConfigIssue['severity']) => ConfigIssue;
  /** Those that were found so far; each check of the file adds its own. */
  readonly issues: ConfigIssue[];
}

export type YamlRead = {
  /** Of a duplicate key only the last value is checked. */
  readonly file?: YamlFile;
  /** Those of the file, which its checks add to. */
  readonly issues: ConfigIssue[];
};

/** Parses one document. After a syntax error the nodes are not checked, because they would be guesses. */
export function parseYaml({ path, shown, text }: SourceText): YamlRead {
  const issue = issuesOf(shown, countedLines(text));
  const unreadable = textProblems(text);
  if (unreadable.length > 0) return { issues: unreadable.map(({ at, message }) => issue(at, message)) };
  const document = parseQuietly(text);
  const problems = syntaxIssues(document, text.length, issue);
  if (problems.length > 0) return { issues: problems };
  const root = document.contents;
  if (root === null || (isScalar(root) && root.value === null)) {
    return { issues: [issue(0, 'the file is empty; write its settings or remove it')] };
  }
  const explicit = document.directives?.yaml;
  if (explicit?.explicit === true && explicit.version !== '1.2') {
    return {
      issues: [
        issue(0, 'the file requires an older YAML version; rolecall reads YAML 1.2: remove the %YAML line'),
      ],
    };
  }
  if (!isMap(root)) return { issues: [issue(root, 'the file must be a mapping of keys to values')] };
  const inspection = inspectNodes(root, text);
  const mistakes = inspection.mistakes.slice(0, MAX_SYNTAX_ISSUES);
  if (mistakes.length > 0) return { issues: mistakes.map(({ node, message }) => issue(node, message)) };
  if (inspection.excess !== undefined) {
    const { node, kind } = inspection.excess;
    return { issues: [issue(node, EXCESSES[kind])] };
  }
  const issues = inspection.duplicateKeys
    .slice(0, MAX_SYNTAX_ISSUES)
    .map((key) => issue(key, `duplicate key ${quoted(String(key.value))}; remove one of them`));
  const resolve = (node: unknown): Node | undefined =>
    isAlias(node) ? inspection.targets.get(node) : asNode(node);
  return { file: { path, text, root, resolve, issue, issues }, issues };
}

/**
 * `text` in double quotes, shortened, in one line. A text that looks like a token is not shown. Invisible characters
 * stay, because they are escaped later, where a message is shown.
 */
export function quoted(text: string): string {
  return holdsToken(text) ? NOT_SHOWN : inQuotes(text);
}

/** The same for a text that is not a token. */
export function inQuotes(text: string): string {
  const short = text.length > 80 ? `${text.slice(0, 80).replace(/\p{Surrogate}$/u, '')}…` : text;
  const inLine = short.replace(/[\n\r\t"]/gu, (character) => ESCAPES[character] ?? character);
  return `"${wellFormed(inLine)}"`;
}

/** A separate function, so that its closure, which is kept, does not keep the nodes or the text of the file. */
function issuesOf(shown: string, lineCounter: LineCounter): YamlFile['issue'] {
  return (spot, message, severity = 'error') => {
    const { line, col } = lineCounter.linePos(typeof spot === 'number' ? spot : (spot.range?.[0] ?? 0));
    return {
      file: shown,
      line: Math.max(line, 1),
      column: Math.max(col, 1),
      message: detached(message),
      severity,
    };
  };
}

/** Counted separately from the parser, which misses the end of a line with some errors. */
function countedLines(text: string): LineCounter {
  const lineCounter = new LineCounter();
  for (let at = 0; at !== -1;) {
    lineCounter.addNewLine(at);
    const next = text.indexOf('\n', at);
    at = next === -1 ? -1 : next + 1;
  }
  return lineCounter;
}

/** The nodes of the text, with its errors and warnings. Never throws. */
function parseQuietly(text: string): Document.Parsed {
  // The parser creates an Error for each problem; the stack traces of a hostile file with a million take seconds.
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 0;
  try {
    // `inspectNodes` finds duplicate keys, because the parser's own check takes quadratic time.
    return parseDocument(text, {
      stringKeys: true,
      prettyErrors: false,
      uniqueKeys: false,
      resolveKnownTags: false,
    });
  } finally {
    Error.stackTraceLimit = limit;
  }
}

function syntaxIssues(document: Document.Parsed, length: number, issue: YamlFile['issue']): ConfigIssue[] {
  const seen = new Set<number>();
  const issues: ConfigIssue[] = [];
  for (const problem of [...document.errors, ...document.warnings]) {
    const noticed = issue(Math.min(problem.pos[0], length), syntaxMessage(problem.code, problem.message));
    // One mistake gives several errors in one line, and the first is the one to fix.
    if (seen.has(noticed.line)) continue;
    seen.add(noticed.line);
    issues.push(noticed);
    if (issues.length === MAX_SYNTAX_ISSUES) break;
  }
  return issues;
}

function asNode(node: unknown): Node | undefined {
  return isScalar(node) || isCollection(node) ? node : undefined;
}

export type NodePath = readonly PropertyKey[];

/** The nodes of a path: its value, its key if it is in a mapping, and the innermost existing parent. */
export interface Located {
  readonly node?: Node | undefined;
  readonly key?: Node | undefined;
  readonly parent: Node;
}

/** More values than any real file has outside of its name lists. The schemas take seconds for a hundred thousand. */
const MAX_VALUES = 25_000;

/** Searching more pairs than this for each of many issues would take quadratic time. */
const MANY_PAIRS = 50;
const indexes = new WeakMap<YAMLMap, ReadonlyMap<string, Pair>>();

/** Finds the node at `path`; aliases on the path are resolved. */
export function locate(file: YamlFile, path: NodePath): Located {
  let found: Located = { node: file.root, parent: file.root };
  for (const step of path) {
    const parent = file.resolve(found.node);
    if (parent === undefined) return { parent: found.parent };
    found = child(parent, step);
  }
  return found;
}

/** An issue at a path: at its value, otherwise at its key, otherwise at its parent. Without a message it is a place. */
export function issueAt(
  file: YamlFile,
  path: NodePath,
  message = '',
  severity?: ConfigIssue['severity'],
): ConfigIssue {
  return file.issue(spotOf(locate(file, path)), message, severity);
}

/** Reports an issue at a path. */
export function report(
  file: YamlFile,
  path: NodePath,
  message: string,
  severity?: ConfigIssue['severity'],
): void {
  file.issues.push(issueAt(file, path, message, severity));
}

/** Reports an issue at the key of a path, otherwise at its parent. */
export function reportKey(
  file: YamlFile,
  path: NodePath,
  message: string,
  severity?: ConfigIssue['severity'],
): void {
  const { key, parent } = locate(file, path);
  file.issues.push(file.issue(key ?? parent, message, severity));
}

/** The position of an issue about a path. */
export function spotOf({ node, key, parent }: Located): Node {
  const empty = node === undefined || (isScalar(node) && node.value === null && node.source === '');
  return (empty ? key : node) ?? parent;
}

/** The key of a mapping as text. */
export function keyText(key: unknown): string {
  return isScalar(key) ? String(key.value) : '';
}

/** A plain scalar that YAML does not read as text: `1.0`, `true`, `~`. */
export function isMistyped(node: Node | undefined): node is Scalar & { source: string } {
  return isScalar(node) && typeof node.value !== 'string' && node.source !== undefined && node.source !== '';
}

/**
 * The root mapping without the keys in `omit` as a plain value for the schemas; undefined, with an issue, if it has too
 * many values.
 * Its values do not keep the text of the file in memory.
 */
export function plainRoot(
  file: YamlFile,
  omit: readonly string[],
): Readonly<Record<string, unknown>> | undefined {
  let values = 0;
  let excess: Node | undefined;
  const convert = (written: unknown): unknown => {
    const node = file.resolve(written);
    values += 1;
    if (values > MAX_VALUES) excess ??= node;
    if (excess !== undefined) return null;
    if (isSeq(node)) return node.items.map(convert);
    if (isMap(node)) return mapping(node.items);
    if (!isScalar(node)) return null;
    return typeof node.value === 'string' ? detached(node.value) : node.value;
  };
  const mapping = (pairs: readonly Pair[]): Record<string, unknown> =>
    Object.fromEntries(pairs.map(({ key, value }) => [keyText(key), convert(value)]));
  const value = mapping(file.root.items.filter(({ key }) => !omit.includes(keyText(key))));
  if (excess === undefined) return value;
  const message = `the file has more than ${MAX_VALUES} values besides its lists of names; remove some`;
  file.issues.push(file.issue(excess, message));
  return undefined;
}

function child(parent: Node, step: PropertyKey): Located {
  if (isMap(parent)) {
    const pair = pairOf(parent, String(step));
    // Keys and values of a parsed mapping are nodes, which the parser's types can't express.
    const key = pair?.key as Node | undefined;
    const value = pair?.value as Node | null | undefined;
    return { parent, key, node: value ?? undefined };
  }
  const item = isSeq(parent) ? (parent.items[Number(step)] as Node | undefined) : undefined;
  return { parent, node: item };
}

/** The pair of a mapping with this key; the last one of a duplicate key. */
function pairOf(mapping: YAMLMap, text: string): Pair | undefined {
  if (mapping.items.length <= MANY_PAIRS) return mapping.items.findLast(({ key }) => keyText(key) === text);
  const index = indexes.get(mapping) ?? new Map(mapping.items.map((pair) => [keyText(pair.key), pair]));
  indexes.set(mapping, index);
  return index.get(text);
}
