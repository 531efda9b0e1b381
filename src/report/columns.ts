// Aligns rows of cells in columns. cli-table3 knows the display widths of CJK text, emoji and colour codes.
import { stripVTControlCharacters } from 'node:util';
import Table from 'cli-table3';

/** A row with a wider cell is not aligned: one long name would push the next column far to the right in every row. */
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

/** The number of characters of a text, without colour codes. */
export function shownLength(text: string): number {
  return Array.from(stripVTControlCharacters(text)).length;
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
  // No cell follows the last one, so its width does not matter.
  return row.slice(0, -1).every((cell) => shownLength(cell) <= WIDEST_CELL);
}

function drawTable(rows: readonly string[][], colAligns: ('left' | 'right')[]): string[] {
  const table = new Table({
    chars: NO_BORDERS,
    style: { 'padding-left': 0, 'padding-right': 0, head: [], border: [] },
    colAligns,
  });
  table.push(...rows);
  return table.toString().split('\n');
}
