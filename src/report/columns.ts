// Rows of cells to aligned lines. The display widths of CJK, emoji and colour codes are cli-table3's business.
import { createRequire } from 'node:module';
import { stripVTControlCharacters } from 'node:util';
import type CliTable3 from 'cli-table3';

/** A cell wider than this is not worth aligning its neighbours to: one such name would push a whole column away. */
const WIDEST_CELL = 48;

const NO_BORDERS = {
  top: '',
  'top-mid': '',
  'top-left': '',
  'top-right': '',
  bottom: '',
  'bottom-mid': '',
  'bottom-left': '',
  'bottom-right': '',
  left: '',
  'left-mid': '',
  mid: '',
  'mid-mid': '',
  right: '',
  'right-mid': '',
  middle: '  ',
};

/** How many characters of a text are seen, colour codes aside. */
export function shownLength(text: string): number {
  return Array.from(stripVTControlCharacters(text)).length;
}

/**
 * One line for each row, in order, with columns aligned and two spaces between them. Columns that are empty in
 * every row vanish; a row with an overlong cell is printed whole, unaligned. Cells must not hold line breaks.
 */
export function alignColumns(
  rows: readonly (readonly string[])[],
  aligns: readonly ('left' | 'right')[],
): string[] {
  const used = aligns.map((_, index) => rows.some((row) => (row[index] ?? '') !== ''));
  const packed = rows.map((row) => used.flatMap((isUsed, index) => (isUsed ? [row[index] ?? ''] : [])));
  const alignable = packed.filter(isAlignable);
  const lines =
    alignable.length === 0
      ? []
      : drawTable(
          alignable,
          aligns.filter((_, index) => used[index]),
        );
  let next = 0;
  return packed.map((row) => {
    if (!isAlignable(row)) return row.filter((cell) => cell !== '').join('  ');
    next += 1;
    return (lines[next - 1] ?? '').trimEnd();
  });
}

function isAlignable(row: readonly string[]): boolean {
  // Nothing stands to the right of the last cell, so it may be as wide as it likes.
  return row.slice(0, -1).every((cell) => shownLength(cell) <= WIDEST_CELL);
}

function drawTable(rows: readonly string[][], colAligns: ('left' | 'right')[]): string[] {
  // Loaded when first needed: json and markdown never draw a table, and every command pays for start-up.
  const Table = createRequire(import.meta.url)('cli-table3') as typeof CliTable3;
  const table = new Table({
    chars: NO_BORDERS,
    style: { 'padding-left': 0, 'padding-right': 0, head: [], border: [] },
    colAligns,
  });
  table.push(...rows);
  return table.toString().split('\n');
}
