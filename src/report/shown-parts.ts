// What the formats print of a report: the used columns, the first rows, the lines to paste, and the accounts that need
// nobody's attention.
import type { Column, Group, Line, Section, ReportDocument } from './document.ts';
import { visible } from './escape-invisible.ts';

/** The columns that are not empty in every row, with their positions. */
export function usedColumns({
  columns,
  rows,
}: Pick<Group, 'columns' | 'rows'>): (Column & { readonly index: number })[] {
  const listed = rows.slice();
  return columns.flatMap((column, index) =>
    listed.some((row) => (row[index] ?? []).length > 0) ? [{ ...column, index }] : [],
  );
}

/** The groups with at most `most` rows together, without those that lose all of them; and how many rows are left out. */
export function firstRows(
  groups: readonly Group[],
  most: number,
): { readonly groups: readonly Group[]; readonly hidden: number } {
  const kept: Group[] = [];
  let left = most;
  let hidden = 0;
  for (const group of groups) {
    const rows = group.rows.slice(0, left);
    left -= rows.length;
    hidden += group.rows.length - rows.length;
    if (rows.length > 0) kept.push({ ...group, rows });
  }
  return { groups: kept, hidden };
}

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

/** A report is easier to read with a few short documents than with a folded section. */
const FEW = 2;

/** The documents to print one by one, and a section of the others, or null when there are few of them. */
export function splitQuiet(documents: readonly ReportDocument[]): {
  readonly shown: readonly ReportDocument[];
  readonly quiet: Section | null;
} {
  const quiet = documents.filter(isQuiet);
  if (quiet.length <= FEW) return { shown: documents, quiet: null };
  return { shown: documents.filter((document) => !isQuiet(document)), quiet: quietSection(quiet) };
}

/** Whether there is nothing but the account, a good status and a sentence. */
function isQuiet({ status, lines = [], facts, sections, next = [] }: ReportDocument): boolean {
  return status?.tone === 'good' && lines.length + facts.length + sections.length + next.length === 0;
}

function quietSection(documents: readonly ReportDocument[]): Section {
  return {
    title: 'Accounts with nothing to do',
    count: documents.length,
    quiet: true,
    groups: [
      {
        columns: [{ head: 'Account' }, { head: 'Status' }, { head: 'Result' }],
        rows: documents.map(({ title, status, headline }) => [
          title,
          status === undefined ? [] : [status.label],
          headline.flatMap((line, index) => (index === 0 ? line : [' ', ...line])),
        ]),
      },
    ],
  };
}
