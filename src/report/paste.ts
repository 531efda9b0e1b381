// The lines of YAML that a report offers to paste, in every format: one block for a document, since a file may contain
// its key only once.
import type { Group, Line, Section } from './document.ts';
import { visible } from './escape-invisible.ts';

export interface PastedBlock {
  readonly intro: Line;
  /** The key and the items, escaped, each item once: a list that names an entry twice is refused. */
  readonly lines: readonly string[];
  /** How many items are left out. */
  readonly hidden: number;
  /** The section that the block follows. */
  readonly after: Section;
}

/** The block for the rows that are shown: `shown` returns the groups of a section without the other rows. */
export function pastedBlock(
  sections: readonly Section[],
  shown: (section: Section) => readonly Group[],
): PastedBlock | null {
  const after = sections.findLast(({ groups }) => groups.some(({ paste }) => paste !== undefined));
  const paste = after?.groups.find((group) => group.paste !== undefined)?.paste;
  if (after === undefined || paste === undefined) return null;
  const all = sections.flatMap(({ groups }) => groups.flatMap((group) => group.paste?.items ?? []));
  const items = sections.flatMap((section) =>
    shown(section).flatMap(({ paste: own, rows }) => own?.items.slice(0, rows.length) ?? []),
  );
  const lines = distinct(items);
  return {
    intro: paste.intro,
    lines: [`${paste.key}:`, ...lines.map((line) => `  - ${visible(line)}`)],
    hidden: distinct(all).length - lines.length,
    after,
  };
}

function distinct(items: readonly string[]): string[] {
  // The loader compares names after NFC.
  return [...new Map(items.map((item) => [item.normalize('NFC'), item])).values()];
}
