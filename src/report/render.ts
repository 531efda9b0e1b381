// Renders a report in the requested format: json prints the value itself, the other formats print the model.
import type { Group, Report, ReportOptions } from './document.ts';
import { reportToHtml } from './html-report.tsx';
import { reportToMarkdown } from './markdown.ts';
import { reportToText } from './text.ts';
import { visibleJson } from './escape-invisible.ts';

/** The report with a line break at its end. json prints the complete `value` and does not call `model`. */
export function renderReport(value: unknown, model: () => Report, options: ReportOptions): string {
  switch (options.format) {
    case 'json':
      return `${visibleJson(value, 2)}\n`;
    case 'markdown':
      return reportToMarkdown(model());
    case 'html':
      return reportToHtml(model(), options.verbose);
    case 'text':
      return reportToText(model(), options);
    default:
      return options.format satisfies never;
  }
}

/** The list under the title of the command. No row is left out; without rows there is no table. */
export function listReport(title: string, table: Pick<Group, 'columns' | 'rows'>, summary: string): Report {
  const groups = [{ ...table, heads: true as const }];
  const sections = table.rows.length === 0 ? [] : [{ title: '', groups, textRows: Number.POSITIVE_INFINITY }];
  return { title, documents: [{ title: [], sections, summary: [summary] }] };
}
