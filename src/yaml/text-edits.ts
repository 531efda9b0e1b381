// Finds lines and columns of a text, and replaces parts of it.

/** The replacement of a part of the text, from `start` to before `end`. */
export interface Splice {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** The offset at which the line of a character starts. */
export function lineStart(text: string, at: number): number {
  return text.lastIndexOf('\n', at - 1) + 1;
}

/** The offset at which the next line starts. */
export function lineEnd(text: string, at: number): number {
  const end = text.indexOf('\n', at);
  return end === -1 ? text.length : end + 1;
}

/** The offset at which the line of a character ends, before its line break. */
export function lineBreakAt(text: string, at: number): number {
  return lineEnd(text, at) - (/\r?\n$/.exec(text.slice(at, lineEnd(text, at)))?.[0].length ?? 0);
}

/** The number of characters before it in its line. */
export function columnOf(text: string, at: number): number {
  return at - lineStart(text, at);
}

/** The line break that the text uses. */
export function lineBreak(text: string): string {
  return text.includes('\r\n') ? '\r\n' : '\n';
}

/** Inserts lines below the line of a character, which may be the last line and have no line break. */
export function insertion(text: string, below: number, lines: readonly string[]): Splice {
  const at = lineEnd(text, below);
  const eol = lineBreak(text);
  const isOpen = at === text.length && !text.endsWith('\n');
  return { start: at, end: at, text: (isOpen ? eol : '') + lines.map((line) => line + eol).join('') };
}

/** Applies the replacements. Two insertions at one offset keep their order. */
export function spliced(text: string, splices: readonly Splice[]): string {
  const sorted = splices.toSorted((a, b) => a.start - b.start || a.end - b.end);
  let result = '';
  let at = 0;
  for (const { start, end, text: replacement } of sorted) {
    result += text.slice(at, start) + replacement;
    at = Math.max(at, end);
  }
  return result + text.slice(at);
}
