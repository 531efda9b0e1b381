// Judged on the bare text, before the YAML parser sees it: what would only confuse it or keep it busy for seconds.

const MAX_LINES = 50_000;
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

/** The offset at which the file goes beyond the lines that are read. */
export function tooManyLines(text: string): number | undefined {
  let at = -1;
  for (let lines = 0; lines < MAX_LINES; lines += 1) {
    at = text.indexOf('\n', at + 1);
    if (at === -1) return undefined;
  }
  return at + 1 < text.length ? at + 1 : undefined;
}
