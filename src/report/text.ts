// Prints a report as text, for a terminal or for a file.
import { type Report, type ReportDocument } from './document.ts';
import { visible, visibleName } from './escape-invisible.ts';
import { createPrinter, type Printer, type TextOptions } from './text-printer.ts';
import { pastedBlock } from './paste.ts';
import { printFacts, printGroup, printPaste, printSection, shownGroups } from './text-sections.ts';

/** The report with a line break at its end, wrapped to `width`. Rows of tables and lines to paste are not wrapped. */
export function reportToText(report: Report, options: TextOptions): string {
  const printer = createPrinter(options);
  const { verdict, documents } = report;
  let text = '';
  if (verdict !== undefined) {
    text = `${printer.wrap('', printer.paint('strong', printer.inline(verdict))).join('\n')}\n`;
    if (documents[0]?.isDense !== true) text += '\n';
  }
  for (const [index, document] of documents.entries()) {
    const isListed = document.isDense === true && documents[index - 1]?.isDense === true;
    text += `${index === 0 || isListed ? '' : '\n'}${printDocument(printer, document).join('\n')}\n`;
  }
  return report.total === undefined ? text : `${text}\n${printTotal(printer, report.total).join('\n')}\n`;
}

function printTotal(printer: Printer, { line, table }: NonNullable<Report['total']>): string[] {
  const rows = table.rows.length === 0 ? [] : printGroup(printer, table, { indent: '' });
  return [...rows, ...printer.wrap('', printer.inline(line))];
}

function printDocument(printer: Printer, document: ReportDocument): string[] {
  const { status, title, completeBy, isDense = false, factsLast = false } = document;
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
  const blocks = [
    opening,
    ...document.sections.flatMap((section) => [
      printSection(printer, section, { indent, rest }),
      ...(paste?.after === section ? [printPaste(printer, paste, { indent, rest })] : []),
    ]),
    [...summary, ...(factsLast ? facts : []), ...printNext(printer, document)],
  ].filter((block) => block.length > 0);
  return blocks.flatMap((block, index) => (index === 0 || isDense ? block : ['', ...block]));
}

/** The first line of a document begins in the first column; if it is broken, the rest is indented. */
function outdented(line: string, index: number): string {
  return index === 0 ? line.trimStart() : line;
}

/**
 * Each command with its purpose below it, so that its line can be pasted into a shell: some take no comments. A dense
 * document has the commands only.
 */
function printNext(printer: Printer, { next = [], isDense }: ReportDocument): string[] {
  return next.flatMap(({ command, purpose }, index) => [
    `  ${printer.paint('quiet', index === 0 ? 'Next:' : '     ')} ${visibleName(command)}`,
    ...(isDense === true ? [] : [`          ${printer.paint('quiet', visible(purpose))}`]),
  ]);
}
