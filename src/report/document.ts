// The report model: the content of a report without its format. The *-report.ts files build these documents;
// text.ts, markdown.ts and html.tsx print them. src/README.md describes how to add one.

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
 * must be shown exactly; `time` is UTC, ISO 8601; a long `list` is cut after complete items, with the count of the rest.
 */
export type Part =
  | string
  | { readonly code: string }
  | { readonly time: string }
  | { readonly tone: Tone; readonly line: Line }
  | { readonly list: readonly Line[] };

export type Line = readonly Part[];

/** A line with a label. */
export interface Fact {
  readonly label: string;
  readonly line: Line;
}

/**
 * `below`: a column of long text, which a format may print under the row instead of beside it; `overflow`: only if the
 * text does not fit beside it.
 */
export interface Column {
  readonly head: string;
  readonly align?: 'left' | 'right';
  readonly below?: true | 'overflow';
}

/**
 * A YAML list to paste into a file: its key and one line for each item. The lists of a document are printed as one, without
 * the items of rows that are left out; a comment counts these.
 */
export interface Paste {
  readonly intro: Line;
  readonly key: string;
  readonly items: readonly string[];
}

/** Rows as a list, or as what makes the rows of a part: a page shows 500 of 20,000. */
export type Rows = Pick<readonly (readonly Line[])[], 'length' | 'slice'>;

/** Rows with the same columns. `tone` colours all of them; `facts` hold for all of them. */
export interface Group {
  readonly title?: Line;
  readonly facts?: readonly Fact[];
  readonly columns: readonly Column[];
  readonly rows: Rows;
  /** Whether text output shows the heads of the columns. */
  readonly heads?: true;
  readonly tone?: Tone;
  /** One item for each row, in the same order. */
  readonly paste?: Paste;
}

/** A titled part of a document. One limit applies to the rows of all its groups together. */
export interface Section {
  readonly title: string;
  readonly count?: number;
  readonly tone?: Tone;
  readonly intro?: Line;
  readonly groups: readonly Group[];
  /** Less important: folded in formats that can fold. */
  readonly quiet?: true;
  /** Never shortened in text output. Markdown has its own limit. */
  readonly unlimited?: true;
  /** Lines to copy into a file. Text output neither indents, wraps nor shortens them. */
  readonly verbatim?: readonly string[];
  /** How many rows text output shows, if not the usual number. They are shared fairly among the groups. */
  readonly textRows?: number;
}

/** One account, one run, or one list. */
export interface ReportDocument {
  readonly title: Line;
  /** The status behind the title. */
  readonly status?: { readonly label: string; readonly tone: Tone };
  readonly facts: readonly Fact[];
  /** Whether text output prints the facts at the end, because nobody reads them first. */
  readonly factsLast?: true;
  /** The lines to read first. */
  readonly headline: readonly Line[];
  /** Separate lines, as compilers print them. Text output never wraps or shortens them. */
  readonly lines?: readonly Line[];
  readonly sections: readonly Section[];
  readonly summary?: Line;
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
  readonly total?: { readonly line: Line; readonly table: Group };
}

/** How much a report of plans shows. */
export interface ReportDetail {
  /** Nothing is shortened. */
  readonly verbose?: boolean | undefined;
  /** Of several accounts, those without changes are counted only. */
  readonly onlyChanges?: boolean | undefined;
  /** Whether the configuration differs from its commit. */
  readonly hasLocalChanges?: boolean;
}

/** How to print a report. Colour and width (in columns) apply to text only. */
export interface ReportOptions extends ReportDetail {
  readonly format: Format;
  readonly colour: boolean;
  readonly width: number;
  /** How suggested commands begin; `rolecall` by default. null: none is suggested, since it could not work. */
  readonly program?: string | null;
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
