// Prints a report as Markdown for a comment on a pull request. GitHub accepts 65,536 characters, GitLab more. Text from outside is
// escaped, so that it adds no mark-up, mention, reference, link or table cell.
import type { Fact, Group, Line, Report, ReportDocument, Section } from './document.ts';
import { firstRows, pastedBlock, type PastedBlock, splitQuiet, usedColumns } from './shown-parts.ts';
import { visible, visibleName } from './escape-invisible.ts';
import { instant } from './formatting.ts';

/** The longest report, in UTF-16 code units: below GitHub's limit, with room for text around the report. */
export const MARKDOWN_LIMIT = 60_000;
/** How many rows of each section are printed: the first of these numbers with which the report is short enough. */
const ROW_LIMITS = [1000, 500, 200, 100, 50, 25, 10, 3, 0];
const ITEMS = 10;
/** The lines of an error that remain when no rows do: without them nobody knows what to fix. */
const ERROR_LINES = 3;
/** The most characters of the list of accounts that failed. */
const FAILED_LENGTH = 10_000;
/** Longer sections are folded. */
const FOLDED_FROM = 20;
const CLOSING_ROOM = 300;

/** The report in at most MARKDOWN_LIMIT characters. It omits complete rows, then complete accounts, and counts them. */
export function reportToMarkdown(report: Report): string {
  for (const rowLimit of ROW_LIMITS) {
    const blocks = printWithin(report, rowLimit);
    if (blocks !== null) return join(blocks);
  }
  return join(mostImportant(report));
}

/** The report, or null when it is too long with this number of rows. */
function printWithin(report: Report, rowLimit: number): string[] | null {
  const blocks: string[] = [];
  let left = MARKDOWN_LIMIT;
  for (const block of printReport(report, rowLimit)) {
    blocks.push(block);
    left -= block.length + 2;
    if (left < 0) return null;
  }
  return blocks;
}

/** The report without rows, and only with the documents that fit: those that failed before the others. */
function mostImportant(report: Report): string[] {
  const [opening = '', ...documents] = printReport(report, 0);
  const { shown } = splitQuiet(report.documents);
  // Only the section of the accounts with nothing to do has no document.
  const isUrgent = (index: number): boolean => (shown[index]?.status?.tone ?? 'bad') === 'bad';
  const order = documents.map((_, index) => index);
  const byUrgency = [...order.filter(isUrgent), ...order.filter((index) => !isUrgent(index))];
  let left = MARKDOWN_LIMIT - CLOSING_ROOM - opening.length;
  const kept = new Set<number>();
  for (const index of byUrgency) {
    left -= (documents[index]?.length ?? 0) + 2;
    if (left < 0) break;
    kept.add(index);
  }
  const dropped = documents.length - kept.size;
  return [
    opening,
    ...documents.filter((_, index) => kept.has(index)),
    `_… and ${dropped} more omitted (length limit); \`--format json\` shows everything._`,
  ];
}

function join(blocks: readonly string[]): string {
  return `${blocks.join('\n\n')}\n`;
}

/** One block for the verdict, the title and the total, one for each document, and one for all accounts with nothing to do. */
function* printReport({ title, verdict, total, documents }: Report, rowLimit: number): Generator<string> {
  const opening = [...(verdict === undefined ? [] : [`**${inline(verdict)}**`]), `## ${escapeProse(title)}`];
  if (total !== undefined) {
    opening.push(`**${inline(total.line)}**`, ...printFailed(documents));
    opening.push(...printGroups([total.table], rowLimit));
  }
  yield opening.join('\n\n');
  const { shown, quiet } = splitQuiet(documents);
  for (const document of shown) yield printDocument(document, rowLimit);
  if (quiet !== null) yield printSection(quiet, rowLimit).join('\n\n');
}

/** The accounts that failed, by name: their rows and their documents may be omitted. */
function printFailed(documents: readonly ReportDocument[]): string[] {
  const names = documents.filter(({ status }) => status?.tone === 'bad').map(({ title }) => inline(title));
  let length = 0;
  const listed = names.filter((name) => (length += name.length + 2) <= FAILED_LENGTH);
  const rest = names.length - listed.length;
  if (names.length === 0) return [];
  return [`Failed or blocked: ${listed.join(', ')}${rest > 0 ? ` … and ${rest} more` : ''}`];
}

function printDocument(document: ReportDocument, rowLimit: number): string {
  const blocks: string[] = [];
  const status = document.status === undefined ? '' : `: ${escapeProse(document.status.label)}`;
  if (document.title.length > 0) blocks.push(`### ${inline(document.title)}${status}`);
  if (document.summary !== undefined) blocks.push(`**${inline(document.summary)}**`);
  const mostLines = document.status?.tone === 'bad' ? Math.max(rowLimit, ERROR_LINES) : rowLimit;
  blocks.push(...document.headline.map(block), ...printLines(document.lines ?? [], mostLines));
  if (document.facts.length > 0) blocks.push(printFacts(document.facts));
  const paste = pastedBlock(document.sections, ({ groups }) => firstRows(groups, rowLimit).groups);
  for (const section of document.sections) {
    blocks.push(...printSection(section, rowLimit));
    if (paste?.after === section && paste.lines.length > 1) blocks.push(...printPaste(paste));
  }
  for (const { command, purpose } of document.next ?? []) {
    blocks.push(`Next: ${codeSpan(command)} ${escapeProse(purpose)}`);
  }
  return blocks.join('\n\n');
}

function printLines(lines: readonly Line[], rowLimit: number): string[] {
  if (lines.length === 0) return [];
  const hidden = lines.length - rowLimit;
  const items = lines.slice(0, rowLimit).map((line) => `- ${block(line)}`);
  if (hidden > 0)
    items.push(`- _… and ${hidden} more omitted (length limit); \`--format json\` shows everything._`);
  return [items.join('\n')];
}

function printFacts(facts: readonly Fact[]): string {
  return facts.map((fact) => `${escapeProse(fact.label)}: ${inline(fact.line)}`).join(' · ');
}

function printSection(section: Section, rowLimit: number): string[] {
  const title = section.count === undefined ? section.title : `${section.title} (${section.count})`;
  const body = section.intro === undefined ? [] : [block(section.intro)];
  if (section.verbatim !== undefined) body.push(codeBlock(section.verbatim, rowLimit));
  body.push(...printGroups(section.groups, rowLimit));
  const rows = section.groups.reduce((sum, group) => sum + group.rows.length, 0);
  if (section.title === '') return body;
  if (!section.quiet && rows <= FOLDED_FROM) return [`#### ${escapeProse(title)}`, ...body];
  // The blank lines between these blocks are needed: without them GitHub reads the content as HTML.
  return ['<details>', `<summary>${escapeProse(title)}</summary>`, ...body, '</details>'];
}

/** A short line takes a tenth of the room of a row. */
const LINES_PER_ROW = 10;

/** A fenced block, in which GitHub interprets nothing. The fence is longer than every run of backticks in it. */
function codeBlock(lines: readonly string[], rowLimit: number): string {
  const shown = lines.slice(0, rowLimit * LINES_PER_ROW).map(visible);
  const hidden = lines.length - shown.length;
  if (hidden > 0)
    shown.push(`# … and ${hidden} more lines omitted (length limit); --format json shows everything`);
  const longest = Math.max(0, ...shown.flatMap((line) => line.match(/`+/gu) ?? []).map((run) => run.length));
  const fence = '`'.repeat(Math.max(3, longest + 1));
  return [fence, ...shown, fence].join('\n');
}

function printGroups(groups: readonly Group[], rowLimit: number): string[] {
  const blocks: string[] = [];
  const { groups: shown, hidden } = firstRows(groups, rowLimit);
  for (const group of shown) {
    if (group.title !== undefined) blocks.push(`**${inline(group.title)}**`);
    if (group.facts !== undefined && group.facts.length > 0) {
      blocks.push(group.facts.map((fact) => `- ${escapeProse(fact.label)}: ${inline(fact.line)}`).join('\n'));
    }
    blocks.push(printTable(group));
  }
  if (hidden > 0) {
    const rest = rowLimit === 0 ? `${hidden} rows` : `… and ${hidden} more`;
    blocks.push(`_${rest} omitted (length limit); \`--format json\` shows everything._`);
  }
  return blocks;
}

/** YAML as a block of code, cut after complete items. A line of it never begins with the sign that ends the block. */
function printPaste({ intro, lines, hidden }: PastedBlock): string[] {
  const rest = hidden === 0 ? [] : [`  # … and ${hidden} more omitted (length limit)`];
  return [inline(intro), ['```yaml', ...lines, ...rest, '```'].join('\n')];
}

function printTable(group: Group): string {
  const used = usedColumns(group);
  return [
    tableRow(used.map(({ head }) => escapeProse(head))),
    tableRow(used.map(({ align }) => (align === 'right' ? '--:' : '---'))),
    ...group.rows.slice().map((row) => tableRow(used.map(({ index }) => inline(row[index] ?? [])))),
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
      if ('code' in part) return codeSpan(part.code);
      if ('time' in part) return escapeProse(instant(part.time));
      if ('tone' in part) return inline(part.line);
      const shown = part.list.slice(0, ITEMS).map(inline).join(', ');
      const rest = part.list.length - ITEMS;
      return rest > 0 ? `${shown} … and ${rest} more` : shown;
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
