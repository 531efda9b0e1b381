// Renders a report in the requested format: json prints the value itself, with exactly the fields of the published schema in
// its order; the other formats print the model. HTML is one file: no request, no script, light and dark, complete on paper.
import {
  type Report,
  type ReportOptions,
  toned,
  countedTitle,
  type ReportDocument,
  type Section,
  shortened,
} from './document.ts';
import { reportToMarkdown } from './markdown.ts';

import { reportToText } from './text.ts';
import { visibleJson, visible } from './escape-invisible.ts';
import { z } from 'zod';
import {
  type OperationRecord,
  type RunRecord,
  operationRecordSchema,
  runRecordSchema,
} from '../core/schemas.ts';
import type { RunDetail } from '../core/ports/journal-reader.ts';
import { raw } from 'hono/html';
import { Code, Facts, Headline, Inline, SectionBody, Text } from './html.tsx';
import { FILE_STYLES, REPORT_STYLES } from './stylesheet.ts';

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

/** The run's own fields. */
export function runToJson(run: RunRecord): RunRecord {
  return publishedFields(runRecordSchema, run);
}

/** The run with its operations, warnings and plan, as in the published JSON. */
export function runReportToJson({ run, operations, warnings, plan, earlierHolders }: RunDetail) {
  return {
    ...runToJson(run),
    operations: operations.map(operationToJson),
    warnings,
    plan,
    ...(earlierHolders === undefined ? {} : { earlierHolders }),
  };
}

export function operationToJson(operation: OperationRecord): Omit<OperationRecord, 'runId'> {
  return publishedFields(operationRecordSchema, operation);
}

/**
 * The value with exactly the fields of its schema and its version, in the schema's order, also in what it contains: a record of
 * the store may have more fields than its type.
 */
export function publishedFields<T>(schema: unknown, value: T): T {
  // Each schema mirrors the type of its values, so that only fields beyond both are missing.
  return pick(schema, value) as T;
}

function pick(schema: unknown, value: unknown): unknown {
  if (schema instanceof z.ZodNullable || schema instanceof z.ZodOptional) return pick(schema.unwrap(), value);
  if (schema instanceof z.ZodArray && Array.isArray(value))
    return value.map((element) => pick(schema.element, element));
  if (!(schema instanceof z.ZodObject) || typeof value !== 'object' || value === null) return value;
  const given = new Map<string, unknown>(Object.entries(value));
  return Object.fromEntries(
    Object.entries(schema.shape).flatMap(([key, field]) => {
      if (key === 'schemaVersion') return [[key, 1]];
      return given.has(key) ? [[key, pick(field, given.get(key))]] : [];
    }),
  );
}

/** So many rows of a section, and so many accounts, are shown at once; of what affects people, more. The others unfold. */
const SHOWN = { usual: 12, lost: 50 };

/** Nothing is loaded and nothing is run, whatever the names in the report contain. */
const CONTENT_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/** The report as a complete HTML document. No row is left out: a browser lays out what is folded when it is unfolded. */
function reportToHtml({ title, verdict, total, documents }: Report): string {
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
