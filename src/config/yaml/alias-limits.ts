// Inspects the nodes of a file before they are used: the targets of aliases, duplicate keys, and the size of the file
// with all aliases expanded. A file that passes can be expanded safely.
import {
  type Alias,
  type Node,
  type Pair,
  type Scalar,
  isAlias,
  isCollection,
  isMap,
  isScalar,
  isSeq,
} from 'yaml';

export interface NodeInspection {
  /** The target of each alias: the last node before it with its anchor. */
  readonly targets: ReadonlyMap<Node, Node>;
  readonly duplicateKeys: readonly Scalar[];
  readonly unknownAliases: readonly Alias[];
  /** The first node at which the expanded file exceeds a limit. */
  readonly excess?: { readonly node: Node; readonly kind: 'endless' | 'huge' | 'deep' };
}

/** More than any file without aliases can have: see MAX_FILE_BYTES and MAX_MARKS. */
const MAX_EXPANDED_SIZE = 4 * 1024 * 1024;
/** The cost of a value besides its text. */
const VALUE_COST = 16;
const MAX_DEPTH = 40;

/** The size of a node with its aliases expanded: its text and values, and the levels below it. */
interface Measure {
  readonly size: number;
  readonly height: number;
}

const NOTHING: Measure = { size: 0, height: 0 };

/** Takes linear time in the size of the file, even if its aliases would expand to a huge one. */
export function inspectNodes(root: Node): NodeInspection {
  const inspector = new NodeInspector();
  inspector.visit(root, 1);
  return inspector;
}

class NodeInspector implements NodeInspection {
  readonly targets = new Map<Node, Node>();
  readonly duplicateKeys: Scalar[] = [];
  readonly unknownAliases: Alias[] = [];
  excess?: NonNullable<NodeInspection['excess']>;
  readonly #anchors = new Map<string, Node>();
  /** The nodes with an anchor whose content has been visited completely. */
  readonly #measures = new Map<Node, Measure>();
  #expandedSize = 0;

  visit(node: unknown, depth: number): Measure {
    if (isAlias(node)) return this.#visitAlias(node, depth);
    if (!isScalar(node) && !isCollection(node)) return NOTHING;
    if (depth > MAX_DEPTH) {
      this.#exceed(node, 'deep');
      return NOTHING;
    }
    if (node.anchor !== undefined) this.#anchors.set(node.anchor, node);
    let measure: Measure;
    if (isScalar(node))
      measure = { size: VALUE_COST + (node.range ? node.range[1] - node.range[0] : 0), height: 1 };
    else measure = isSeq(node) ? this.#visitAll(node.items, depth) : this.#visitPairs(node, depth);
    if (isScalar(node)) this.#expandedSize += measure.size;
    if (node.anchor !== undefined) this.#measures.set(node, measure);
    return measure;
  }

  #visitAlias(alias: Alias, depth: number): Measure {
    const target = this.#anchors.get(alias.source);
    if (target === undefined) {
      this.unknownAliases.push(alias);
      return NOTHING;
    }
    this.targets.set(alias, target);
    const measure = this.#measures.get(target);
    if (measure === undefined) {
      this.#exceed(alias, 'endless');
      return NOTHING;
    }
    this.#expandedSize += measure.size;
    if (this.#expandedSize > MAX_EXPANDED_SIZE) this.#exceed(alias, 'huge');
    else if (depth - 1 + measure.height > MAX_DEPTH) this.#exceed(alias, 'deep');
    return measure;
  }

  #visitAll(items: readonly unknown[], depth: number): Measure {
    let size = VALUE_COST;
    let height = 0;
    for (const item of items) {
      const measure = this.visit(item, depth + 1);
      size += measure.size;
      height = Math.max(height, measure.height);
    }
    return { size, height: height + 1 };
  }

  #visitPairs(node: Node, depth: number): Measure {
    const pairs: readonly Pair[] = isMap(node) ? node.items : [];
    const keys = new Set<unknown>();
    for (const { key } of pairs) {
      if (!isScalar(key)) continue;
      if (keys.has(key.value)) this.duplicateKeys.push(key);
      keys.add(key.value);
    }
    return this.#visitAll(
      pairs.flatMap(({ key, value }) => [key, value]),
      depth,
    );
  }

  #exceed(node: Node, kind: NonNullable<NodeInspection['excess']>['kind']): void {
    this.excess ??= { node, kind };
  }
}
