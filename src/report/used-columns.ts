// Chooses the columns of a table that a format prints.
import type { Column, Group } from './document.ts';

/** The columns that fit the width and are not empty in every row, with their positions. */
export function usedColumns(
  { columns, rows }: Pick<Group, 'columns' | 'rows'>,
  width = Number.POSITIVE_INFINITY,
): (Column & { readonly index: number })[] {
  return columns.flatMap((column, index) => {
    const { from = 0, until } = column;
    const fits = width >= from && (until === undefined || width < until);
    return fits && rows.some((row) => (row[index] ?? []).length > 0) ? [{ ...column, index }] : [];
  });
}
