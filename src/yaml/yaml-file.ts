// The second step of loading: text becomes YAML nodes that know their place, or positioned issues (contract, section 2).
import {
  type Document,
  LineCounter,
  type Node,
  type YAMLMap,
  isAlias,
  isCollection,
  isMap,
  isScalar,
  parseDocument,
} from 'yaml';
import type { ConfigIssue } from '../core/errors.ts';
import { holdsToken, NOT_SHOWN } from '../core/secret-looks.ts';
import { inspectNodes } from './alias-limits.ts';
import {
  TOO_DEEP,
  textProblems,
  unclosedAt,
  UNKNOWN_ALIAS,
  syntaxMessage,
  unclosedMessage,
} from './syntax-messages.ts';
import type { SourceText } from './source-text.ts';
import { detached } from './source-text.ts';

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
  /** Of a key that a mapping has several times, this one counts, or the last one before it. */
  readonly occurrence: number;
  /** The node that an alias stands for, else the node itself. */
  readonly resolve: (node: unknown) => Node | undefined;
  readonly issue: (spot: Spot, message: string, severity?: ConfigIssue['severity']) => ConfigIssue;
}

export type YamlRead = {
  readonly file?: YamlFile;
  /** The file as it would be read with each of its duplicate keys in turn; `file` alone when there are none. */
  readonly variants?: readonly YamlFile[];
  readonly issues: readonly ConfigIssue[];
};

/** More values of one key are not judged. */
const MAX_VARIANTS = 5;

/** Parses one document; a file with any syntax error is not looked at further, since its nodes would be guesses. */
export function parseYaml({ path, shown, text }: SourceText): YamlRead {
  const issue = issuesOf(shown, countedLines(text));
  const unreadable = textProblems(text);
  if (unreadable.length > 0) return { issues: unreadable.map(({ at, message }) => issue(at, message)) };
  const document = parseQuietly(text);
  const problems = syntaxIssues(document, text, issue);
  if (problems.length > 0) return { issues: problems };
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
  const survey = inspectNodes(root);
  // An alias without its anchor would be read as nothing at all.
  const loose = survey.unknownAliases.slice(0, MAX_SYNTAX_ISSUES);
  if (loose.length > 0) return { issues: loose.map((alias) => issue(alias, UNKNOWN_ALIAS)) };
  if (survey.excess !== undefined) {
    const { node, kind } = survey.excess;
    return { issues: [issue(node, EXCESSES[kind])] };
  }
  const issues = survey.duplicateKeys
    .slice(0, MAX_SYNTAX_ISSUES)
    .map((key) => issue(key, `duplicate key ${quoted(String(key.value))}; keep one of them`));
  const resolve = (node: unknown): Node | undefined =>
    isAlias(node) ? survey.targets.get(node) : asNode(node);
  const file: YamlFile = { path, text, root, occurrence: 0, resolve, issue };
  const count = Math.min(survey.duplicateKeys.length + 1, MAX_VARIANTS);
  const variants = Array.from({ length: count }, (_, occurrence) => ({ ...file, occurrence }));
  return { file, variants, issues };
}

/** On its own, so that whoever keeps it, or an issue, does not keep the nodes or the text of the file. */
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

const EXCESSES = {
  endless: 'the alias (*name) stands within what it stands for, which has no end; write it out',
  huge: 'aliases (*name) make this file huge; write out what is needed',
  deep: TOO_DEEP,
} as const;

/**
 * `text` in double quotes, shortened, in one line; a token that was pasted in its place is not repeated. What cannot be
 * seen stays as it is: whoever shows a message escapes it, once.
 */
export function quoted(text: string): string {
  return holdsToken(text) ? NOT_SHOWN : inQuotes(text);
}

/** The same for a text that is known to hold no token. */
export function inQuotes(text: string): string {
  const short = text.length > 80 ? `${text.slice(0, 80)}…` : text;
  const inLine = short.replace(/[\n\r\t"]/gu, (character) => ESCAPES[character] ?? character);
  return `"${inLine}"`;
}

const ESCAPES: Readonly<Record<string, string>> = {
  '\n': String.raw`\n`,
  '\r': String.raw`\r`,
  '\t': String.raw`\t`,
  '"': String.raw`\"`,
};

/** Counted apart from the parser, which does not see the end of a line that it stumbles over. */
function countedLines(text: string): LineCounter {
  const lineCounter = new LineCounter();
  for (let at = 0; at !== -1;) {
    lineCounter.addNewLine(at);
    const next = text.indexOf('\n', at);
    at = next === -1 ? -1 : next + 1;
  }
  return lineCounter;
}

function parseQuietly(text: string): Document.Parsed {
  // The parser makes one Error a problem; a hostile file has a million, and their stack traces take seconds.
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 0;
  try {
    // Keys are compared in `inspectNodes`: the parser's own comparison is quadratic.
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

function syntaxIssues(document: Document.Parsed, text: string, issue: YamlFile['issue']): ConfigIssue[] {
  const seen = new Set<string>();
  const issues: ConfigIssue[] = [];
  const unclosed = unclosedAt(document, text);
  for (const problem of [...document.errors, ...document.warnings]) {
    const noticed = issue(
      Math.min(problem.pos[0], text.length),
      syntaxMessage(problem.code, problem.message),
    );
    // One slip gives several errors in one line; the first is the one to mend.
    const key = `${noticed.line}`;
    if (seen.has(key)) continue;
    seen.add(key);
    const opened = unclosed(problem);
    issues.push(opened === undefined ? noticed : issue(opened.at, unclosedMessage(opened, noticed.line)));
    if (issues.length === MAX_SYNTAX_ISSUES) break;
  }
  return issues;
}

function asNode(node: unknown): Node | undefined {
  return isScalar(node) || isCollection(node) ? node : undefined;
}
