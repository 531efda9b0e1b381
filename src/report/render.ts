// One report, any format: json is the value itself (a contract), the others print the model.
import { hintedReport, PROGRAM } from './command-hints.ts';
import type { Report, ReportOptions } from './document.ts';
import { reportToMarkdown } from './markdown.ts';
import { reportToText } from './text.ts';
import { visibleJson } from './escape-invisible.ts';

/** The report as asked for, with a line break at its end. `model` is not made for json, which prints `value` whole. */
export function renderReport(value: unknown, model: () => Report, options: ReportOptions): string {
  switch (options.format) {
    case 'json':
      return `${visibleJson(value, 2)}\n`;
    case 'markdown':
      return reportToMarkdown(hintedReport(model(), options.program ?? PROGRAM));
    case 'text':
      return reportToText(hintedReport(model(), options.program ?? PROGRAM), options);
  }
}
