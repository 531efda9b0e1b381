// A bracket or a quote that is never closed is noticed where the file makes no sense any more, often many lines below.
// This finds where it was opened.
import { type Document, type Node, type YAMLError, isCollection, isPair, isScalar } from 'yaml';

export interface Unclosed {
  /** The offset of the opening character. */
  readonly at: number;
  readonly opening: string;
  readonly closing: string;
}

const CLOSING: Readonly<Record<string, string>> = { '[': ']', '{': '}', '"': '"', "'": "'" };
/** A whole quoted text. */
const QUOTED = /^(?:"(?:[^"\\]|\\[^])*"|'(?:[^']|'')*')$/u;

/** For each error that stands where an unclosed bracket or quote ends: the innermost of them. */
export function unclosedAt(
  document: Document.Parsed,
  text: string,
): (problem: YAMLError) => Unclosed | undefined {
  let byEnd: ReadonlyMap<number, Unclosed> | undefined;
  return ({ code, pos: [at] }) => {
    if (code !== 'BAD_INDENT' && code !== 'MISSING_CHAR') return undefined;
    byEnd ??= collectUnclosed(document.contents, text);
    return byEnd.get(at);
  };
}

function collectUnclosed(root: Node | null, text: string): ReadonlyMap<number, Unclosed> {
  const found = new Map<number, Unclosed>();
  const visit = (node: unknown): void => {
    if (isPair(node)) {
      visit(node.key);
      visit(node.value);
    } else if (isCollection(node)) {
      node.items.forEach(visit);
      remember(
        node,
        node.items.some((item) => endOf(item) === node.range?.[1]),
      );
    } else if (isScalar(node)) remember(node, false);
  };
  const remember = ({ range }: { range?: Node['range'] }, childEndsThere: boolean): void => {
    if (!range) return;
    const [at, end] = range;
    const opening = text.charAt(at);
    const closing = CLOSING[opening];
    if (closing === undefined || found.has(end)) return;
    const isQuote = closing === opening;
    const isClosed = isQuote
      ? QUOTED.test(text.slice(at, end))
      : text.charAt(end - 1) === closing && end - at > 1 && !childEndsThere;
    if (!isClosed) found.set(end, { at, opening, closing });
  };
  visit(root);
  return found;
}

/** Where the last node of a pair, or a node, ends. */
function endOf(item: unknown): number | undefined {
  if (isPair(item)) return endOf(item.value) ?? endOf(item.key);
  return isCollection(item) || isScalar(item) ? item.range?.[1] : undefined;
}
