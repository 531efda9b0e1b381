// Prints a report as text, for a terminal or for a file. Long lists are cut after complete rows, with the count of the rest.
import picocolors from 'picocolors';
import { eastAsianWidth } from 'get-east-asian-width';
import {
  countedTitle,
  type Fact,
  type Group,
  type Line,
  type Report,
  type ReportDocument,
  type ReportOptions,
  type Section,
  shortened,
  type Tone,
  usedColumns,
} from './document.ts';
import { visible, visibleName } from './escape-invisible.ts';
import { instant } from './formatting.ts';

/** The most rows of one section that are printed, unless the section has its own number. */
export const TEXT_ROWS = 200;
/** The most items of one list that a line contains. */
const TEXT_ITEMS = 10;
const NARROWEST = 40;
/** A long text that makes its row longer than this is printed below it, also where lines are not wrapped. */
const WIDEST_LINE = 160;
/** A wider cell is not aligned: one long name would push the next column far to the right in every row. */
const WIDEST_CELL = 48;
const GAP = '  ';
const PRINTABLE_ASCII = /^[\x20-\x7e]*$/u;
/** Colour codes, marks that combine with the character before them, and characters that are not shown. */
// oxlint-disable-next-line no-control-regex -- colour codes begin with the control character escape
const WITHOUT_WIDTH = /\u001B\[[\d;]*m|[\p{Mn}\p{Me}\p{Default_Ignorable_Code_Point}]/gu;

export type TextOptions = Pick<ReportOptions, 'colour' | 'width' | 'verbose'>;

/** Turns the pieces of a report into text. */
interface Printer {
  readonly inline: (line: Line) => string;
  readonly paint: (tone: Tone, text: string) => string;
  /** The text broken between words: the first line follows `head`, the others are indented by its width. */
  readonly wrap: (head: string, text: string) => string[];
  /** The widest line; infinite without a terminal. */
  readonly width: number;
  /** Whether nothing is shortened. */
  readonly verbose: boolean;
}

/** The report with a line break at its end, wrapped to `width`. Rows of tables and lines to copy are not wrapped. */
export function reportToText({ verdict, documents, total }: Report, options: TextOptions): string {
  const printer = createPrinter(options);
  const { inline, paint, wrap } = printer;
  const blocks = [
    ...(verdict === undefined ? [] : [wrap('', paint('strong', inline(verdict)))]),
    ...documents.map((document) => printDocument(printer, document)),
    ...(total === undefined ? [] : [wrap('', paint('strong', inline(total)))]),
  ];
  return blocks.map((lines) => `${lines.join('\n')}\n`).join('\n');
}

/** A printer for a terminal of this width, or for a file: infinite. */
export function createPrinter({ colour, width: columns, verbose = false }: TextOptions): Printer {
  const width = Math.max(NARROWEST, columns);
  const colours = picocolors.createColors(colour);
  const painters: Record<Tone, (text: string) => string> = {
    good: colours.green,
    bad: colours.red,
    warn: colours.yellow,
    quiet: colours.dim,
    strong: colours.bold,
  };
  function paint(tone: Tone, text: string): string {
    return text === '' ? '' : painters[tone](text);
  }
  function inline(line: Line): string {
    return line
      .map((part) => {
        if (typeof part === 'string') return visible(part);
        if ('code' in part)
          return `${visibleName(part.code)}${part.url === undefined ? '' : ` (${visible(part.url)})`}`;
        if ('time' in part) return visible(instant(part.time));
        if ('tone' in part) return paint(part.tone, inline(part.line));
        const items = verbose ? part.list : part.list.slice(0, part.most ?? TEXT_ITEMS);
        const rest = part.list.length - items.length;
        return `${items.map(inline).join(', ')}${rest > 0 ? ` … and ${rest} more` : ''}`;
      })
      .join('');
  }
  return { inline, paint, wrap: (head, text) => wrapWords(head, text, width), width, verbose };
}

function printDocument(printer: Printer, document: ReportDocument): string[] {
  const { status, title, headline = [], lines = [], sections = [], summary, facts = [] } = document;
  const { inline, paint, wrap } = printer;
  // A document without a title is a plain list, printed from the first column on.
  const indent = title.length === 0 ? '' : '  ';
  const name = paint('strong', inline(title));
  const heading =
    status === undefined
      ? name
      : `${name}: ${paint(status.tone, visible(`${status.label}${status.own ?? ''}`))}`;
  const blocks = [
    [
      ...(title.length === 0 ? [] : outdented(wrap(indent, heading))),
      ...headline.flatMap((line) => wrap(indent, inline(line))),
      ...lines.map((line) => indent + inline(line)),
    ],
  ];
  const { completeBy = '--format json lists all of them' } = document;
  for (const section of sections) {
    const printed = printSection(printer, section, section.title === '' ? indent : '    ', completeBy);
    // Rows without a title of their own follow that of the document.
    if (section.title === '') blocks.at(-1)?.push(...printed);
    else blocks.push(printed);
  }
  blocks.push([
    ...(summary === undefined ? [] : wrap(indent, paint('strong', inline(summary)))),
    ...printFacts(printer, facts, indent),
    ...printNext(printer, document),
  ]);
  return blocks
    .filter((block) => block.length > 0)
    .flatMap((block, index) => (index === 0 ? block : ['', ...block]));
}

/** The first line of a document begins in the first column; if it is broken, the rest is indented. */
function outdented([first = '', ...rest]: readonly string[]): string[] {
  return [first.trimStart(), ...rest];
}

/** Each command with its purpose below it, so that its line can be pasted into a shell: some take no comments. */
function printNext({ paint }: Printer, { next = [] }: ReportDocument): string[] {
  return next.flatMap(({ command, purpose }, index) => [
    `  ${paint('quiet', index === 0 ? 'Next:' : '     ')} ${visibleName(command)}`,
    `          ${paint('quiet', visible(purpose))}`,
  ]);
}

/** Facts with aligned labels. */
function printFacts({ inline, paint, wrap }: Printer, facts: readonly Fact[], indent: string): string[] {
  const widest = Math.max(0, ...facts.map((fact) => fact.label.length));
  return facts.flatMap(({ label, line }) =>
    wrap(`${indent}${paint('quiet', label.padEnd(widest))}  `, inline(line)),
  );
}

/** A section with its title. `completeBy`: how to see the rows that are left out. */
function printSection(printer: Printer, section: Section, indent: string, completeBy: string): string[] {
  const { inline, paint, wrap, verbose } = printer;
  const { title, tone, quiet, intro, textRows = TEXT_ROWS } = section;
  const most = verbose ? Number.POSITIVE_INFINITY : textRows;
  const { groups, verbatim, hidden } = shortened(section, Math.max(most, TEXT_ROWS), most);
  const heading = visible(countedTitle(section));
  const toned = tone === undefined ? heading : paint(tone, heading);
  return [
    ...(title === '' ? [] : [`  ${paint(quiet ? 'quiet' : 'strong', toned)}`]),
    ...(intro === undefined ? [] : wrap(indent, paint('quiet', inline(intro)))),
    ...(verbatim.length === 0 ? [] : ['', ...verbatim.map(visible)]),
    ...groups.flatMap((group, index) => [
      ...(index > 0 && group.title !== undefined ? [''] : []),
      ...printGroup(printer, group, indent),
    ]),
    ...(hidden === 0 ? [] : [paint('quiet', `${indent}… and ${hidden} more (${visibleName(completeBy)})`)]),
  ];
}

/** Rows in columns, with their title and facts. A long cell is beside its row where it fits, and below it elsewhere. */
function printGroup(printer: Printer, group: Group, place: string): string[] {
  const { inline, paint, wrap, width } = printer;
  const indent = group.title === undefined ? place : `${place}  `;
  const used = usedColumns(group);
  const beside = used.filter(({ below }) => below !== true);
  const long = used.filter(({ below }) => below === true);
  const heads = group.heads && group.rows.length > 0 ? [beside.map(({ head }) => paint('quiet', head))] : [];
  const cells = group.rows.map((row) => beside.map(({ index }) => inline(row[index] ?? [])));
  const aligned = alignColumns(
    [...heads, ...cells],
    beside.map(({ align }) => align === 'right'),
  );
  const printed = group.rows.flatMap((row, at) => {
    const line = indent + (aligned[heads.length + at] ?? '');
    const ends = long.map(({ index }) => inline(row[index] ?? [])).filter((text) => text !== '');
    const complete = [line, ...ends].join(GAP);
    if (shownWidth(complete) <= Math.min(width, WIDEST_LINE)) return [complete.trimEnd()];
    return [line.trimEnd(), ...ends.flatMap((text) => wrap(`${indent}    `, text))];
  });
  return [
    ...(group.title === undefined ? [] : wrap(place, inline(group.title))),
    ...printFacts(printer, group.facts ?? [], indent),
    ...heads.map(() => (indent + (aligned[0] ?? '')).trimEnd()),
    ...printed,
  ];
}

/** A space between words. YAML in braces is copied, so it is not broken. */
const UNBROKEN = / (?![^{}]*\})/;

function wrapWords(head: string, text: string, width: number): string[] {
  const indent = ' '.repeat(shownWidth(head));
  const [first = '', ...words] = text.split(UNBROKEN);
  const lines: string[] = [];
  let line = head + first;
  let length = shownWidth(line);
  for (const word of words) {
    const wordLength = shownWidth(word);
    // A word that is longer than the line is not broken: half an id cannot be copied.
    if (length + 1 + wordLength <= width) {
      line += ` ${word}`;
      length += 1 + wordLength;
    } else {
      lines.push(line.trimEnd());
      line = indent + word;
      length = indent.length + wordLength;
    }
  }
  return [...lines, line.trimEnd()];
}

/** The number of columns that a terminal uses for a text. An emoji of several code points counts as the sum of them. */
function shownWidth(text: string): number {
  const visible = text.replace(WITHOUT_WIDTH, '');
  if (PRINTABLE_ASCII.test(visible)) return visible.length;
  return Array.from(visible).reduce((width, each) => width + eastAsianWidth(each.codePointAt(0) ?? 0), 0);
}

/** One line for each row, with aligned columns. A cell that is wider than WIDEST_CELL moves the rest of its own row only. */
function alignColumns(rows: readonly (readonly string[])[], isRight: readonly boolean[]): string[] {
  const widths = isRight.map((_, index) =>
    rows.reduce((widest, row) => {
      const width = shownWidth(row[index] ?? '');
      return width > WIDEST_CELL ? widest : Math.max(widest, width);
    }, 0),
  );
  return rows.map((row) =>
    row
      .map((cell, index) => {
        const padding = ' '.repeat(Math.max(0, (widths[index] ?? 0) - shownWidth(cell)));
        return isRight[index] === true ? padding + cell : cell + padding;
      })
      .join(GAP),
  );
}
