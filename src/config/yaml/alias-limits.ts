// Inspects the nodes of a file before they are used: the targets of aliases, duplicate keys, what YAML reads in another
// way than people mean it, and the size of the file with all aliases expanded. A file that passes can be expanded safely.
import { type Alias, type Node, Scalar, isAlias, isCollection, isMap, isScalar } from 'yaml';
import { JOINED_LINES, MERGE_KEY, UNKNOWN_ALIAS } from './syntax-messages.ts';

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
