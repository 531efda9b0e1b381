// Judged on the bare text, before the YAML parser sees it: what would only confuse it or keep it busy for seconds.

/** What structures YAML, line ends included: the parser's time goes by these, not by the length of the names. */
const MAX_MARKS = 150_000;
const MARKS = new Set(Buffer.from('\n\\[]{},:-?"\'&*!%|>#'));
const NESTED = /(?:[[{]\s*|[-?] +){100}/u;
const CONFLICT = /^(?:<{7}|>{7})(?: .*)?\r?$/gmu;

/** Offsets of the lines that git writes into a file that it could not merge; only the first of each conflict. */
export function conflictMarkers(text: string): number[] {
  const marks = [...text.matchAll(CONFLICT)];
  const begins = marks.filter(([mark]) => mark.startsWith('<'));
  return (begins.length > 0 ? begins : marks).slice(0, 50).map((mark) => mark.index);
}

/** Where brackets or dashes are heaped up beyond any use; the parser's time grows faster than their number. */
export function tooDeepAt(text: string): number | undefined {
  return NESTED.exec(text)?.index;
}

/** The offset at which the text holds more structure than is read: some 50,000 names, or 20,000 renames. */
export function tooMuchAt(text: string): number | undefined {
  let marks = 0;
  for (let at = 0; at < text.length; at += 1) {
    if (MARKS.has(text.charCodeAt(at))) marks += 1;
    if (marks > MAX_MARKS) return at;
  }
  return undefined;
}
