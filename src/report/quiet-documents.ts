// Joins the accounts of a report that need nobody's attention in one folded section, for Markdown and HTML.
import type { ReportDocument, Section } from './document.ts';

/** A report is easier to read with a few short documents than with a folded section. */
const FEW = 2;

/** The documents to print one by one, and a section of the others, or null when there are few of them. */
export function splitQuiet(documents: readonly ReportDocument[]): {
  readonly shown: readonly ReportDocument[];
  readonly quiet: Section | null;
} {
  const quiet = documents.filter(isQuiet);
  if (quiet.length <= FEW) return { shown: documents, quiet: null };
  return { shown: documents.filter((document) => !isQuiet(document)), quiet: quietSection(quiet) };
}

/** Whether there is nothing but the account, a good status and a sentence. */
function isQuiet({ status, lines = [], facts, sections, next = [] }: ReportDocument): boolean {
  return status?.tone === 'good' && lines.length + facts.length + sections.length + next.length === 0;
}

function quietSection(documents: readonly ReportDocument[]): Section {
  return {
    title: 'Accounts with nothing to do',
    count: documents.length,
    quiet: true,
    groups: [
      {
        columns: [{ head: 'Account' }, { head: 'Status' }, { head: 'Result' }],
        rows: documents.map(({ title, status, headline }) => [
          title,
          status === undefined ? [] : [status.label],
          headline.flatMap((line, index) => (index === 0 ? line : [' ', ...line])),
        ]),
      },
    ],
  };
}
