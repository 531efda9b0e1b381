// Writes tables as CSV (RFC 4180) that is safe to open in a spreadsheet.

/** A spreadsheet may run a cell that begins like this as a formula. */
const FORMULA = /^[=+\-@\t\r]/u;

/** Rows with CRLF line ends. A cell that begins with `=`, `+`, `-` or `@` gets a leading apostrophe. */
export function toCsv(rows: readonly (readonly string[])[]): string {
  return rows.map((row) => `${row.map(cell).join(',')}\r\n`).join('');
}

/** Whether a spreadsheet could run the text, so that `toCsv` changes it. */
export function looksLikeFormula(text: string): boolean {
  return FORMULA.test(text);
}

function cell(text: string): string {
  const safe = looksLikeFormula(text) ? `'${text}` : text;
  return /[",\r\n]/u.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
