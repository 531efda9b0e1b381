// From a path such as ['api', 'timeout'] to its node, and from nodes to plain values. Looked up only when needed:
// most files have no issue, and large ones have ten thousand nodes.
import { type Node, type Scalar, isMap, isScalar, isSeq } from 'yaml';
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
    found = child(parent, step);
  }
  return found;
}

/** Where an issue about a path is shown: at its value, else at its key, else at what should have held it. */
export function spotOf({ node, key, parent }: Located): Node {
  const empty = node === undefined || (isScalar(node) && node.value === null && node.source === '');
  return (empty ? key : node) ?? parent;
}

function child(parent: Node, step: PropertyKey): Located {
  if (isMap(parent)) {
    // The parser's types cannot know that keys and values of a parsed mapping are nodes.
    const pair = parent.items.find(({ key }) => keyText(key) === String(step));
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

/** Thrown inside this file only, when aliases multiply a small file into a huge value. */
class TooLargeError extends Error {
  override readonly name = 'TooLargeError';
}

const MAX_VALUES = 100_000;
const MAX_DEPTH = 40;

/**
 * The value of the root mapping without the keys in `omit`, as the schemas judge it; undefined when aliases make it
 * endless or huge.
 */
export function plainRoot(file: YamlFile, omit: readonly string[]): Record<string, unknown> | undefined {
  let values = 0;
  const convert = (written: unknown, depth: number): unknown => {
    values += 1;
    if (values > MAX_VALUES || depth > MAX_DEPTH) throw new TooLargeError();
    const node = file.resolve(written);
    if (isSeq(node)) return node.items.map((item) => convert(item, depth + 1));
    if (isMap(node)) {
      return Object.fromEntries(
        node.items.map(({ key, value }) => [keyText(key), convert(value, depth + 1)]),
      );
    }
    return isScalar(node) ? node.value : null;
  };
  const kept = file.root.items.filter(({ key }) => !omit.includes(keyText(key)));
  try {
    return Object.fromEntries(kept.map(({ key, value }) => [keyText(key), convert(value, 1)]));
  } catch (error) {
    if (error instanceof TooLargeError) return undefined;
    throw error;
  }
}
