// Where the nodes of a parsed YAML file begin and end in its text.
import { type Node, type Pair, type YAMLSeq, isCollection, isMap } from 'yaml';

/** The offset of the `-` of each item. */
export function dashesOf({ srcToken }: YAMLSeq): number[] {
  if (srcToken?.type !== 'block-seq') return [];
  return srcToken.items.flatMap(({ start }) => {
    const dash = start.find(({ type }) => type === 'seq-item-ind');
    return dash === undefined ? [] : [dash.offset];
  });
}

/** The offset of the last character of a node, without the comments and blank lines after it. */
export function contentEnd(node: Node): number {
  if (isCollection(node) && node.flow !== true) {
    const last = node.items.at(-1);
    const inner = isMap(node) ? endNode(last as Pair<Node, Node | null>) : (last as Node | undefined);
    if (inner !== undefined) return contentEnd(inner);
  }
  return valueEnd(node) - 1;
}

function endNode({ key, value }: Pair<Node, Node | null>): Node {
  return value === null || (value.range?.[1] ?? 0) === (value.range?.[0] ?? 0) ? key : value;
}

/** The offset of the last character of a pair, without the comments and blank lines after it. */
export function endOf(pair: Pair<Node, Node | null>): number {
  return contentEnd(endNode(pair));
}

/** The offset of the key of a pair. */
export function startOf({ key }: Pair<Node, Node | null>): number {
  return key.range?.[0] ?? 0;
}

/** The offset behind a node. */
export function valueEnd(node: Node): number {
  return node.range?.[1] ?? 0;
}

/** The text of a node. */
export function slice(text: string, node: Node): string {
  return text.slice(node.range?.[0] ?? 0, valueEnd(node));
}
