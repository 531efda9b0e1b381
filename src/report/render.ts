// Renders a report in the requested format: json prints the value itself, the other formats print the model.
import { type Group, type Report, type ReportOptions, toned } from './document.ts';
import { reportToHtml } from './html-report.tsx';
import { reportToMarkdown } from './markdown.ts';
import { count } from './formatting.ts';
import { reportToText } from './text.ts';
import { visibleJson } from './escape-invisible.ts';

/** The report with a line break at its end. json prints the complete `value` and does not call `model`. */
export function renderReport(value: unknown, model: () => Report, options: ReportOptions): string {
  switch (options.format) {
    case 'json':
      return `${visibleJson(value, 2)}\n`;
    case 'markdown':
      return reportToMarkdown(withNotice(model(), options));
    case 'html':
      return reportToHtml(withNotice(model(), options));
    case 'text':
      return reportToText(withNotice(model(), options), options);
    default:
      return options.format satisfies never;
  }
}

function withNotice(report: Report, { notice }: ReportOptions): Report {
  if (notice === undefined || notice === null) return report;
  const { verdict } = report;
  const rest = verdict === undefined ? [] : [' ', ...verdict];
  return { ...report, verdict: [toned('bad', `${notice}.`), ...rest] };
}

/** `4 runs.`, or that there may be more. */
export function listSummary(amount: number, noun: string, { limit }: ReportOptions): string {
  if (amount === limit) return `${count(amount, noun)}, as many as --limit allows.`;
  return amount === 0 ? `No ${noun}s.` : `${count(amount, noun)}.`;
}

/** The list under the title of the command. No row is left out; without rows there is no table. */
export function listReport(title: string, table: Pick<Group, 'columns' | 'rows'>, summary: string): Report {
  const groups = [{ ...table, heads: true as const }];
  const sections = table.rows.length === 0 ? [] : [{ title: '', groups, textRows: Number.POSITIVE_INFINITY }];
  return { title, documents: [{ title: [], sections, summary: [summary] }] };
}
