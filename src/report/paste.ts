// The lines of YAML that a report offers to paste, in every format.
import { visible } from './escape-invisible.ts';

export interface PastedLines {
  /** Escaped, in their order, each once: a list that names an entry twice is refused. */
  readonly lines: readonly string[];
  /** How many lines are left out. */
  readonly hidden: number;
}

/** The items of the first `shown` rows. */
export function pastedLines(items: readonly string[], shown: number): PastedLines {
  const lines = distinct(items.slice(0, shown));
  return { lines: lines.map(visible), hidden: distinct(items).length - lines.length };
}

function distinct(items: readonly string[]): string[] {
  // The loader compares names after NFC.
  return [...new Map(items.map((item) => [item.normalize('NFC'), item])).values()];
}
