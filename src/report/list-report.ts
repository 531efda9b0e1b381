// The report model of a plain list: one table with heads, and a line that counts its rows.
import type { Group, Line, Report } from './document.ts';

/** The list under the title of the command. No row is left out, and without rows there is only the summary. */
export function listReport(title: string, table: Pick<Group, 'columns' | 'rows'>, summary: Line): Report {
  const sections =
    table.rows.length === 0
      ? []
      : [{ title: '', groups: [{ ...table, heads: true as const }], unlimited: true as const }];
  return { title, documents: [{ title: [], facts: [], headline: [], sections, summary }] };
}
