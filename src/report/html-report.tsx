// Prints a report as one HTML file: no request, no script, light and dark, and complete on paper.
import { raw } from 'hono/html';
import { countedTitle, type Report, type ReportDocument, type Section, shortened } from './document.ts';
import { visible } from './escape-invisible.ts';
import { Code, Facts, Headline, Inline, SectionBody, Text } from './html.tsx';
import { FILE_STYLES, REPORT_STYLES } from './stylesheet.ts';

/** So many rows of a section, and so many accounts, are shown at once; of what affects people, more. The others unfold. */
const SHOWN = { usual: 12, lost: 50 };

/** Nothing is loaded and nothing is run, whatever the names in the report contain. */
const CONTENT_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/** The report as a complete HTML document. No row is left out: a browser lays out what is folded when it is unfolded. */
export function reportToHtml({ title, verdict, total, documents }: Report): string {
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
          {verdict === undefined ? null : <Text line={verdict} is="strong verdict" />}
          <h1>{title}</h1>
          {total === undefined ? null : <Text line={total} />}
          {documents.map((document, index) => (
            <Document document={document} isOpen={index < SHOWN.usual} />
          ))}
        </main>
      </body>
    </html>
  );
  // eslint-disable-next-line typescript/no-base-to-string -- an element prints itself, and none here is asynchronous
  return `<!doctype html>\n${String(page)}\n`;
}

/** The result, the next steps, the rows, and then what identifies it. Behind the first ones of many, the result alone. */
function Document({ document, isOpen }: { readonly document: ReportDocument; readonly isOpen: boolean }) {
  const { title, status, summary, facts = [], sections = [], next = [] } = document;
  const body = (
    <>
      <Headline document={document} />
      {next.map(({ command, purpose }) => (
        <p>
          Next: <Code text={command} /> {purpose}
        </p>
      ))}
      {sections.map((section) => (
        <FileSection section={section} />
      ))}
      {summary === undefined ? null : <Text line={summary} is="quiet" />}
      <Facts facts={facts} />
    </>
  );
  if (title.length === 0) return <article class="card">{body}</article>;
  return (
    <article class="card">
      <details open={isOpen || sections.length === 0}>
        <summary>
          <h2>
            <Inline line={title} />
          </h2>
          <span class={`strong ${status?.tone}`}>
            {visible(`${status?.label ?? ''}${status?.own ?? ''}`)}
          </span>
        </summary>
        {body}
      </details>
    </article>
  );
}

/** The first rows of a section; the others unfold. */
function FileSection({ section }: { readonly section: Section }) {
  const { title, tone, groups, quiet = false, verbatim = [] } = section;
  const first = title === '' ? Infinity : tone === 'bad' ? SHOWN.lost : SHOWN.usual;
  const shown = shortened({ title, groups }, first);
  const body = (
    <>
      <SectionBody section={{ ...section, groups: shown.groups }} />
      {shown.hidden === 0 ? null : (
        <details>
          <summary>{shown.hidden} more</summary>
          <SectionBody section={{ title, ...shortened({ title, groups }, Infinity, Infinity, first) }} />
        </details>
      )}
    </>
  );
  if (title === '') return body;
  return (
    <details open={!quiet && verbatim.length <= SHOWN.usual}>
      <summary>
        <h3 class={tone}>{countedTitle(section)}</h3>
      </summary>
      {body}
    </details>
  );
}
