// The second step of loading: text becomes YAML nodes that know their place, or positioned issues (contract, section 2).
import {
  type Alias,
  type Document,
  LineCounter,
  type Node,
  type Pair,
  type Scalar,
  type YAMLError,
  type YAMLMap,
  isAlias,
  isCollection,
  isMap,
  isScalar,
  isSeq,
  parseDocument,
} from 'yaml';
import type { ConfigIssue } from '../core/errors.ts';
import { conflictMarkers, tooDeepAt, tooMuchAt } from './raw-text-checks.ts';
import type { SourceText } from './source-text.ts';
import { LOOSE_ALIAS, syntaxMessage } from './yaml-syntax-messages.ts';

/** More issues of one file than this help nobody. */
const MAX_SYNTAX_ISSUES = 50;

/** Anything that has a place in the file: a node, or an offset into the text. */
export type Spot = Node | number;

/** A file that is syntactically sound and whose root is a mapping. */
export interface YamlFile {
  /** Absolute. */
  readonly path: string;
  readonly text: string;
  readonly root: YAMLMap;
  /** The node that an alias stands for, else the node itself. */
  readonly resolve: (node: unknown) => Node | undefined;
  readonly issue: (spot: Spot, message: string, severity?: ConfigIssue['severity']) => ConfigIssue;
}

export type YamlRead = { readonly file?: YamlFile; readonly issues: readonly ConfigIssue[] };

/** Parses one document; a file with any syntax error is not looked at further, since its nodes would be guesses. */
export function parseYaml({ path, shown, text }: SourceText): YamlRead {
  const lineCounter = new LineCounter();
  const issue: YamlFile['issue'] = (spot, message, severity = 'error') => {
    const { line, col } = lineCounter.linePos(typeof spot === 'number' ? spot : (spot.range?.[0] ?? 0));
    return { file: shown, line: Math.max(line, 1), column: Math.max(col, 1), message, severity };
  };
  const unreadable = unreadableAt(text);
  if (unreadable.length > 0) {
    countLines(text, lineCounter);
    return { issues: unreadable.map(({ at, message }) => issue(at, message)) };
  }
  const document = parseQuietly(text, lineCounter);
  const problems = [...document.errors, ...document.warnings];
  if (problems.length > 0) return { issues: syntaxIssues(problems, text, issue) };
  const root = document.contents;
  if (root === null || (isScalar(root) && root.value === null)) {
    return { issues: [issue(0, 'the file is empty; write its settings or remove it')] };
  }
  const explicit = document.directives?.yaml;
  if (explicit?.explicit === true && explicit.version !== '1.2') {
    return {
      issues: [issue(0, 'the file asks for an older YAML; rolecall reads YAML 1.2: take the %YAML line out')],
    };
  }
  if (!isMap(root)) return { issues: [issue(root, 'the file must be a mapping of keys to values')] };
  const survey = surveyNodes(root);
  const resolve = (node: unknown): Node | undefined =>
    isAlias(node) ? survey.targets.get(node) : asNode(node);
  // An alias without its anchor would be read as nothing at all.
  const loose = survey.looseAliases.slice(0, MAX_SYNTAX_ISSUES);
  if (loose.length > 0) return { issues: loose.map((alias) => issue(alias, LOOSE_ALIAS)) };
  const issues = survey.duplicateKeys
    .slice(0, MAX_SYNTAX_ISSUES)
    .map((key) => issue(key, `duplicate key ${quoted(String(key.value))}; keep one of them`));
  return { file: { path, text, root, resolve, issue }, issues };
}

/** `text` in double quotes, shortened, with what would not show or would break the line escaped. */
export function quoted(text: string): string {
  const short = text.length > 80 ? `${text.slice(0, 80)}…` : text;
  return JSON.stringify(short).replace(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    (c) => `\\u{${(c.codePointAt(0) ?? 0).toString(16)}}`,
  );
}

function unreadableAt(text: string): { at: number; message: string }[] {
  const much = tooMuchAt(text);
  if (much !== undefined)
    return [{ at: much, message: 'the file holds too much to be read; split it with `extends`' }];
  const deep = tooDeepAt(text);
  if (deep !== undefined)
    return [{ at: deep, message: 'this is nested too deeply; a configuration needs few levels' }];
  return conflictMarkers(text).map((at) => ({
    at,
    message: 'a git merge conflict stands here; resolve it and remove its <<<<<<<, ======= and >>>>>>> lines',
  }));
}

function countLines(text: string, lineCounter: LineCounter): void {
  for (let at = 0; at !== -1;) {
    lineCounter.addNewLine(at);
    const next = text.indexOf('\n', at);
    at = next === -1 ? -1 : next + 1;
  }
}

function parseQuietly(text: string, lineCounter: LineCounter): Document.Parsed {
  // The parser makes one Error a problem; a hostile file has a million, and their stack traces take seconds.
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 0;
  try {
    // Keys are compared in `surveyNodes`: the parser's own comparison is quadratic.
    return parseDocument(text, { lineCounter, stringKeys: true, prettyErrors: false, uniqueKeys: false });
  } finally {
    Error.stackTraceLimit = limit;
  }
}

function syntaxIssues(problems: readonly YAMLError[], text: string, issue: YamlFile['issue']): ConfigIssue[] {
  const seen = new Set<string>();
  const issues: ConfigIssue[] = [];
  for (const problem of problems) {
    const found = issue(Math.min(problem.pos[0], text.length), syntaxMessage(problem.code, problem.message));
    // One slip gives several errors in one line; the first is the one to mend.
    const key = `${found.line}`;
    if (seen.has(key)) continue;
    seen.add(key);
    issues.push(found);
    if (issues.length === MAX_SYNTAX_ISSUES) break;
  }
  return issues;
}

interface Survey {
  readonly targets: Map<Node, Node>;
  readonly duplicateKeys: Scalar[];
  readonly looseAliases: Alias[];
}

/** One walk in the file's order: an alias stands for the last anchor of its name before it. */
function surveyNodes(root: YAMLMap): Survey {
  const survey: Survey = { targets: new Map(), duplicateKeys: [], looseAliases: [] };
  const anchors = new Map<string, Node>();
  const visit = (node: unknown): void => {
    if (isAlias(node)) {
      const target = anchors.get(node.source);
      if (target === undefined) survey.looseAliases.push(node);
      else survey.targets.set(node, target);
      return;
    }
    if ((isScalar(node) || isCollection(node)) && node.anchor !== undefined) anchors.set(node.anchor, node);
    if (isSeq(node)) node.items.forEach(visit);
    if (isMap(node)) visitPairs(node.items);
  };
  const visitPairs = (pairs: readonly Pair[]): void => {
    const keys = new Set<unknown>();
    for (const { key, value } of pairs) {
      visit(key);
      if (isScalar(key)) {
        if (keys.has(key.value)) survey.duplicateKeys.push(key);
        keys.add(key.value);
      }
      visit(value);
    }
  };
  visit(root);
  return survey;
}

function asNode(node: unknown): Node | undefined {
  return isScalar(node) || isCollection(node) ? node : undefined;
}
