// The report model of a plain list: one table with heads, and a line that counts its rows.
import type { Group, Line, Report, Section } from './document.ts';

/**
 * The list under the title of the command, with other sections below it. No row is left out, and without rows there is only
 * the summary.
 */
export function listReport(
  title: string,
  table: Pick<Group, 'columns' | 'rows'>,
  summary: Line,
  others: readonly Section[] = [],
): Report {
  const sections =
    table.rows.length === 0
      ? []
      : [{ title: '', groups: [{ ...table, heads: true as const }], unlimited: true as const }];
  return {
    title,
    documents: [{ title: [], facts: [], headline: [], sections: [...sections, ...others], summary }],
  };
}
