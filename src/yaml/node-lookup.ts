// From a path such as ['api', 'timeout'] to its node, and from nodes to plain values. Looked up only when needed:
// most files have no issue, and large ones have ten thousand nodes.
import { type Node, type Pair, type Scalar, isMap, isScalar, isSeq } from 'yaml';
import type { ConfigIssue } from '../core/errors.ts';
import type { YamlFile } from './yaml-file.ts';

export type NodePath = readonly PropertyKey[];

/** What stands at a path; `key` when its parent is a mapping that has it, `parent` the innermost node that is there. */
export interface Located {
  readonly node?: Node;
  readonly key?: Node;
  readonly parent: Node;
}

/** The node at `path`, aliases resolved on the way. */
export function locate(file: YamlFile, path: NodePath): Located {
  let found: Located = { node: file.root, parent: file.root };
  for (const step of path) {
    const parent = file.resolve(found.node);
    if (parent === undefined) return { parent: found.parent };
    found = child(parent, step, file.occurrence);
  }
  return found;
}

/** Where an issue about a path is shown: at its value, else at its key, else at what should have held it. */
export function spotOf({ node, key, parent }: Located): Node {
  const empty = node === undefined || (isScalar(node) && node.value === null && node.source === '');
  return (empty ? key : node) ?? parent;
}

function child(parent: Node, step: PropertyKey, occurrence: number): Located {
  if (isMap(parent)) {
    // The parser's types cannot know that keys and values of a parsed mapping are nodes.
    const pairs = parent.items.filter(({ key }) => keyText(key) === String(step));
    const pair = pairs[occurrence] ?? pairs.at(-1);
    const key = pair?.key as Node | undefined;
    const value = pair?.value as Node | null | undefined;
    return { parent, ...(key === undefined ? {} : { key }), ...(value ? { node: value } : {}) };
  }
  const item = isSeq(parent) ? (parent.items[Number(step)] as Node | undefined) : undefined;
  return { parent, ...(item === undefined ? {} : { node: item }) };
}

/** A mapping's key as text. */
export function keyText(key: unknown): string {
  return isScalar(key) ? String(key.value) : '';
}

/** A plain scalar that YAML took for something else than text: `1.0`, `true`, `~`. */
export function isMistyped(node: Node | undefined): node is Scalar & { source: string } {
  return isScalar(node) && typeof node.value !== 'string' && node.source !== undefined && node.source !== '';
}

/** Beside its lists of names no file has so many; the schemas would take seconds for each hundred thousand. */
const MAX_VALUES = 25_000;

/** The value of the root mapping without the keys in `omit`, as the schemas judge it; or the node that is one too many. */
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
    return isScalar(node) ? node.value : null;
  };
  const mapping = (pairs: readonly Pair[]): Record<string, unknown> =>
    Object.fromEntries([...chosen(pairs, file.occurrence)].map(([key, value]) => [key, convert(value)]));
  const value = mapping(file.root.items.filter(({ key }) => !omit.includes(keyText(key))));
  if (excess === undefined) return { value };
  const message = `the file holds more than ${MAX_VALUES} values beside its lists of names; take some out`;
  return { issue: file.issue(excess, message) };
}

/** The values by their keys; see `YamlFile.occurrence`. */
function chosen(pairs: readonly Pair[], occurrence: number): ReadonlyMap<string, unknown> {
  const values = new Map<string, unknown>();
  const counts = new Map<string, number>();
  for (const { key, value } of pairs) {
    const name = keyText(key);
    const count = counts.get(name) ?? 0;
    if (count <= occurrence) values.set(name, value);
    counts.set(name, count + 1);
  }
  return values;
}
