// Places and lines of a text that is edited in parts.

/** A part of the text, from `start` to before `end`, and what takes its place. */
export interface Splice {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** Where the line of a character begins. */
export function lineStart(text: string, at: number): number {
  return text.lastIndexOf('\n', at - 1) + 1;
}

/** Where the next line begins. */
export function lineEnd(text: string, at: number): number {
  const end = text.indexOf('\n', at);
  return end === -1 ? text.length : end + 1;
}

/** How many characters are before it in its line. */
export function columnOf(text: string, at: number): number {
  return at - lineStart(text, at);
}

/** The line break that the text uses. */
export function lineBreak(text: string): string {
  return text.includes('\r\n') ? '\r\n' : '\n';
}

/** Lines below the line of a character, which may be the last one and lack its end. */
export function insertion(text: string, below: number, lines: readonly string[]): Splice {
  const at = lineEnd(text, below);
  const eol = lineBreak(text);
  const isOpen = at === text.length && !text.endsWith('\n');
  return { start: at, end: at, text: (isOpen ? eol : '') + lines.map((line) => line + eol).join('') };
}

/** The text with its parts replaced; of two at one place the first comes first. */
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
