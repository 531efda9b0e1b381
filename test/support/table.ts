// A table of plain text for what a long test has tried.

/** Aligns the columns. */
export function table(head: readonly string[], lines: readonly (readonly string[])[]): string {
  const rows = [head, ...lines];
  const widths = head.map((_, index) => Math.max(...rows.map((row) => row[index]?.length ?? 0)));
  const padded = rows.map((row) =>
    row
      .map((cell, index) => cell.padEnd(widths[index] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  return `\n${padded.join('\n')}\n`;
}
