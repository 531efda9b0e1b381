// Prints a report as text, for a terminal or for a file. Long lists are cut after complete rows, with the count of the rest.
import type { Report, ReportDocument, Fact, Group, Line, Section } from './document.ts';
import { visible, visibleName } from './escape-invisible.ts';
import { createPrinter, type Printer, type TextOptions, alignColumns, shownWidth } from './text-printer.ts';
import { pastedBlock, type PastedBlock, usedColumns } from './shown-parts.ts';

/** The report with a line break at its end, wrapped to `width`. Rows of tables and lines to paste are not wrapped. */
export function reportToText(report: Report, options: TextOptions): string {
  const printer = createPrinter(options);
  const { verdict, documents } = report;
  let text = '';
  if (verdict !== undefined) {
    text = `${printer.wrap('', printer.paint('strong', printer.inline(verdict))).join('\n')}\n\n`;
  }
  for (const [index, document] of documents.entries()) {
    text += `${index === 0 ? '' : '\n'}${printDocument(printer, document).join('\n')}\n`;
  }
  return report.total === undefined ? text : `${text}\n${printTotal(printer, report.total).join('\n')}\n`;
}

function printTotal(printer: Printer, { line, table }: NonNullable<Report['total']>): string[] {
  const rows = table.rows.length === 0 ? [] : printGroup(printer, table, { indent: '' });
  return [...rows, ...printer.wrap('', printer.inline(line))];
}

function printDocument(printer: Printer, document: ReportDocument): string[] {
  const { status, title, completeBy, factsLast = false } = document;
  // A document without a title is a plain list, printed from the first column on.
  const indent = title.length === 0 ? '' : '  ';
  const name = printer.paint('strong', printer.inline(title));
  const facts = printFacts(printer, document.facts, indent);
  const opening = [
    ...(title.length === 0
      ? []
      : status === undefined
        ? [name]
        : printer
            .wrap(indent, `${name}: ${printer.paint(status.tone, visible(status.label))}`)
            .map(outdented)),
    ...document.headline.flatMap((line) => printer.wrap(indent, printer.inline(line))),
    ...(document.lines ?? []).map((line) => indent + printer.inline(line)),
    ...(factsLast ? [] : facts),
  ];
  const summary =
    document.summary === undefined
      ? []
      : printer.wrap(indent, printer.paint('strong', printer.inline(document.summary)));
  const rest = completeBy === undefined ? '--format json lists all of them' : visibleName(completeBy);
  const paste = pastedBlock(document.sections, (section) => shownGroups(section, printer.verbose));
  const blocks = [opening];
  for (const section of document.sections) {
    const printed = printSection(printer, section, { indent, rest });
    // Rows without a title of their own follow that of the document.
    if (section.title === '') blocks.at(-1)?.push(...printed);
    else blocks.push(printed);
    if (paste?.after === section) blocks.push(printPaste(printer, paste, { indent, rest }));
  }
  blocks.push([...summary, ...(factsLast ? facts : []), ...printNext(printer, document)]);
  return blocks
    .filter((block) => block.length > 0)
    .flatMap((block, index) => (index === 0 ? block : ['', ...block]));
}

/** The first line of a document begins in the first column; if it is broken, the rest is indented. */
function outdented(line: string, index: number): string {
  return index === 0 ? line.trimStart() : line;
}

/** Each command with its purpose below it, so that its line can be pasted into a shell: some take no comments. */
function printNext(printer: Printer, { next = [] }: ReportDocument): string[] {
  return next.flatMap(({ command, purpose }, index) => [
    `  ${printer.paint('quiet', index === 0 ? 'Next:' : '     ')} ${visibleName(command)}`,
    `          ${printer.paint('quiet', visible(purpose))}`,
  ]);
}

/** The most rows of one section that are printed, unless the section has its own number. */
export const TEXT_ROWS = 200;
/** A list that makes its row longer than this is printed below it, also where lines are not wrapped. */
const WIDEST_LINE = 160;

/** Facts with aligned labels. */
export function printFacts(printer: Printer, facts: readonly Fact[], indent: string): string[] {
  const widest = Math.max(0, ...facts.map((fact) => fact.label.length));
  return facts.flatMap((fact) =>
    printer.wrap(
      `${indent}${printer.paint('quiet', fact.label.padEnd(widest))}  `,
      printer.inline(fact.line),
    ),
  );
}

/** Where lines begin. */
export interface Place {
  readonly indent: string;
  /** How to see the rows that are left out. */
  readonly rest?: string;
}

/** A section with its title. */
export function printSection(printer: Printer, section: Section, { indent, rest = '' }: Place): string[] {
  const isBare = section.title === '';
  const inner = isBare ? indent : '    ';
  const verbatim = section.verbatim === undefined ? [] : ['', ...section.verbatim.map(visible)];
  const lines = [...printSectionTitle(printer, section), ...verbatim];
  const shares = rowsOfGroups(section, printer.verbose);
  for (const [index, group] of section.groups.entries()) {
    const shown = shares[index] ?? 0;
    const hidden = group.rows.length - shown;
    if (index > 0 && group.title !== undefined) lines.push('');
    const more = hidden === 0 ? [] : [printer.paint('quiet', `${inner}… and ${hidden} more (${rest})`)];
    if (shown > 0) {
      const rows = group.rows.slice(0, shown);
      lines.push(...printGroup(printer, { ...group, rows }, { indent: inner }));
    }
    lines.push(...more);
  }
  return lines;
}

/** The groups of a section with the rows that are printed. */
export function shownGroups(section: Section, verbose: boolean): Group[] {
  const shares = rowsOfGroups(section, verbose);
  return section.groups.map((group, index) => ({ ...group, rows: group.rows.slice(0, shares[index]) }));
}

/** How many rows of each group are printed: an equal share, and what small groups leave for large ones. */
function rowsOfGroups(section: Section, verbose: boolean): number[] {
  const sizes = section.groups.map(({ rows }) => rows.length);
  if (verbose || section.unlimited === true) return sizes;
  const shares = sizes.map(() => 0);
  let left = section.textRows ?? TEXT_ROWS;
  const bySize = sizes.map((size, index) => ({ size, index })).sort((a, b) => a.size - b.size);
  for (const [done, { size, index }] of bySize.entries()) {
    const share = Math.max(1, Math.floor(left / (bySize.length - done)));
    // A line that counts one row is as long as the row.
    const shown = size <= share + 1 ? size : share;
    shares[index] = shown;
    left -= shown;
  }
  return shares;
}

/** YAML from the first column on, never wrapped, and valid also when it is shortened. */
export function printPaste(
  printer: Printer,
  { intro, lines, hidden }: PastedBlock,
  { indent, rest }: Required<Place>,
): string[] {
  return [
    ...printer.wrap(indent, printer.inline(intro)),
    '',
    ...lines,
    ...(hidden === 0 ? [] : [`  # … and ${hidden} more (${rest})`]),
  ];
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

/** Rows in columns, with their title and facts. */
export function printGroup(printer: Printer, group: Group, place: Place): string[] {
  const lines: string[] = [];
  let { indent } = place;
  if (group.title !== undefined) {
    lines.push(...printer.wrap(indent, printer.inline(group.title)));
    indent += '  ';
  }
  lines.push(...printFacts(printer, group.facts ?? [], indent));
  const { shown, below } = layOut(printer, group, indent.length);
  if (group.heads) lines.push(indent + (shown.shift() ?? ''));
  for (const [index, line] of shown.entries()) {
    lines.push(indent + line, ...printBelow(printer, group, below[index] ?? [], `${indent}    `));
  }
  return lines;
}

interface Layout {
  /** The heads, if they are shown, and one line for each row. */
  readonly shown: string[];
  /** What is printed below each row: each row again, without the cells that are in its line. */
  readonly below: readonly (readonly Line[])[];
}

/** Puts the cells into columns, without those that are empty. A cell that may be below its row is beside it where it fits. */
function layOut(printer: Printer, group: Group, indent: number): Layout {
  const { columns, tone } = group;
  const rows = group.rows.slice();
  const text = (line: Line): string => {
    const cell = printer.inline(line);
    return tone === undefined ? cell : printer.paint(tone, cell);
  };
  const beside = usedColumns(group).filter(({ below }) => !below);
  const cells = rows.map((row) => beside.map(({ index }) => text(row[index] ?? [])));
  const aligns = [...beside.map(({ align = 'left' }) => align), 'left' as const];
  const overflow = columns.findIndex(({ below }) => below === 'overflow');
  const ends = rows.map((row) => text(row[overflow] ?? []));
  const widths = alignColumns(
    cells.map((row) => [...row, '|']),
    aligns,
  ).map(shownWidth);
  const limit = Math.min(printer.width, WIDEST_LINE) - indent;
  const fits = ends.map((end, index) => end !== '' && (widths[index] ?? 0) - 1 + shownWidth(end) <= limit);
  const heads = group.heads ? [[...beside.map(({ head }) => printer.paint('quiet', head)), '']] : [];
  const lines = cells.map((row, index) => [...row, fits[index] === true ? (ends[index] ?? '') : '']);
  return {
    shown: alignColumns([...heads, ...lines], aligns),
    below: rows.map((row, index) =>
      row.map((cell, column) => (column === overflow && fits[index] === true ? [] : cell)),
    ),
  };
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
