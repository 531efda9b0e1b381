// Prints a report as text, for a terminal or for a file.
import type { Report, ReportDocument } from './document.ts';
import { visible, visibleName } from './escape-invisible.ts';
import { createPrinter, type Printer, type TextOptions } from './text-printer.ts';
import { pastedBlock } from './shown-parts.ts';
import { printFacts, printGroup, printPaste, printSection, shownGroups } from './text-sections.ts';

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
