// The report model: what a report says, apart from how it looks. The *-report.ts files build these documents;
// text.ts and markdown.ts print them, and a further format is one more such file (contract, section 3).

/** How a piece of a line is meant; a format turns it into colour, weight or nothing. */
export type Tone = 'good' | 'bad' | 'warn' | 'quiet' | 'strong';

/**
 * A piece of a line. Every piece is escaped by the format, whatever it holds: a plain string is prose, `code` is a
 * name, an id or a command that must be read exactly, `list` is shortened by whole items with the count of the rest.
 */
export type Part =
  | string
  | { readonly code: string }
  | { readonly tone: Tone; readonly line: Line }
  | { readonly list: readonly Line[] };

export type Line = readonly Part[];

/** A line with a word before it that says what it is. */
export interface Fact {
  readonly label: string;
  readonly line: Line;
}

/** `below` columns hold long text: under their row where that reads better, else columns like the others. */
export interface Column {
  readonly head: string;
  readonly align?: 'left' | 'right';
  readonly below?: true;
}

/** Rows of one sort. `tone` colours the whole group; `facts` are what all its rows have in common. */
export interface Group {
  readonly title?: Line;
  readonly facts?: readonly Fact[];
  readonly columns: readonly Column[];
  readonly rows: readonly (readonly Line[])[];
  /** Whether the heads of the columns are worth showing where they are not obligatory. */
  readonly heads?: true;
  readonly tone?: Tone;
}

/** A titled part of a document. Its rows count against one limit for the whole section. */
export interface Section {
  readonly title: string;
  readonly count?: number;
  readonly tone?: Tone;
  readonly intro?: Line;
  readonly groups: readonly Group[];
  /** Of lesser interest: folded away where the format can. */
  readonly quiet?: true;
  /** Printed whole whatever its length, where the format has no limit of its own. */
  readonly whole?: true;
}

/** One account, one run, or one list. */
export interface ReportDocument {
  readonly title: Line;
  /** The status in a word, and how good or bad it is. */
  readonly status?: { readonly word: string; readonly tone: Tone };
  readonly facts: readonly Fact[];
  /** What has to be read first. */
  readonly headline: readonly Line[];
  /** Lines that stand alone, as compilers print them: never wrapped, and all of them in text. */
  readonly lines?: readonly Line[];
  readonly sections: readonly Section[];
  readonly summary?: Line;
  /** What to do next: a command, and what it is good for. */
  readonly next?: readonly { readonly command: string; readonly purpose: string }[];
}

/** Everything that one command prints. */
export interface Report {
  readonly title: string;
  readonly documents: readonly ReportDocument[];
  /** Over all documents, when there are several. */
  readonly total?: { readonly line: Line; readonly table: Group };
}

/** How a report is to be printed. Colour and width (in columns) are the caller's to decide; markdown and json ignore them. */
export interface ReportOptions {
  readonly format: 'text' | 'json' | 'markdown';
  readonly colour: boolean;
  readonly width: number;
  /** How the commands that it advises begin; `rolecall` unless given. */
  readonly program?: string;
}

/** A name, an id, a digest or a command. */
export function code(text: string): Part {
  return { code: text };
}

/** A coloured piece. */
export function toned(tone: Tone, ...line: Line): Part {
  return { tone, line };
}

/** Ids or names, separated by commas and shortened by whole items. */
export function codeList(items: readonly string[]): Part {
  return { list: items.map((item) => [code(item)]) };
}
