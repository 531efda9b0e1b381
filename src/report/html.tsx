// Prints a report as HTML. Invisible characters are escaped here, and everything that HTML interprets by hono.
import type { Child } from 'hono/jsx';
import type { Fact, Group, Line, Section } from './document.ts';
import { firstRows, pastedBlock, type PastedBlock, usedColumns } from './shown-parts.ts';
import { visible, visibleName } from './escape-invisible.ts';
import { instant } from './formatting.ts';

/** The most items of one list that a line contains. */
const HTML_ITEMS = 10;

/** How a long section is cut. */
export interface Shortening {
  /** The most rows of one section. */
  readonly rows: number;
  /** The end of the sentence that counts the rest: where all rows are. */
  readonly rest: Child;
}

/** The lines to read first, and the message of a failure. */
export function Headline({
  headline,
  lines,
}: {
  readonly headline: readonly Line[];
  readonly lines: readonly Line[];
}) {
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
    </>
  );
}

export function Summary({ line }: { readonly line: Line }) {
  return (
    <p class="strong">
      <Inline line={line} />
    </p>
  );
}

/** A line, with its names, times and tones. */
export function Inline({ line }: { readonly line: Line }) {
  return (
    <>
      {line.map((part) => {
        if (typeof part === 'string') return <Prose text={part} />;
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

/** What rolecall writes in backticks begins with one of these words: text from outside adds no elements to a page. */
const WORDS =
  'rolecall|apply|plan|dump|validate|formerly|approvedDeletes|policy|protect|store|skills|roles|accounts|extends|schema|url|expires|credentials|trust|retention|api|http|daemon';

/**
 * Commands and settings in backticks. A name in quotation marks may have backticks and quotation marks of its own, so
 * everything up to the last one stays.
 */
const CODE = new RegExp(
  String.raw`(“.*”|"(?:[^"\\]|\\.)*")|${'`'}((?:${WORDS})\b[\w .,:/=*'…<>-]*)${'`'}`,
  'gsu',
);

/** A sentence. What it has in backticks, such as a command, is shown as code. */
export function Prose({ text }: { readonly text: string }) {
  const shown = visible(text);
  const parts: Child[] = [];
  let end = 0;
  for (const { 0: found, 2: command, index } of shown.matchAll(CODE)) {
    if (command === undefined) continue;
    parts.push(shown.slice(end, index), <code>{command}</code>);
    end = index + found.length;
  }
  return <>{[...parts, shown.slice(end)]}</>;
}

/** A UTC time. `brief` omits seconds and zone, for tables whose heads name UTC. */
export function Instant({ at, brief = false }: { readonly at: string; readonly brief?: boolean }) {
  const text = visible(instant(at));
  return <time datetime={visible(at)}>{brief ? text.replace(/:\d\d UTC$/, '') : text}</time>;
}

/** A name, an id or a digest. A short one is not broken between lines: half an id cannot be copied. */
export function Code({ text }: { readonly text: string }) {
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

/** The levels of the headings of sections; those of their groups are one lower. */
type HeadingLevel = 2 | 3;

interface SectionsProps {
  readonly sections: readonly Section[];
  readonly shortening: Shortening;
  readonly level?: HeadingLevel;
}

/** The sections. A long one is cut after complete rows, with the count of the rest. A quiet one is folded. */
export function Sections({ sections, shortening, level = 2 }: SectionsProps) {
  const Heading = `h${level}` as const;
  const paste = pastedBlock(sections, ({ groups }) => firstRows(groups, shortening.rows).groups);
  return (
    <>
      {sections.map((section) => {
        const title = section.count === undefined ? section.title : `${section.title} (${section.count})`;
        const body = (
          <>
            <SectionBody section={section} shortening={shortening} level={level} />
            {paste?.after === section ? <PasteBlock paste={paste} /> : null}
          </>
        );
        if (section.title === '') return body;
        if (!section.quiet) {
          return (
            <section>
              <Heading>{title}</Heading>
              {body}
            </section>
          );
        }
        return (
          <details>
            <summary>
              <Heading>{title}</Heading>
            </summary>
            {body}
          </details>
        );
      })}
    </>
  );
}

interface SectionBodyProps {
  readonly section: Section;
  readonly shortening: Shortening;
  readonly level: HeadingLevel;
}

/** The groups of a section, without its title. */
export function SectionBody({ section, shortening, level }: SectionBodyProps) {
  const { groups, hidden } = firstRows(section.groups, shortening.rows);
  const GroupHeading = level === 2 ? 'h3' : 'h4';
  return (
    <>
      {section.intro === undefined ? null : (
        <p class="quiet">
          <Inline line={section.intro} />
        </p>
      )}
      {section.verbatim === undefined ? null : <pre>{section.verbatim.map(visible).join('\n')}</pre>}
      {groups.map((group) => (
        <>
          {group.title === undefined ? null : (
            <GroupHeading>
              <Inline line={group.title} />
            </GroupHeading>
          )}
          <Facts facts={group.facts ?? []} />
          <GroupTable group={group} />
        </>
      ))}
      {hidden === 0 ? null : (
        <p class="quiet">
          … and {hidden} more; {shortening.rest}.
        </p>
      )}
    </>
  );
}

/** Lines to copy into a file. */
export function PasteBlock({ paste: { intro, lines, hidden } }: { readonly paste: PastedBlock }) {
  const rest = hidden === 0 ? [] : [`  # … and ${hidden} more`];
  return (
    <>
      <p>
        <Inline line={intro} />
      </p>
      <pre class="lines" tabindex={0}>
        {[...lines, ...rest].join('\n')}
      </pre>
    </>
  );
}

interface GroupTableProps {
  readonly group: Group;
  /** The address that the first cell of a row links to. */
  readonly addressOf?: (cell: Line) => string | undefined;
}

/** A table without the columns that are empty in every row. On a narrow screen each row becomes a block. */
export function GroupTable({ group, addressOf }: GroupTableProps) {
  const used = usedColumns(group);
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
        {group.rows.slice().map((row) => (
          <tr>
            {used.map(({ head, align, index }) => (
              <td class={alignment(align)} data-head={head}>
                <Cell line={row[index] ?? []} address={index === 0 ? addressOf?.(row[0] ?? []) : undefined} />
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Cell({ line, address }: { readonly line: Line; readonly address: string | undefined }) {
  if (address === undefined) return <Inline line={line} />;
  return (
    <a href={address}>
      <Inline line={line} />
    </a>
  );
}
