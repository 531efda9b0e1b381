// Prints a report as HTML. Invisible characters are escaped here, and everything that HTML interprets by hono.
import type { Child } from 'hono/jsx';
import type { Fact, Group, Line, ReportDocument, Section } from './document.ts';
import { visible, visibleName } from './escape-invisible.ts';
import { instant } from './formatting.ts';

/** The most rows of one section that are shown; the rest is counted. */
const HTML_ROWS = 500;
/** The most items of one list that a line contains. */
const HTML_ITEMS = 20;

interface DocumentProps {
  readonly document: ReportDocument;
  /** The address of the complete report as JSON. */
  readonly jsonAt: string;
}

/** A document without its title and status, which are the heading of the page. */
export function DocumentBody({ document, jsonAt }: DocumentProps) {
  return (
    <>
      <DocumentHead document={document} />
      <Sections sections={document.sections} jsonAt={jsonAt} />
    </>
  );
}

/** What precedes the sections of a document. */
export function DocumentHead({ document }: Pick<DocumentProps, 'document'>) {
  const { headline, lines = [], summary, facts } = document;
  return (
    <>
      {headline.map((line) => (
        <p>
          <Inline line={line} />
        </p>
      ))}
      {lines.length === 0 ? null : (
        <div class="notice bad lines">
          {lines.map((line) => (
            <div>
              <Inline line={line} />
            </div>
          ))}
        </div>
      )}
      <Summary line={summary} />
      <Facts facts={facts} />
    </>
  );
}

interface ChangesProps extends DocumentProps {
  /** Between the summary and the changes. */
  readonly children?: Child;
}

/** Only the summary and the changes of a document. */
export function DocumentChanges({ document, jsonAt, children }: ChangesProps) {
  return (
    <>
      <Summary line={document.summary} />
      {children}
      <Sections sections={document.sections} jsonAt={jsonAt} />
    </>
  );
}

export function Summary({ line }: { readonly line: Line | undefined }) {
  return line === undefined ? null : (
    <p class="strong">
      <Inline line={line} />
    </p>
  );
}

/** A line of a document. */
export function Inline({ line }: { readonly line: Line }) {
  return (
    <>
      {line.map((part) => {
        if (typeof part === 'string') return visible(part);
        if ('code' in part) return <Code text={part.code} />;
        if ('time' in part) return <Instant at={part.time} />;
        if ('tone' in part) {
          return (
            <span class={part.tone}>
              <Inline line={part.line} />
            </span>
          );
        }
        return <Items items={part.list} />;
      })}
    </>
  );
}

/** A UTC time. `brief` omits seconds and zone, for tables whose heads say UTC. */
export function Instant({ at, brief = false }: { readonly at: string; readonly brief?: boolean }) {
  const text = visible(instant(at));
  return <time datetime={visible(at)}>{brief ? text.replace(/:\d\d UTC$/, '') : text}</time>;
}

/** A name, an id or a digest. A short one is not broken between lines: half an id cannot be copied. */
function Code({ text }: { readonly text: string }) {
  const shown = visibleName(text);
  return <code class={/^\S{1,36}$/.test(shown) ? 'nowrap' : ''}>{shown}</code>;
}

function Items({ items }: { readonly items: readonly Line[] }) {
  const rest = items.length - HTML_ITEMS;
  return (
    <>
      {items.slice(0, HTML_ITEMS).map((item, index) => (
        <>
          {index === 0 ? '' : ', '}
          <Inline line={item} />
        </>
      ))}
      {rest > 0 ? ` … and ${rest} more` : ''}
    </>
  );
}

interface FactsProps {
  readonly facts: readonly Fact[];
  /** Further facts before them, as `dt` and `dd`. */
  readonly children?: Child;
}

/** Facts with their labels. */
export function Facts({ facts, children }: FactsProps) {
  if (facts.length === 0 && children === undefined) return null;
  return (
    <dl>
      {children}
      {facts.map(({ label, line }) => (
        <>
          <dt>{label}</dt>
          <dd>
            <Inline line={line} />
          </dd>
        </>
      ))}
    </dl>
  );
}

interface SectionsProps {
  readonly sections: readonly Section[];
  readonly jsonAt: string;
}

/** The sections. A long one is cut after complete rows, with the count of the rest. A quiet one is folded. */
function Sections({ sections, jsonAt }: SectionsProps) {
  return (
    <>
      {sections.map((section) => {
        const title = section.count === undefined ? section.title : `${section.title} (${section.count})`;
        const body = <SectionBody section={section} jsonAt={jsonAt} />;
        if (!section.quiet) {
          return (
            <section>
              <h2>{title}</h2>
              {body}
            </section>
          );
        }
        return (
          <details>
            <summary>
              <h2>{title}</h2>
            </summary>
            {body}
          </details>
        );
      })}
    </>
  );
}

function SectionBody({ section, jsonAt }: { readonly section: Section; readonly jsonAt: string }) {
  const { groups, hidden } = firstRows(section.groups);
  return (
    <>
      {section.intro === undefined ? null : (
        <p class="quiet">
          <Inline line={section.intro} />
        </p>
      )}
      {groups.map((group) => (
        <GroupBody group={group} />
      ))}
      {hidden === 0 ? null : (
        <p class="quiet">
          … and {hidden} more; <a href={jsonAt}>the JSON report</a> lists all of them.
        </p>
      )}
    </>
  );
}

/** A group with its title, its facts and its rows. */
export function GroupBody({ group }: { readonly group: Group }) {
  return (
    <>
      {group.title === undefined ? null : (
        <h3>
          <Inline line={group.title} />
        </h3>
      )}
      <Facts facts={group.facts ?? []} />
      <GroupTable group={group} />
    </>
  );
}

/** The groups with at most HTML_ROWS rows together, and how many rows are left out. */
function firstRows(groups: readonly Group[]): { readonly groups: readonly Group[]; readonly hidden: number } {
  const kept: Group[] = [];
  let left = HTML_ROWS;
  let hidden = 0;
  for (const group of groups) {
    const rows = group.rows.slice(0, left);
    left -= rows.length;
    hidden += group.rows.length - rows.length;
    if (rows.length > 0) kept.push({ ...group, rows });
  }
  return { groups: kept, hidden };
}

/** A table without the columns that are empty in every row. On a narrow screen each row becomes a block. */
function GroupTable({ group }: { readonly group: Group }) {
  const used = group.columns.flatMap((column, index) =>
    group.rows.some((row) => (row[index] ?? []).length > 0) ? [{ ...column, index }] : [],
  );
  const alignment = (align: string | undefined) => (align === 'right' ? 'number' : '');
  return (
    <table class={`cards report ${group.tone ?? ''}`}>
      <thead>
        <tr>
          {used.map(({ head, align }) => (
            <th scope="col" class={alignment(align)}>
              {head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {group.rows.map((row) => (
          <tr>
            {used.map(({ head, align, index }) => (
              <td class={alignment(align)} data-head={head}>
                <Inline line={row[index] ?? []} />
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
