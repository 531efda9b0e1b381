// A YAML file that is changed and written again by the yaml package: comments stay, spacing may change.
import {
  type Document,
  type Node,
  type Pair,
  type ScalarTag,
  type YAMLMap,
  Scalar,
  YAMLSeq,
  isMap,
  isScalar,
  isSeq,
  parseDocument,
  visit,
} from 'yaml';
import { UsageError } from '../../core/errors.ts';
import { yamlQuoted, yamlText } from '../../core/yaml-text.ts';

/** The format of scalars that are written as reports write names, with invisible characters escaped. */
const ESCAPED = 'ESCAPED';

const escapedTag: ScalarTag = {
  tag: 'tag:yaml.org,2002:str',
  default: true,
  format: ESCAPED,
  identify: (value) => typeof value === 'string',
  resolve: (value) => value,
  stringify: ({ value, type }) =>
    type === Scalar.QUOTE_DOUBLE ? yamlQuoted(String(value)) : yamlText(String(value)),
};

/** A list in brackets becomes a list of lines if it is longer. */
const LONGEST_FLOW = 100;

export interface EditableDocument {
  /** In block style, without aliases, which an edit could break. */
  readonly root: YAMLMap<Node, Node | null>;
  /** The text with the changes; the text that was read if there are none. */
  print(): string;
}

/** Parses a file that the loader accepted. */
export function editable(text: string): EditableDocument {
  const isWindows = text.includes('\r\n');
  const document = parseDocument(text.replaceAll('\r\n', '\n'), {
    stringKeys: true,
    prettyErrors: false,
    uniqueKeys: false,
    resolveKnownTags: false,
    customTags: [escapedTag],
  });
  const root = document.contents;
  if (!isMap<Node, Node | null>(root)) throw new Error('the root of the file is not a mapping');
  expandAliases(document);
  root.flow = false;
  const before = document.toString({ lineWidth: 0 });
  return {
    root,
    print() {
      const after = document.toString({ lineWidth: 0 });
      if (after === before) return text;
      return isWindows ? after.replaceAll('\n', '\r\n') : after;
    },
  };
}

/** The text of a service file with one more region; nothing else changes. Throws UsageError if it has that region. */
export function withRegion(text: string, region: string, baseUrl: string): string {
  const document = parseDocument(text);
  const regions = document.get('regions', true);
  const pair = `${yamlText(region)}: ${yamlText(baseUrl)}`;
  const isBlock = isMap(document.contents) && document.contents.flow !== true;
  if (!isMap(regions) && (document.has('regions') || !isBlock))
    throw new UsageError(`write \`regions: { ${pair} }\` into the service file, and leave out --base-url`);
  if (!isMap(regions)) return `${text.trimEnd()}\n\nregions:\n  ${pair}\n`;
  if (regions.has(region))
    throw new UsageError(`the service file has the region ${region} already; leave out --base-url`);
  const [start, end] = regions.range ?? [0, 0];
  if (regions.flow === true) return `${text.slice(0, start + 1)} ${pair},${text.slice(start + 1)}`;
  const indent = text.slice(text.lastIndexOf('\n', start) + 1, start);
  const at = `${text}\n`.indexOf('\n', end - 1);
  return `${text.slice(0, at)}\n${indent}${pair}${text.slice(at)}`;
}

/** A text without quotes where every parser reads it as this text. */
export function textNode(text: string): Scalar<string> {
  const node = new Scalar(text);
  node.format = ESCAPED;
  return node;
}

/** The list of a key; undefined if the key or its list does not exist. */
export function listAt(map: YAMLMap, key: string): YAMLSeq<Node> | undefined {
  const list = map.get(key, true);
  return isSeq<Node>(list) ? list : undefined;
}

/** The text of a scalar, or of the value of a key; the loader has checked that it is text. */
export function textOf(node: unknown, key?: string): string {
  if (key !== undefined) return isMap(node) ? textOf(node.get(key, true)) : '';
  return isScalar(node) ? String(node.value) : '';
}

/** Sets the list of a key, which is added at the end if the file lacks it. */
export function addList(map: YAMLMap, key: string): YAMLSeq<Node> {
  const list = new YAMLSeq<Node>();
  map.set(new Scalar(key), list);
  return list;
}

/** Removes items. The comments above them then are above the next item, or at the end of the list. */
export function removeItems(list: YAMLSeq<Node>, isRemoved: (item: Node, index: number) => boolean): void {
  let above: string[] = [];
  list.items = list.items.filter((item, index) => {
    if (typeof item.commentBefore === 'string') above.push(item.commentBefore);
    if (isRemoved(item, index)) return false;
    if (above.length > 0) item.commentBefore = above.join('\n');
    above = [];
    return true;
  });
  if (above.length > 0) list.comment = [...above, list.comment ?? []].flat().join('\n');
}

/** Adds an item before the one with this index. A list in brackets becomes a list of lines if it was empty or gets long. */
export function insertItem(list: YAMLSeq<Node>, index: number, item: Node): void {
  if (list.flow === true) {
    const length = list.items.reduce((sum, each) => sum + String(each).length + 2, 0);
    list.flow = list.items.length > 0 && length < LONGEST_FLOW;
  }
  list.items.splice(index, 0, item);
}

/** Adds a pair behind the pair of another key. */
export function insertPair(map: YAMLMap<Node, Node | null>, after: string, pair: Pair<Node, Node>): void {
  const index = map.items.findIndex(({ key }) => textOf(key) === after);
  map.items.splice(index + 1, 0, pair);
}

function expandAliases(document: Document): void {
  let isExpanded = false;
  visit(document, {
    Alias(_, alias) {
      isExpanded = true;
      // The alias exists, since the loader accepted the file.
      const copy = alias.resolve(document)?.clone() as Node;
      // The comments of its target stay with the target.
      visit(copy, {
        Node(_key, node) {
          delete node.comment;
          delete node.commentBefore;
        },
      });
      const { comment, commentBefore, spaceBefore } = alias;
      return Object.assign(copy, { comment, commentBefore, spaceBefore });
    },
    Scalar(_, scalar) {
      if (scalar.type === Scalar.QUOTE_DOUBLE) scalar.format = ESCAPED;
    },
  });
  if (!isExpanded) return;
  visit(document, {
    Node(_, node) {
      if (!('anchor' in node)) return;
      delete node.anchor;
    },
  });
}
