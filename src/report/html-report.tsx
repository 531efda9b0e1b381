// Prints a report as one HTML file: no request, no script, light and dark, and complete on paper.
import { raw } from 'hono/html';
import { countedTitle, type Report, type ReportDocument, type Section, shortened } from './document.ts';
import { visible } from './escape-invisible.ts';
import { Code, Facts, Headline, Inline, SectionBody, Summary } from './html.tsx';
import { FILE_STYLES, REPORT_STYLES } from './stylesheet.ts';

/** The most rows of one section: more would take a browser many seconds to show. */
const FILE_ROWS = 10_000;

/** Nothing is loaded and nothing is run, whatever the names in the report contain. */
const CONTENT_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/** The report as a complete HTML document. Sections of more than FILE_ROWS rows are cut, unless it is `verbose`. */
export function reportToHtml({ title, verdict, total, documents }: Report, verbose = false): string {
  const most = verbose ? Number.POSITIVE_INFINITY : FILE_ROWS;
  const page = (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta http-equiv="Content-Security-Policy" content={CONTENT_POLICY} />
        <title>{title}</title>
        <style>{raw(REPORT_STYLES + FILE_STYLES)}</style>
      </head>
      <body>
        <main>
          {verdict === undefined ? null : <Summary line={verdict} />}
          <h1>{title}</h1>
          {total === undefined ? null : <Summary line={total} />}
          {documents.map((document) => (
            <Document document={document} most={most} />
          ))}
        </main>
      </body>
    </html>
  );
  // eslint-disable-next-line typescript/no-base-to-string -- an element prints itself, and none here is asynchronous
  return `<!doctype html>\n${String(page)}\n`;
}

/** The result, the numbers, the next steps, and then the rows. */
function Document({ document, most }: { readonly document: ReportDocument; readonly most: number }) {
  const { title, status, summary, facts = [], sections = [], next = [] } = document;
  return (
    <article>
      {title.length === 0 ? null : (
        <h2>
          <Inline line={title} />
        </h2>
      )}
      {status === undefined ? null : (
        <p class={`strong ${status.tone}`}>{visible(`${status.label}${status.own ?? ''}`)}</p>
      )}
      <Headline document={document} />
      {summary === undefined ? null : <Summary line={summary} />}
      {next.map(({ command, purpose }) => (
        <p>
          Next: <Code text={command} /> {purpose}
        </p>
      ))}
      <Facts facts={facts} />
      {sections.map((section) => (
        <FileSection section={section} most={most} />
      ))}
    </article>
  );
}

/** A long section is cut after complete rows, with the count of the rest. A quiet one is folded. */
function FileSection({ section, most }: { readonly section: Section; readonly most: number }) {
  const { groups, verbatim, hidden } = shortened(section, most);
  const body = (
    <>
      <SectionBody section={{ ...section, groups, verbatim }} />
      {hidden === 0 ? null : (
        <p class="quiet">
          … and {hidden} more; <code class="nowrap">--verbose</code> shows all of them.
        </p>
      )}
    </>
  );
  if (section.title === '') return body;
  const heading = <h3>{countedTitle(section)}</h3>;
  if (section.quiet) {
    return (
      <details>
        <summary>{heading}</summary>
        {body}
      </details>
    );
  }
  return (
    <section>
      {heading}
      {body}
    </section>
  );
}
