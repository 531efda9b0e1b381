// The report model: the content of a report without its format. The *-report.ts files build these documents;
// text.ts, markdown.ts and html.tsx print them. src/README.md describes how to add one.
import type { Links } from '../core/settings.ts';

/** The formats of a report, in the order of the help. */
export const FORMATS = ['text', 'json', 'markdown', 'html'] as const;
export type Format = (typeof FORMATS)[number];

/** Whether a report is one document in this format, so that nothing else may be printed before or after it. */
export function isOneDocument(format: Format): boolean {
  return format === 'json' || format === 'html';
}

/** The meaning of a piece of a line. A format shows it as a colour, as a weight or not at all. */
export type Tone = 'good' | 'bad' | 'warn' | 'quiet' | 'strong';

/**
 * A piece of a line. The format escapes every piece. A plain string is prose; `code` is a name, an id or a command that
 * must be shown exactly, perhaps as a link; `time` is UTC, ISO 8601; a `list` of more than `most` items, or than the usual
 * number, is cut, with the count of the rest.
 */
export type Part =
  | string
  | { readonly code: string; readonly url?: string | undefined }
  | { readonly time: string }
  | { readonly tone: Tone; readonly line: Line }
  | { readonly list: readonly Line[]; readonly most?: number };

export type Line = readonly Part[];

/** A line with a label. `isShared`: where it differs, accounts are not shown together. */
export interface Fact {
  readonly label: string;
  readonly line: Line;
  readonly isShared?: true;
}

/**
 * `below`: a column of long text, which text output prints under the row where there is no room beside it. `own`: a column
 * that differs between accounts with the same changes.
 */
export interface Column {
  readonly head: string;
  readonly align?: 'left' | 'right';
  readonly below?: true;
  readonly own?: true;
}

/** Rows with the same columns. `facts` hold for all of them. */
export interface Group {
  readonly title?: Line;
  readonly facts?: readonly Fact[];
  readonly columns: readonly Column[];
  readonly rows: readonly (readonly Line[])[];
  /** Whether text output shows the heads of the columns. */
  readonly heads?: true;
}

/** A titled part of a document. */
export interface Section {
  readonly title: string;
  readonly count?: number;
  readonly tone?: Tone;
  readonly intro?: Line;
  readonly groups: readonly Group[];
  /** Less important: folded in formats that can fold. */
  readonly quiet?: true;
  /** Lines to copy into a file. Text output neither indents nor wraps them. */
  readonly verbatim?: readonly string[];
  /** How many rows of each group, and how many lines to copy, text output shows, if not the usual number. */
  readonly textRows?: number;
}

/** One account, one run, or one list. */
export interface ReportDocument {
  readonly title: Line;
  /** How many accounts are shown together, if there are several. */
  readonly accounts?: number;
  /** The status behind the title. `own` follows the label where the account is shown alone. */
  readonly status?: { readonly label: string; readonly own?: string; readonly tone: Tone };
  /** The lines to read first. */
  readonly headline?: readonly Line[];
  /** Separate lines, as compilers print them. Text output never wraps or shortens them. */
  readonly lines?: readonly Line[];
  readonly sections?: readonly Section[];
  readonly summary?: Line;
  /** What identifies the document. Text output prints them at the end, because nobody reads them first. */
  readonly facts?: readonly Fact[];
  /** The commands to run next, each with its purpose. */
  readonly next?: readonly { readonly command: string; readonly purpose: string }[];
  /** The command that prints everything that text output leaves out; `--format json` by default. */
  readonly completeBy?: string | undefined;
}

/** Everything that one command prints. */
export interface Report {
  readonly title: string;
  /** The sentence that the report begins with, before its title. */
  readonly verdict?: Line;
  readonly documents: readonly ReportDocument[];
  /** The sum over all documents, when there are several. */
  readonly total?: Line;
}

/** How much a report of plans shows. */
export interface ReportDetail {
  /** Nothing is shortened. */
  readonly verbose?: boolean | undefined;
  /** Whether the configuration differs from its commit. */
  readonly hasLocalChanges?: boolean;
  readonly links?: Links;
  /** The files of accounts, as issues name them. */
  readonly files?: ReadonlyMap<string, string>;
  /** What stops all accounts, which every report begins with. */
  readonly notice?: string | null;
}

/** How to print a report. Colour and width (in columns) apply to text only. */
export interface ReportOptions extends ReportDetail {
  readonly format: Format;
  readonly colour: boolean;
  readonly width: number;
  /** The most rows of a list. */
  readonly limit?: number;
}

/** A name, an id, a digest or a command. */
export function code(text: string): Part {
  return { code: text };
}

/** A coloured piece. */
export function toned(tone: Tone, ...line: Line): Part {
  return { tone, line };
}

/** Ids or names, separated by commas. A long list is cut after complete items. */
export function codeList(items: readonly string[]): Part {
  return { list: items.map((item) => [code(item)]) };
}

/** The title of a section with the number of its rows. */
export function countedTitle({ title, count }: Section): string {
  return count === undefined ? title : `${title} (${count})`;
}

/** Columns, of which most are no more than a head. */
export function columnsOf(...columns: readonly (string | Column)[]): Column[] {
  return columns.map((column) => (typeof column === 'string' ? { head: column } : column));
}

/** A section of one table, with the number of its rows; none without rows. */
export function tableSection(
  title: string,
  table: Pick<Group, 'columns' | 'rows'>,
  more: Partial<Section> = {},
): Section[] {
  return table.rows.length === 0 ? [] : [{ title, count: table.rows.length, groups: [table], ...more }];
}

/** The columns that are not empty in every row, with their positions. */
export function usedColumns({ columns, rows }: Group): (Column & { readonly index: number })[] {
  return columns.flatMap((column, index) =>
    rows.some((row) => (row[index] ?? []).length > 0) ? [{ ...column, index }] : [],
  );
}

/** The section with at most `most` rows behind `from`, and `each` rows of one group; and how many rows are left out. */
export function shortened(
  section: Section,
  most: number,
  each = most,
  from = 0,
): { readonly groups: readonly Group[]; readonly verbatim: readonly string[]; readonly hidden: number } {
  const { groups, verbatim = [] } = section;
  const kept: Group[] = [];
  let left = most;
  let skip = from;
  let hidden = 0;
  for (const group of groups) {
    const first = Math.min(skip, group.rows.length);
    const rows = group.rows.slice(first, first + Math.min(left, each));
    skip -= first;
    left -= rows.length;
    hidden += group.rows.length - rows.length;
    if (rows.length > 0) kept.push({ ...group, rows });
  }
  const lines = verbatim.slice(0, each);
  const more = verbatim.length - lines.length;
  return {
    groups: kept,
    verbatim: more === 0 ? lines : [...lines, `  # … and ${more} more; --format json has all of them`],
    hidden,
  };
}
