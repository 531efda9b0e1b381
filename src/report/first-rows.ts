// Cuts the rows of a section, for formats that limit them over all groups together.
import type { Group } from './document.ts';

/** The groups with at most `most` rows together, without those that lose all of them; and how many rows are left out. */
export function firstRows(
  groups: readonly Group[],
  most: number,
): { readonly groups: readonly Group[]; readonly hidden: number } {
  const kept: Group[] = [];
  let left = most;
  let hidden = 0;
  for (const group of groups) {
    const rows = group.rows.slice(0, left);
    left -= rows.length;
    hidden += group.rows.length - rows.length;
    if (rows.length > 0) kept.push({ ...group, rows });
  }
  return { groups: kept, hidden };
}
