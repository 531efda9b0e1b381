// Prints a report as Markdown for a comment on a pull request. GitHub accepts 65,536 characters, GitLab more. Text from outside is
// escaped, so that it adds no mark-up, mention, reference, link or table cell.
import {
  countedTitle,
  type Fact,
  type Group,
  type Line,
  type Report,
  type ReportDocument,
  type Section,
  shortened,
  usedColumns,
} from './document.ts';
import { visible, visibleName } from './escape-invisible.ts';
import { instant } from './formatting.ts';

/** The longest report, in UTF-16 code units: below GitHub's limit, with room for text around the report. */
export const MARKDOWN_LIMIT = 60_000;
/** How many rows of each section are printed: the first of these numbers with which the report is short enough. */
const ROW_LIMITS = [1000, 500, 200, 100, 50, 25, 10, 3, 0];
const ITEMS = 10;
/** The lines of an error that remain when no rows do: without them nobody knows what to fix. */
const ERROR_LINES = 3;
/** Longer sections are folded. */
const FOLDED_FROM = 20;
/** The room for the line that counts what is omitted. */
const CLOSING_ROOM = 100;

/** The report in at most MARKDOWN_LIMIT characters. It omits complete rows, then complete accounts, and counts them. */
export function reportToMarkdown(report: Report): string {
  for (const rowLimit of ROW_LIMITS) {
    const { blocks, dropped } = printWithin(report, rowLimit);
    if (dropped === 0) return `${blocks.join('\n\n')}\n`;
    if (rowLimit === 0) return `${[...blocks, omitted(`… and ${dropped} more`)].join('\n\n')}\n`;
  }
  throw new Error('the last of the row limits is 0');
}

/** The documents that fit with this number of rows. Those that failed get their room before the others. */
function printWithin({ title, verdict, total, documents }: Report, rowLimit: number) {
  const blocks = [
    ...(verdict === undefined ? [] : [`**${inline(verdict)}**`]),
    `## ${escapeProse(title)}`,
    ...(total === undefined ? [] : [`**${inline(total)}**`]),
  ];
  const isBad = ({ status }: ReportDocument): boolean => status?.tone === 'bad';
  const ordered = documents.toSorted((a, b) => Number(isBad(b)) - Number(isBad(a)));
  let left = MARKDOWN_LIMIT - CLOSING_ROOM - blocks.join('\n\n').length;
  const fitting = new Map<ReportDocument, string>();
  for (const document of ordered) {
    const text = printDocument(document, rowLimit);
    left -= text.length + 2;
    if (left < 0) break;
    fitting.set(document, text);
  }
  blocks.push(...documents.flatMap((document) => fitting.get(document) ?? []));
  const dropped = documents.filter((document) => !fitting.has(document));
  return { blocks, dropped: dropped.reduce((sum, { accounts = 1 }) => sum + accounts, 0) };
}

function omitted(what: string): string {
  return `_${what} omitted (length limit); \`--format json\` shows everything._`;
}

function printDocument(document: ReportDocument, rowLimit: number): string {
  const {
    title,
    status,
    summary,
    headline = [],
    lines = [],
    facts = [],
    sections = [],
    next = [],
  } = document;
  const label = status === undefined ? '' : `: ${escapeProse(`${status.label}${status.own ?? ''}`)}`;
  const mostLines = status?.tone === 'bad' ? Math.max(rowLimit, ERROR_LINES) : rowLimit;
  const hidden = lines.length - mostLines;
  const items = lines.slice(0, mostLines).map((line) => `- ${block(line)}`);
  if (hidden > 0) items.push(`- ${omitted(`… and ${hidden} more`)}`);
  return [
    ...(title.length === 0 ? [] : [`### ${inline(title)}${label}`]),
    ...(summary === undefined ? [] : [`**${inline(summary)}**`]),
    ...headline.map(block),
    ...(items.length === 0 ? [] : [items.join('\n')]),
    ...(facts.length === 0 ? [] : [facts.map(printFact).join(' · ')]),
    ...sections.flatMap((section) => printSection(section, rowLimit)),
    ...next.map(({ command, purpose }) => `Next: ${codeSpan(command)} ${escapeProse(purpose)}`),
  ].join('\n\n');
}

function printFact({ label, line }: Fact): string {
  return `${escapeProse(label)}: ${inline(line)}`;
}

function printSection(section: Section, rowLimit: number): string[] {
  const { groups, verbatim, hidden } = shortened(section, rowLimit);
  const body = [
    ...(section.intro === undefined ? [] : [block(section.intro)]),
    // No line of YAML begins with the sign that ends the block.
    ...(verbatim.length === 0 ? [] : [['```yaml', ...verbatim.map(visible), '```'].join('\n')]),
    ...printGroups(groups, hidden),
  ];
  if (section.title === '') return body;
  const title = escapeProse(countedTitle(section));
  const rows = section.groups.reduce((sum, group) => sum + group.rows.length, 0);
  if (!section.quiet && rows <= FOLDED_FROM) return [`#### ${title}`, ...body];
  // The blank lines between these blocks are needed: without them GitHub reads the content as HTML.
  return ['<details>', `<summary>${title}</summary>`, ...body, '</details>'];
}

function printGroups(groups: readonly Group[], hidden: number): string[] {
  return [
    ...groups.flatMap((group) => [
      ...(group.title === undefined ? [] : [`**${inline(group.title)}**`]),
      ...(group.facts === undefined || group.facts.length === 0
        ? []
        : [group.facts.map((fact) => `- ${printFact(fact)}`).join('\n')]),
      printTable(group),
    ]),
    ...(hidden === 0 ? [] : [omitted(groups.length === 0 ? `${hidden} rows` : `… and ${hidden} more`)]),
  ];
}

function printTable(group: Group): string {
  const used = usedColumns(group);
  return [
    tableRow(used.map(({ head }) => escapeProse(head))),
    tableRow(used.map(({ align }) => (align === 'right' ? '--:' : '---'))),
    ...group.rows.map((row) => tableRow(used.map(({ index }) => inline(row[index] ?? [])))),
  ].join('\n');
}

function tableRow(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}

/** A line that begins a paragraph. It must not be read as the item of a list. */
function block(line: Line): string {
  // Four leading spaces would make it a code block.
  return inline(line)
    .trimStart()
    .replace(LIST_START, (_, lead: string, mark: string) => lead + entity(mark));
}

function inline(line: Line): string {
  return line
    .map((part) => {
      if (typeof part === 'string') return escapeProse(part);
      if ('code' in part && part.url !== undefined)
        return `[${codeSpan(part.code)}](<${visible(part.url).replace(/[<>\\\s|`]/g, encodeURIComponent)}>)`;
      if ('code' in part) return codeSpan(part.code);
      if ('time' in part) return escapeProse(instant(part.time));
      if ('tone' in part) return inline(part.line);
      const { list, most = ITEMS } = part;
      const shown = list.slice(0, most).map(inline).join(', ');
      return list.length > most ? `${shown} … and ${list.length - most} more` : shown;
    })
    .join('');
}

/** Not possible in a backtick span: a backtick ends it, a pipe ends a table cell, a backslash may escape either. */
const UNFIT_FOR_SPAN = /[`|\\]/;

/**
 * A name or id as code, in which GitHub makes no mentions, references, links or emoji. Text that does not fit into a
 * backtick span becomes a `<code>` element with every special character as an entity.
 */
export function codeSpan(text: string): string {
  const shown = visibleName(text);
  return UNFIT_FOR_SPAN.test(shown) ? codeElement(shown) : `\`${shown}\``;
}

/**
 * Text that GitHub and GitLab interpret beyond Markdown: mentions, references to issues, merge requests, labels, epics and
 * milestones, bare links, emoji codes, formulas.
 */
const LINKED = /@|[#!&%^]\d|GH-\d|[~%]["\w]|:\/\/|www\.|:[a-z][\w+-]*:|\$/i;
const MARK_UP = /[#&*<>[\\\]^_`{|}~]/g;
const PUNCTUATION = /[!-/:-@[-`{-~]/g;
const LIST_START = /^(\s*\d*)([-+.)])/;

/** Prose without anything that Markdown, HTML or GitHub interprets. Prose with a mention or a link becomes code. */
export function escapeProse(text: string): string {
  const shown = visible(text);
  if (LINKED.test(shown)) return codeElement(shown);
  return shown.replace(MARK_UP, entity);
}

function codeElement(text: string): string {
  return `<code>${text.replace(PUNCTUATION, entity)}</code>`;
}

function entity(character: string): string {
  return `&#${character.codePointAt(0) ?? 0};`;
}
