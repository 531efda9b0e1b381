// Prints a report as HTML. Invisible characters are escaped here, and everything that HTML interprets by hono.
import { type Child, createContext, useContext } from 'hono/jsx';
import {
  type Fact,
  type Group,
  type Line,
  type Part,
  type ReportDocument,
  type Section,
  usedColumns,
} from './document.ts';
import { visible, visibleName } from './escape-invisible.ts';
import { instant, joined, relativeTime } from './formatting.ts';

/** The items of one list that a line shows; the others unfold. */
const HTML_ITEMS = 10;

/** The lines to read first, and the message of a failure. */
export function Headline({ document: { headline = [], lines = [] } }: { readonly document: ReportDocument }) {
  return (
    <>
      {headline.map((line) => (
        <Text line={line} is="" />
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
    </>
  );
}

/** A paragraph. It may contain what unfolds. */
export function Text({ line, is = 'strong' }: { readonly line: Line; readonly is?: string }) {
  return (
    <div class={`line ${is}`}>
      <Inline line={line} />
    </div>
  );
}

/** A line, with its names, times and tones. */
export function Inline({ line }: { readonly line: Line }) {
  return (
    <>
      {line.map((part) => {
        if (typeof part === 'string') return visible(part);
        if ('code' in part) return <Code text={part.code} url={part.url} />;
        if ('time' in part) return <Instant at={part.time} />;
        if ('tone' in part) {
          return (
            <span class={part.tone}>
              <Inline line={part.line} />
            </span>
          );
        }
        return <Items {...part} />;
      })}
    </>
  );
}

/** When a page is made, to which its times are relative; null in a file, which is read at any time. */
export const PageTime = createContext<number | null>(null);

/** A UTC time. On a page it is relative, with the time itself as its title. */
export function Instant({ at }: { readonly at: string }) {
  const nowMs = useContext(PageTime);
  const text = visible(instant(at));
  if (nowMs === null) return <time datetime={visible(at)}>{text}</time>;
  return (
    <time datetime={visible(at)} title={text}>
      {visible(relativeTime(at, nowMs))}
    </time>
  );
}

/** A name, an id or a digest. A short one is not broken between lines: half an id cannot be copied. */
export function Code({ text, url }: { readonly text: string; readonly url?: string | undefined }) {
  const shown = visibleName(text);
  const code = <code class={/^\S{1,36}$/.test(shown) ? 'nowrap' : ''}>{shown}</code>;
  return url === undefined ? code : <a href={visible(url)}>{code}</a>;
}

function Items({ list, most = HTML_ITEMS }: Extract<Part, { list: unknown }>) {
  return (
    <>
      <Inline line={joined(list.slice(0, most), ', ')} />
      {list.length <= most ? null : (
        <details class="rest">
          <summary> … and {list.length - most} more</summary> <Inline line={joined(list.slice(most), ', ')} />
        </details>
      )}
    </>
  );
}

/** Facts with their labels. */
export function Facts({ facts }: { readonly facts: readonly Fact[] }) {
  if (facts.length === 0) return null;
  return (
    <dl>
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

/** A section without its title. */
export function SectionBody({ section: { intro, verbatim = [], groups } }: { readonly section: Section }) {
  return (
    <>
      {intro === undefined ? null : <Text line={intro} is="quiet" />}
      {verbatim.length === 0 ? null : <Paste lines={verbatim} />}
      {groups.map((group) => (
        <>
          {group.title === undefined ? null : <Text line={group.title} />}
          <Facts facts={group.facts ?? []} />
          <GroupTable group={group} />
        </>
      ))}
    </>
  );
}

/** Lines to copy. The script of the pages adds a button that does it. */
export function Paste({ lines }: { readonly lines: readonly string[] }) {
  return (
    <pre class="lines" tabindex={0}>
      {lines.map(visible).join('\n')}
    </pre>
  );
}

/** A table without the columns that are empty in every row. On a narrow screen a change is a line. */
function GroupTable({ group }: { readonly group: Group }) {
  const columns = usedColumns(group).map(({ head, align, index }) => ({
    head,
    ...(align === 'right' ? { is: 'number' } : {}),
    cell: (row: readonly Line[]) => <Inline line={row[index] ?? []} />,
  }));
  const name = columns[0]?.head === 'Change' ? 'report changes' : 'report';
  return <Table isPlain name={name} columns={columns} groups={[['', group.rows]]} />;
}

/** A column of a table. The first one names its row, unless `isPlain`. */
export interface TableColumn<Row> {
  readonly head: string;
  /** The class of its cells. */
  readonly is?: string;
  readonly cell: (row: Row) => Child;
}

interface TableProps<Row> {
  readonly name: string;
  readonly isPlain?: boolean;
  readonly columns: readonly TableColumn<Row>[];
  /** Rows with their title; without one they have no row for it. */
  readonly groups: readonly (readonly [title: string, rows: readonly Row[]])[];
}

/** On a narrow screen each row becomes a block. */
export function Table<Row>({ name, isPlain = false, columns, groups }: TableProps<Row>) {
  return (
    <table class={`cards ${name}`}>
      <thead>
        <tr>
          {columns.map(({ head, is }) => (
            <th scope="col" class={is}>
              {head}
            </th>
          ))}
        </tr>
      </thead>
      {groups.map(([title, rows]) =>
        rows.length === 0 ? null : (
          <tbody>
            {title === '' ? null : (
              <tr class="group">
                <th scope="rowgroup" colspan={columns.length}>
                  {title}
                </th>
              </tr>
            )}
            {rows.map((row) => (
              <tr>
                {columns.map(({ head, is, cell }, index) =>
                  index === 0 && !isPlain ? (
                    <th scope="row">{cell(row)}</th>
                  ) : (
                    <td class={is} data-head={head}>
                      {cell(row)}
                    </td>
                  ),
                )}
              </tr>
            ))}
          </tbody>
        ),
      )}
    </table>
  );
}
