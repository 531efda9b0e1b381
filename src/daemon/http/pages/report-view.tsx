// The report model as HTML: what the other formats print of a plan or run, with the same words.
import type { Child } from 'hono/jsx';
import type { Fact, Group, Line, Section } from '../../../report/document.ts';
import { visible, visibleName } from '../../../report/escape-invisible.ts';

/** Rows of one section that a page shows before it counts the rest. */
export const PAGE_ROWS = 500;
/** Items of one list within a cell. */
const PAGE_ITEMS = 20;

/** One line. Whatever a piece holds, it stays text: what cannot be seen is written out, and hono escapes the rest. */
export function Inline({ line }: { readonly line: Line }) {
  return (
    <>
      {line.map((part) => {
        if (typeof part === 'string') return visible(part);
        if ('code' in part) return <Code text={part.code} />;
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

/** A name, an id, a digest. Short ones are not broken between lines: half an id is of no use. */
export function Code({ text }: { readonly text: string }) {
  const shown = visibleName(text);
  return <code class={/^\S{1,36}$/.test(shown) ? 'whole' : ''}>{shown}</code>;
}

function Items({ items }: { readonly items: readonly Line[] }) {
  const rest = items.length - PAGE_ITEMS;
  return (
    <>
      {items.slice(0, PAGE_ITEMS).map((item, index) => (
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
  /** What comes before them, as `dt` and `dd`. */
  readonly children?: Child;
}

/** Facts with their labels. */
export function Facts({ facts, children }: FactsProps) {
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

/** The sections, each shortened by whole rows with the count of the rest; `allAt` is where everything is. */
export function Sections({
  sections,
  allAt,
}: {
  readonly sections: readonly Section[];
  readonly allAt: string;
}) {
  return (
    <>
      {sections.map((section) => {
        const title = section.count === undefined ? section.title : `${section.title} (${section.count})`;
        const body = <SectionBody section={section} allAt={allAt} />;
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

function SectionBody({ section, allAt }: { readonly section: Section; readonly allAt: string }) {
  const { groups, hidden } = firstRows(section.groups);
  return (
    <>
      {section.intro === undefined ? null : (
        <p class="quiet">
          <Inline line={section.intro} />
        </p>
      )}
      {groups.map((group) => (
        <>
          {group.title === undefined ? null : (
            <h3>
              <Inline line={group.title} />
            </h3>
          )}
          {group.facts === undefined || group.facts.length === 0 ? null : <Facts facts={group.facts} />}
          <GroupTable group={group} />
        </>
      ))}
      {hidden === 0 ? null : (
        <p class="quiet">
          … and {hidden} more; <a href={allAt}>the JSON</a> has them all.
        </p>
      )}
    </>
  );
}

/** The groups with PAGE_ROWS rows at most between them, and how many rows are left out. */
function firstRows(groups: readonly Group[]): { readonly groups: readonly Group[]; readonly hidden: number } {
  const kept: Group[] = [];
  let left = PAGE_ROWS;
  let hidden = 0;
  for (const group of groups) {
    const rows = group.rows.slice(0, left);
    left -= rows.length;
    hidden += group.rows.length - rows.length;
    if (rows.length > 0) kept.push({ ...group, rows });
  }
  return { groups: kept, hidden };
}

/** A table of the columns that have something in them; on a narrow screen each row becomes a block of its own. */
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
