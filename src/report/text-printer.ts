// Prints the pieces of a line as text: colours, escapes, lists, lines that are broken between words, aligned columns.
import picocolors from 'picocolors';
import type { Line, ReportOptions, Tone } from './document.ts';
import { visible, visibleName } from './escape-invisible.ts';
import { instant } from './formatting.ts';
import stringWidth from 'string-width';

/** The most items of one list that a line contains. */
const TEXT_ITEMS = 10;
const NARROWEST = 40;

export type TextOptions = Pick<ReportOptions, 'colour' | 'width' | 'verbose'>;

/** Turns the pieces of a report into text. */
export interface Printer {
  readonly inline: (line: Line) => string;
  readonly paint: (tone: Tone, text: string) => string;
  /** The text broken between words: the first line follows `head`, the others are indented by its width. */
  readonly wrap: (head: string, text: string) => string[];
  /** The widest line; infinite without a terminal. */
  readonly width: number;
  /** Whether nothing is shortened. */
  readonly verbose: boolean;
}

/** A printer for a terminal of this width, or for a file: infinite. */
export function createPrinter({ colour, width: columns, verbose = false }: TextOptions): Printer {
  const width = Math.max(NARROWEST, columns);
  const colours = picocolors.createColors(colour);
  const painters: Record<Tone, (text: string) => string> = {
    good: colours.green,
    bad: colours.red,
    warn: colours.yellow,
    quiet: colours.dim,
    strong: colours.bold,
  };
  function paint(tone: Tone, text: string): string {
    return text === '' ? '' : painters[tone](text);
  }
  function inline(line: Line): string {
    return line
      .map((part) => {
        if (typeof part === 'string') return visible(part);
        if ('code' in part) return visibleName(part.code);
        if ('time' in part) return visible(instant(part.time));
        if ('tone' in part) return paint(part.tone, inline(part.line));
        const items = verbose ? part.list : part.list.slice(0, TEXT_ITEMS);
        const shown = items.map(inline).join(', ');
        const rest = part.list.length - items.length;
        return rest > 0 ? `${shown} … and ${rest} more` : shown;
      })
      .join('');
  }
  return { inline, paint, wrap: (head, text) => wrapWords(head, text, width), width, verbose };
}

/** A space between words. YAML in braces is copied, so it is not broken. */
const UNBROKEN = / (?![^{}]*\})/;

function wrapWords(head: string, text: string, width: number): string[] {
  const indent = ' '.repeat(shownWidth(head));
  const lines: string[] = [];
  let line = head;
  let length = indent.length;
  let empty = true;
  for (const word of text.split(UNBROKEN)) {
    const wordLength = shownWidth(word);
    // A word that is longer than the line is not broken: half an id cannot be copied.
    if (!empty && length + 1 + wordLength > width) {
      lines.push(line.trimEnd());
      line = indent + word;
      length = indent.length + wordLength;
      continue;
    }
    line += empty ? word : ` ${word}`;
    length += wordLength + (empty ? 0 : 1);
    empty = false;
  }
  lines.push(line.trimEnd());
  return lines;
}

/** A row with a wider cell is not aligned: one long name would push the next column far to the right in every row. */
const WIDEST_CELL = 48;
const GAP = '  ';

/** The number of columns that a terminal uses for a text, colour codes included. */
export function shownWidth(text: string): number {
  return stringWidth(text);
}

/**
 * One line for each row, in order, with aligned columns and two spaces between them. Columns that are empty in
 * every row are left out. A row with an overlong cell is not aligned. Cells must not contain line breaks.
 */
export function alignColumns(
  rows: readonly (readonly string[])[],
  aligns: readonly ('left' | 'right')[],
): string[] {
  const used = aligns.map((_, index) => rows.some((row) => (row[index] ?? '') !== ''));
  const packed = rows.map((row) => used.flatMap((isUsed, index) => (isUsed ? [row[index] ?? ''] : [])));
  const widths = packed
    .filter(isAlignable)
    .reduce<number[]>(
      (widest, row) => row.map((cell, index) => Math.max(widest[index] ?? 0, shownWidth(cell))),
      [],
    );
  const usedAligns = aligns.filter((_, index) => used[index]);
  return packed.map((row) => {
    if (!isAlignable(row)) return row.filter((cell) => cell !== '').join(GAP);
    const cells = row.map((cell, index) => {
      const padding = ' '.repeat(Math.max(0, (widths[index] ?? 0) - shownWidth(cell)));
      return usedAligns[index] === 'right' ? padding + cell : cell + padding;
    });
    return cells.join(GAP).trimEnd();
  });
}

function isAlignable(row: readonly string[]): boolean {
  // No cell follows the last one, so its width does not matter.
  return row.slice(0, -1).every((cell) => shownWidth(cell) <= WIDEST_CELL);
}
