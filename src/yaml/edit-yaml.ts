// Edits a YAML file and changes only the affected lines: comments, order and style of the other lines stay.
import {
  type Document,
  type Node,
  type Pair,
  type YAMLMap,
  type YAMLSeq,
  isMap,
  isScalar,
  isSeq,
  parseDocument,
  visit,
} from 'yaml';
import { commentsIn } from './comments.ts';
import { contentEnd, dashesOf, endOf, slice, startOf, valueEnd } from './node-extents.ts';
import {
  type Splice,
  columnOf,
  insertion,
  lineBreak,
  lineBreakAt,
  lineEnd,
  lineStart,
  spliced,
} from './text-edits.ts';

/** The changes of the items of a list. */
export interface ListEdit {
  readonly remove: ReadonlySet<number>;
  /** New texts of existing items, by index. */
  readonly rewrite?: ReadonlyMap<number, Rewrite>;
  /** New items, each before the item with this index, or at the end. */
  readonly add: readonly NewItem[];
  /** The text of an item that stays, in flow style. */
  readonly written: (index: number) => string;
}

export interface Rewrite {
  readonly text: string;
  /** A pair in block style that the new text lacks; its comments are removed with it. */
  readonly without?: Pair<Node, Node | null> | undefined;
}

export interface NewItem {
  readonly before: number;
  readonly text: string;
  /** Lines of comment above it. */
  readonly comment?: readonly string[];
}

/** A flow list stays on its line up to this length. */
const LONGEST_LINE = 100;

/** A parsed file whose root is a mapping in block style without aliases. */
export interface EditableYaml {
  readonly text: string;
  readonly root: YAMLMap;
}

/**
 * Parses a file that the loader accepted. A root in braces is converted to block style first, and aliases, which an
 * edit could break, are expanded; comments stay.
 */
export function editable(text: string): EditableYaml {
  const document = parse(text);
  const root = rootOf(document);
  if (!hasAlias(document) && root.flow !== true) return { text, root };
  const expanded = withoutAliases(document, root);
  return { text: expanded, root: rootOf(parse(expanded)) };
}

/** The pair at a path of keys from the root. */
export function pairAt({ root }: EditableYaml, keys: readonly string[]): Pair<Node, Node | null> | undefined {
  let map: unknown = root;
  let pair: Pair<Node, Node | null> | undefined;
  for (const key of keys) {
    if (!isMap(map)) return undefined;
    pair = map.items.find((item) => isScalar(item.key) && item.key.value === key) as typeof pair;
    map = pair?.value;
  }
  return pair;
}

/** The items of a list; empty if the list does not exist. */
export function itemsAt(yaml: EditableYaml, ...keys: readonly string[]): readonly Node[] {
  const list = pairAt(yaml, keys)?.value;
  return isSeq(list) ? (list.items as Node[]) : [];
}

/** The texts of a list of strings. */
export function textsAt(yaml: EditableYaml, ...keys: readonly string[]): readonly string[] {
  return itemsAt(yaml, ...keys).map((item) => textOf(item));
}

/** The text of a scalar, or of the value of a key; the loader has checked that it is text. */
export function textOf(node: unknown, key?: string): string {
  if (key !== undefined) return isMap(node) ? textOf(node.get(key, true)) : '';
  return isScalar(node) ? String(node.value) : '';
}

/** Changes an existing list. */
export function editList(file: EditableYaml, keys: readonly string[], edit: ListEdit): string {
  const pair = pairAt(file, keys);
  if (pair === undefined || !isSeq(pair.value)) throw new Error(`no list at ${keys.join('.')}`);
  const list = pair.value;
  return list.flow === true || list.items.length === 0
    ? editFlowList(file, pair.key, list, edit)
    : editBlockList(file, pair.key, list, edit);
}

/** Adds lines below a key of the root, or at its end if the key is missing or not given. */
export function addLines(file: EditableYaml, lines: readonly string[], after?: string): string {
  const pair = after === undefined ? undefined : pairAt(file, [after]);
  const last = pair ?? (file.root.items.at(-1) as Pair<Node, Node | null> | undefined);
  if (last === undefined) throw new Error('the file has no keys');
  const indent = ' '.repeat(columnOf(file.text, startOf(file.root.items[0] as Pair<Node, Node | null>)));
  return spliced(file.text, [
    insertion(
      file.text,
      endOf(last),
      lines.map((line) => indent + line),
    ),
  ]);
}

/** Adds lines at the end of a mapping in block style below the root. */
export function addToMap(file: EditableYaml, key: string, lines: readonly string[]): string {
  const pair = pairAt(file, [key]);
  if (pair === undefined || !isMap(pair.value)) throw new Error(`no mapping at ${key}`);
  const [first] = pair.value.items as Pair<Node, Node | null>[];
  if (first === undefined) throw new Error(`an empty mapping at ${key}`);
  const indent = ' '.repeat(columnOf(file.text, startOf(first)));
  return spliced(file.text, [
    insertion(
      file.text,
      endOf(pair),
      lines.map((line) => indent + line),
    ),
  ]);
}

/** Writes the mapping of a key in block style; an empty one is removed with its key. */
export function unfoldMap(file: EditableYaml, key: string): string {
  const pair = pairAt(file, [key]);
  if (pair === undefined || !isMap(pair.value) || pair.value.flow !== true) return file.text;
  const { text } = file;
  const column = columnOf(text, startOf(pair));
  const lines = (pair.value.items as Pair<Node, Node | null>[]).map(
    ({ key: name, value }) =>
      `${' '.repeat(column + 2)}${slice(text, name)}: ${value === null ? '' : slice(text, value)}`,
  );
  const end = endOf(pair);
  const comment = text.slice(valueEnd(pair.value), lineEnd(text, end)).trim();
  const head = `${slice(text, pair.key)}:${comment === '' ? '' : ` ${comment}`}`;
  const shown =
    lines.length === 0 ? (comment === '' ? [] : [`${' '.repeat(column)}${comment}`]) : [head, ...lines];
  const start = lines.length === 0 ? lineStart(text, startOf(pair)) : startOf(pair);
  const ending = shown.length === 0 ? '' : lineBreak(text);
  return spliced(text, [{ start, end: lineEnd(text, end), text: shown.join(lineBreak(text)) + ending }]);
}

/** The file in block style and without aliases, as the yaml package writes it. */
function withoutAliases(document: Document, root: YAMLMap): string {
  visit(document, {
    Alias: (_, alias) => {
      const target = alias.resolve(document);
      return target === undefined ? undefined : (target.clone() as Node);
    },
  });
  visit(document, { Node: (_, node) => void delete (node as { anchor?: string }).anchor });
  root.flow = false;
  return document.toString({ lineWidth: 0 });
}

function editBlockList(file: EditableYaml, key: Node, list: YAMLSeq, edit: ListEdit): string {
  const { text } = file;
  const items = list.items as Node[];
  const dashes = dashesOf(list);
  const indent = ' '.repeat(columnOf(text, dashes[0] ?? 0));
  const splices: Splice[] = [];
  for (const [index, item] of items.entries()) {
    const start = lineStart(text, dashes[index] ?? 0);
    const end = lineEnd(text, contentEnd(item));
    const rewritten = edit.rewrite?.get(index);
    if (edit.remove.has(index)) splices.push({ start, end, text: '' });
    else if (rewritten !== undefined) {
      const from = (dashes[index] ?? 0) + 1;
      const last = contentEnd(item) + 1;
      const gone = rewritten.without;
      const cut = gone === undefined ? last : lineBreakAt(text, endOf(gone));
      const until = Math.max(last, cut);
      const kept = text.slice(from, gone === undefined ? last : startOf(gone)) + text.slice(cut, until);
      const comments = commentsIn(kept).map((each) => indent + each + lineBreak(text));
      splices.push({ start, end: start, text: comments.join('') });
      splices.push({ start: from, end: until, text: ` ${rewritten.text}` });
    }
  }
  const linesOf = ({ text: added, comment = [] }: NewItem): string[] => [
    ...comment.map((line) => `${indent}# ${line}`),
    `${indent}- ${added}`,
  ];
  for (const item of edit.add) {
    const next = dashes[item.before];
    if (next === undefined) continue;
    const at = lineStart(text, next);
    splices.push({
      start: at,
      end: at,
      text: linesOf(item)
        .map((line) => line + lineBreak(text))
        .join(''),
    });
  }
  const last = items.at(-1);
  const tail = edit.add.filter(({ before }) => dashes[before] === undefined).flatMap(linesOf);
  if (last !== undefined && tail.length > 0) splices.push(insertion(text, contentEnd(last), tail));
  if (edit.add.length === 0 && edit.remove.size === items.length) {
    const colon = text.indexOf(':', key.range?.[1] ?? 0) + 1;
    splices.push({ start: colon, end: colon, text: ' []' });
  }
  return spliced(text, splices);
}

function editFlowList(file: EditableYaml, key: Node, list: YAMLSeq, edit: ListEdit): string {
  const { text } = file;
  const kept = list.items.map((_, index) => ({
    before: index,
    text: edit.rewrite?.get(index)?.text ?? edit.written(index),
  }));
  const staying: readonly NewItem[] = kept.filter(({ before }) => !edit.remove.has(before));
  // Sorting is stable: what is added before an item comes first.
  const items = [...edit.add, ...staying].sort((a, b) => a.before - b.before);
  const start = list.range?.[0] ?? 0;
  const end = list.range?.[1] ?? 0;
  const line = `[${items.map((item) => item.text).join(', ')}]`;
  const isLine =
    !text.slice(start, end).includes('\n') && columnOf(text, start) + line.length <= LONGEST_LINE;
  const isBare = items.every(({ comment = [] }) => comment.length === 0);
  if (items.length === 0 || (list.items.length > 0 && isLine && isBare)) {
    return spliced(text, [{ start, end, text: line }]);
  }
  const indent = ' '.repeat(columnOf(text, key.range?.[0] ?? 0) + 2);
  const rest = text.slice(end, lineEnd(text, end)).trim();
  const lines = [
    ...commentsIn(text.slice(start, end)).map((comment) => indent + comment),
    ...items.flatMap(({ text: item, comment = [] }) => [
      ...comment.map((commentLine) => `${indent}# ${commentLine}`),
      `${indent}- ${item}`,
    ]),
  ];
  const colon = text.indexOf(':', key.range?.[1] ?? 0) + 1;
  const block = [rest === '' ? '' : ` ${rest}`, ...lines].join(lineBreak(text)) + lineBreak(text);
  return spliced(text, [{ start: colon, end: lineEnd(text, end), text: block }]);
}

function parse(text: string): Document {
  return parseDocument(text, {
    stringKeys: true,
    prettyErrors: false,
    uniqueKeys: false,
    resolveKnownTags: false,
    keepSourceTokens: true,
  });
}

function rootOf(document: Document): YAMLMap {
  if (!isMap(document.contents)) throw new Error('the root of the file is not a mapping');
  return document.contents;
}

function hasAlias(document: Document): boolean {
  let found = false;
  visit(document, {
    Alias() {
      found = true;
      return visit.BREAK;
    },
  });
  return found;
}
