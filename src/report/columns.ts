// Aligns rows of cells in columns, by the width that a terminal shows: CJK text is twice as wide, colour codes have none.
import stringWidth from 'string-width';

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
