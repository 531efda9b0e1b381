// Finds the node of a path such as ['api', 'timeout'], and converts nodes to plain values. Paths are searched only on
// demand, because most files have no issue and large ones have ten thousand nodes.
import { type Node, type Pair, type Scalar, type YAMLMap, isMap, isScalar, isSeq } from 'yaml';
import type { ConfigIssue } from '../../core/errors.ts';
import { detached } from './source-text.ts';
import type { YamlFile } from './yaml-file.ts';

export type NodePath = readonly PropertyKey[];

/** The nodes of a path: its value, its key if it is in a mapping, and the innermost existing parent. */
export interface Located {
  readonly node?: Node;
  readonly key?: Node;
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

/** The position of an issue about a path: its value, otherwise its key, otherwise its parent. */
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
 * The root mapping without the keys in `omit` as a plain value for the schemas, or an issue if it has too many values.
 * Its values do not keep the text of the file in memory.
 */
export function plainRoot(
  file: YamlFile,
  omit: readonly string[],
): { readonly value: Record<string, unknown> } | { readonly issue: ConfigIssue } {
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
  if (excess === undefined) return { value };
  const message = `the file has more than ${MAX_VALUES} values besides its lists of names; remove some`;
  return { issue: file.issue(excess, message) };
}

function child(parent: Node, step: PropertyKey): Located {
  if (isMap(parent)) {
    const pair = pairOf(parent, String(step));
    // Keys and values of a parsed mapping are nodes, which the parser's types can't express.
    const key = pair?.key as Node | undefined;
    const value = pair?.value as Node | null | undefined;
    return { parent, ...(key === undefined ? {} : { key }), ...(value ? { node: value } : {}) };
  }
  const item = isSeq(parent) ? (parent.items[Number(step)] as Node | undefined) : undefined;
  return { parent, ...(item === undefined ? {} : { node: item }) };
}

/** The pair of a mapping with this key; the last one of a duplicate key. */
function pairOf(mapping: YAMLMap, text: string): Pair | undefined {
  if (mapping.items.length <= MANY_PAIRS) return mapping.items.findLast(({ key }) => keyText(key) === text);
  const index = indexes.get(mapping) ?? new Map(mapping.items.map((pair) => [keyText(pair.key), pair]));
  indexes.set(mapping, index);
  return index.get(text);
}
