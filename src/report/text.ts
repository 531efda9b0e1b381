// Prints a report as text for a terminal. Long lists are cut after complete rows, with the count of the rest; nothing
// else is left out.
import picocolors from 'picocolors';
import { alignColumns, shownWidth } from './columns.ts';
import type { Fact, Group, Line, Report, ReportDocument, ReportOptions, Section, Tone } from './document.ts';
import { visible, visibleName } from './escape-invisible.ts';
import { instant } from './formatting.ts';

/** The most rows of one section that are printed; the rest is counted. */
export const TEXT_ROWS = 200;
/** The most items of one list that a line contains. */
const TEXT_ITEMS = 10;
const NARROWEST = 40;

/** The report with a line break at its end, wrapped to `width`. Rows of tables are not wrapped. */
export function reportToText(report: Report, options: Pick<ReportOptions, 'colour' | 'width'>): string {
  const printer = createPrinter(options.colour, Math.max(NARROWEST, options.width));
  const blocks = report.documents.map((document) => printDocument(printer, document));
  if (report.total !== undefined) blocks.push([printer.inline(report.total.line)]);
  return `${blocks.map((block) => block.join('\n')).join('\n\n')}\n`;
}

interface Printer {
  readonly inline: (line: Line) => string;
  readonly paint: (tone: Tone, text: string) => string;
  /** The text broken between words: the first line follows `head`, the others are indented by its width. */
  readonly wrap: (head: string, text: string) => string[];
}

function createPrinter(colour: boolean, width: number): Printer {
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
        if ('code' in part) return visibleName(part.code);
        if ('time' in part) return visible(instant(part.time));
        if ('tone' in part) return paint(part.tone, inline(part.line));
        const shown = part.list.slice(0, TEXT_ITEMS).map(inline).join(', ');
        const rest = part.list.length - TEXT_ITEMS;
        return rest > 0 ? `${shown} … and ${rest} more` : shown;
      })
      .join('');
  }
  return { inline, paint, wrap: (head, text) => wrapWords(head, text, width) };
}

function wrapWords(head: string, text: string, width: number): string[] {
  const indent = ' '.repeat(shownWidth(head));
  const lines: string[] = [];
  let line = head;
  let length = indent.length;
  let empty = true;
  for (const word of text.split(' ')) {
    const wordLength = shownWidth(word);
    // A word that is longer than the line is not broken: half an id cannot be copied.
    if (!empty && length + 1 + wordLength > width) {
      lines.push(line.trimEnd());
      line = indent + word;
      length = indent.length + wordLength;
      continue;
    }
    line += empty ? word : ` ${word}`;
    length += wordLength + (empty ? 0 : 1);
    empty = false;
  }
  lines.push(line.trimEnd());
  return lines;
}

function printDocument(printer: Printer, document: ReportDocument): string[] {
  const { status, title } = document;
  // A document without a title is a plain list, printed from the first column on.
  const indent = title.length === 0 ? '' : '  ';
  const name = printer.paint('strong', printer.inline(title));
  const opening = [
    ...(title.length === 0
      ? []
      : [status === undefined ? name : `${name} · ${printer.paint(status.tone, visible(status.label))}`]),
    ...document.headline.flatMap((line) => printer.wrap(indent, printer.inline(line))),
    ...(document.lines ?? []).map((line) => indent + printer.inline(line)),
    ...printFacts(printer, document.facts, indent),
  ];
  const summary =
    document.summary === undefined
      ? []
      : printer.wrap(indent, printer.paint('strong', printer.inline(document.summary)));
  const blocks = [
    opening,
    ...document.sections.map((section) => printSection(printer, section)),
    [...summary, ...printNext(printer, document.next ?? [])],
  ];
  return blocks
    .filter((block) => block.length > 0)
    .flatMap((block, index) => (index === 0 ? block : ['', ...block]));
}

/** Each command with a comment, so that the line can be pasted into a shell. */
function printNext(printer: Printer, next: NonNullable<ReportDocument['next']>): string[] {
  return next.map(({ command, purpose }, index) => {
    const head = index === 0 ? 'Next:' : '     ';
    return `  ${printer.paint('quiet', head)} ${visibleName(command)}  ${printer.paint('quiet', visible(`# ${purpose}`))}`;
  });
}

function printFacts(printer: Printer, facts: readonly Fact[], indent: string): string[] {
  const widest = Math.max(0, ...facts.map((fact) => fact.label.length));
  return facts.flatMap((fact) =>
    printer.wrap(
      `${indent}${printer.paint('quiet', fact.label.padEnd(widest))}  `,
      printer.inline(fact.line),
    ),
  );
}

function printSection(printer: Printer, section: Section): string[] {
  const lines = [...printSectionTitle(printer, section), ...(section.verbatim ?? []).map(visible)];
  let left = section.unlimited ? Number.POSITIVE_INFINITY : TEXT_ROWS;
  let hidden = 0;
  for (const group of section.groups) {
    const rows = group.rows.slice(0, left);
    left -= rows.length;
    hidden += group.rows.length - rows.length;
    if (rows.length > 0)
      lines.push(...printGroup(printer, { ...group, rows }, section.title === '' ? '' : '    '));
  }
  if (hidden > 0)
    lines.push(printer.paint('quiet', `    … and ${hidden} more (--format json lists all of them)`));
  return lines;
}

function printSectionTitle(printer: Printer, section: Section): string[] {
  if (section.title === '') return [];
  const counted = section.count === undefined ? section.title : `${section.title} (${section.count})`;
  const toned = section.tone === undefined ? visible(counted) : printer.paint(section.tone, visible(counted));
  const intro = section.intro === undefined ? '' : printer.paint('quiet', printer.inline(section.intro));
  return [
    `  ${printer.paint(section.quiet ? 'quiet' : 'strong', toned)}`,
    ...(intro === '' ? [] : printer.wrap('    ', intro)),
  ];
}

function printGroup(printer: Printer, group: Group, outerIndent: string): string[] {
  const lines: string[] = [];
  let indent = outerIndent;
  if (group.title !== undefined) {
    lines.push(...printer.wrap(indent, printer.inline(group.title)));
    indent += '  ';
  }
  lines.push(...printFacts(printer, group.facts ?? [], indent));
  const beside = group.columns.flatMap((column, index) => (column.below ? [] : [{ ...column, index }]));
  const cells = group.rows.map((row) =>
    beside.map(({ index }) => {
      const cell = printer.inline(row[index] ?? []);
      return group.tone === undefined ? cell : printer.paint(group.tone, cell);
    }),
  );
  if (group.heads) cells.unshift(beside.map(({ head }) => printer.paint('quiet', head)));
  const aligned = alignColumns(
    cells,
    beside.map(({ align }) => align ?? 'left'),
  );
  if (group.heads) lines.push(indent + (aligned.shift() ?? ''));
  for (const [index, row] of group.rows.entries()) {
    lines.push(indent + (aligned[index] ?? ''), ...printBelow(printer, group, row, `${indent}    `));
  }
  return lines;
}

/** The text below a row. When a group has only one such column, its label is left out. */
function printBelow(printer: Printer, group: Group, row: readonly Line[], indent: string): string[] {
  const facts = group.columns.flatMap((column, index): Fact[] => {
    const line = row[index] ?? [];
    return column.below && line.length > 0 ? [{ label: column.head, line }] : [];
  });
  if (group.columns.filter((column) => column.below).length > 1) return printFacts(printer, facts, indent);
  return facts.flatMap(({ line }) => {
    const text = printer.inline(line);
    return printer.wrap(indent, group.tone === undefined ? text : printer.paint(group.tone, text));
  });
}
