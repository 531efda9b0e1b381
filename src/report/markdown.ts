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
/** How many rows of each section are printed: the first of these numbers with which the document is short enough. */
const FEWEST_ROWS = 3;
const ROW_LIMITS = [1000, 500, 200, 100, 50, 25, 10, FEWEST_ROWS];
const ITEMS = 10;
/** Longer sections are folded. */
const FOLDED_FROM = 20;
/** The room for the line that counts what is omitted. */
const CLOSING_ROOM = 100;

/**
 * The report in at most MARKDOWN_LIMIT characters: complete rows for the documents that matter most, then a line for each
 * other one. What failed matters most, then what several accounts have in common, then the order of the report counts.
 */
export function reportToMarkdown({ title, verdict, total, documents }: Report): string {
  const head = [
    ...(verdict === undefined ? [] : [`**${inline(verdict)}**`]),
    `## ${escapeProse(title)}`,
    ...(total === undefined ? [] : [`**${inline(total)}**`]),
  ];
  const rank = ({ status, accounts = 1 }: ReportDocument): number =>
    status?.tone === 'bad' ? 2 : Number(accounts > 1);
  const ordered = documents.toSorted((a, b) => rank(b) - rank(a));
  const lines = linesWithin(ordered, MARKDOWN_LIMIT / 2);
  let left = MARKDOWN_LIMIT - CLOSING_ROOM - head.join('\n\n').length - lengthOf([...lines.values()]);
  const printed = new Map<ReportDocument, string>();
  for (const [index, document] of ordered.entries()) {
    const room = left + lengthOf([lines.get(document) ?? '']);
    const text = printWithin(document, room, index === ordered.length - 1);
    if (text === null) continue;
    printed.set(document, text);
    left = room - lengthOf([text]);
  }
  const blocks = [...head, ...documents.flatMap((document) => printed.get(document) ?? [])];
  const rest = documents.filter((document) => !printed.has(document));
  if (rest.length > 0) {
    const dropped = rest.reduce((sum, each) => sum + (lines.has(each) ? 0 : (each.accounts ?? 1)), 0);
    blocks.push(rest.flatMap((each) => lines.get(each) ?? []).join('\n'));
    blocks.push(omitted(dropped === 0 ? 'Their rows are' : `… and ${dropped} more, and rows,`));
  }
  return `${blocks.join('\n\n')}\n`;
}

function lengthOf(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + text.length + 2, 0);
}

/** One line for each document, as far as they fit. */
function linesWithin(documents: readonly ReportDocument[], room: number): Map<ReportDocument, string> {
  const lines = new Map<ReportDocument, string>();
  let left = room;
  for (const document of documents) {
    const line = `- ${heading(document)}`;
    left -= lengthOf([line]);
    if (left < 0) break;
    lines.set(document, line);
  }
  return lines;
}

/** The document with as many rows as half of the room has, or all of it for the last one; null if not even few fit. */
function printWithin(document: ReportDocument, room: number, isLast: boolean): string | null {
  const share = isLast ? room : room / 2;
  for (const rowLimit of ROW_LIMITS) {
    const text = printDocument(document, rowLimit);
    if (lengthOf([text]) <= (rowLimit === FEWEST_ROWS ? room : share)) return text;
  }
  return null;
}

function omitted(what: string): string {
  return `_${what} omitted (length limit); \`--format json\` shows everything._`;
}

function printDocument(document: ReportDocument, rowLimit: number): string {
  const { title, summary, headline = [], lines = [], facts = [], sections = [], next = [] } = document;
  const hidden = lines.length - rowLimit;
  const items = lines.slice(0, rowLimit).map((line) => `- ${block(line)}`);
  if (hidden > 0) items.push(`- ${omitted(`… and ${hidden} more`)}`);
  return [
    ...(title.length === 0 ? [] : [`### ${heading(document)}`]),
    ...(summary === undefined ? [] : [`**${inline(summary)}**`]),
    ...headline.map(block),
    ...(items.length === 0 ? [] : [items.join('\n')]),
    ...(facts.length === 0 ? [] : [facts.map(printFact).join(' · ')]),
    ...sections.flatMap((section) => printSection(section, rowLimit)),
    ...next.map(({ command, purpose }) => `Next: ${codeSpan(command)} ${escapeProse(purpose)}`),
  ].join('\n\n');
}

/** The title with the status. */
function heading({ title, status }: ReportDocument): string {
  const label = status === undefined ? '' : `: ${escapeProse(`${status.label}${status.own ?? ''}`)}`;
  return `${inline(title)}${label}`;
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
    ...(hidden === 0 ? [] : [omitted(`… and ${hidden} more`)]),
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
