// Prints a report as one HTML file: no request, no script, light and dark, and complete on paper.
import { raw } from 'hono/html';
import type { Line, Report, ReportDocument } from './document.ts';
import { visible, visibleName } from './escape-invisible.ts';
import { Code, Facts, GroupTable, Headline, Inline, Sections, type Shortening, Summary } from './html.tsx';
import { splitQuiet } from './shown-parts.ts';
import { FILE_STYLES, REPORT_STYLES } from './stylesheet.ts';
import { instant } from './formatting.ts';

/** The most rows of one section: more would take a browser many seconds to show. */
const FILE_ROWS = 10_000;

function shortening(rows: number): Shortening {
  const rest = (
    <>
      <code class="nowrap">--verbose</code> shows all of them
    </>
  );
  return { rows, rest };
}

/** Nothing is loaded and nothing is run, whatever the names in the report contain. */
const CONTENT_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/** The report as a complete HTML document. Sections of more than FILE_ROWS rows are cut, unless it is `verbose`. */
export function reportToHtml(report: Report, verbose = false): string {
  const most = shortening(verbose ? Number.POSITIVE_INFINITY : FILE_ROWS);
  // eslint-disable-next-line typescript/no-base-to-string -- an element prints itself, and none here is asynchronous
  const page = String(<Page report={report} most={most} />);
  return `<!doctype html>\n${page}\n`;
}

interface PageProps {
  readonly report: Report;
  readonly most: Shortening;
}

function Page({ report, most }: PageProps) {
  const [document, ...others] = report.documents;
  const isSingle = document !== undefined && others.length === 0;
  const subject = isSingle ? escapedText(document.title) : '';
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta http-equiv="Content-Security-Policy" content={CONTENT_POLICY} />
        <title>{subject === '' ? report.title : `${subject} · ${report.title}`}</title>
        <style>{raw(REPORT_STYLES + FILE_STYLES)}</style>
      </head>
      <body>
        <main>
          {report.verdict === undefined ? null : <Summary line={report.verdict} />}
          {isSingle ? (
            <Single title={report.title} document={document} most={most} />
          ) : (
            <Several report={report} most={most} />
          )}
        </main>
      </body>
    </html>
  );
}

interface ContentProps {
  readonly document: ReportDocument;
  readonly most: Shortening;
}

function Single({ title, document, most }: ContentProps & { readonly title: string }) {
  return (
    <>
      {document.title.length === 0 ? null : <p class="quiet">{title}</p>}
      <h1>{document.title.length === 0 ? title : <Inline line={document.title} />}</h1>
      <Content document={document} most={most} level={2} />
    </>
  );
}

function Several({ report: { title, total, documents }, most }: PageProps) {
  const { shown, quiet } = splitQuiet(documents);
  const anchors = new Map(
    shown.map((document, index) => [escapedText(document.title), `account-${index + 1}`]),
  );
  const addressOf = (cell: Line): string | undefined => {
    const anchor = anchors.get(escapedText(cell));
    return anchor === undefined ? undefined : `#${anchor}`;
  };
  return (
    <>
      <h1>{title}</h1>
      {total === undefined ? null : (
        <>
          <Summary line={total.line} />
          <GroupTable group={total.table} addressOf={addressOf} />
        </>
      )}
      {shown.map((document, index) => (
        <article id={`account-${index + 1}`}>
          <h2>
            <Inline line={document.title} />
          </h2>
          <Content document={document} most={most} level={3} />
        </article>
      ))}
      {quiet === null ? null : <Sections sections={[quiet]} shortening={most} />}
    </>
  );
}

/** A document below its heading: the result, the numbers, the next steps, and then the rows. */
function Content({ document, most, level }: ContentProps & { readonly level: 2 | 3 }) {
  const { status, headline, lines = [], summary = [], facts, sections, next = [] } = document;
  return (
    <>
      {status === undefined ? null : <p class={`strong ${status.tone}`}>{visible(status.label)}</p>}
      <Headline headline={headline} lines={lines} />
      {summary.length === 0 ? null : <Summary line={summary} />}
      {next.map(({ command, purpose }) => (
        <p>
          Next: <Code text={command} /> {purpose}
        </p>
      ))}
      <Facts facts={facts} />
      <Sections sections={sections} shortening={most} level={level} />
    </>
  );
}

/** The escaped text of a line. Lists are complete. */
export function escapedText(line: Line): string {
  return line
    .map((part) => {
      if (typeof part === 'string') return visible(part);
      if ('code' in part) return visibleName(part.code);
      if ('time' in part) return visible(instant(part.time));
      return 'tone' in part ? escapedText(part.line) : part.list.map(escapedText).join(', ');
    })
    .join('');
}
