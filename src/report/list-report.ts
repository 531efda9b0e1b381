// The report model of a plain list: one table with heads, and a line that counts its rows.
import type { Group, Line, Report, Section } from './document.ts';

/** The list under the title of the command, and `more` below it. No row is left out; without rows there is no table. */
export function listReport(
  title: string,
  table: Pick<Group, 'columns' | 'rows'>,
  summary: Line,
  more: readonly Section[] = [],
): Report {
  const sections =
    table.rows.length === 0
      ? []
      : [{ title: '', groups: [{ ...table, heads: true as const }], unlimited: true as const }];
  const document = { title: [], facts: [], headline: [], sections: [...sections, ...more], summary };
  return { title, documents: [document] };
}
