// Prints the pieces of a line as text: colours, escapes, lists, and lines that are broken between words.
import picocolors from 'picocolors';
import { shownWidth } from './columns.ts';
import type { Line, ReportOptions, Tone } from './document.ts';
import { visible, visibleName } from './escape-invisible.ts';
import { instant } from './formatting.ts';

/** The most items of one list that a line contains. */
const TEXT_ITEMS = 10;
const NARROWEST = 40;

export type TextOptions = Pick<ReportOptions, 'colour' | 'width' | 'verbose'>;

/** Turns the pieces of a report into text. */
export interface Printer {
  readonly inline: (line: Line) => string;
  readonly paint: (tone: Tone, text: string) => string;
  /** The text broken between words: the first line follows `head`, the others are indented by its width. */
  readonly wrap: (head: string, text: string) => string[];
  /** The widest line; infinite without a terminal. */
  readonly width: number;
  /** Whether nothing is shortened. */
  readonly verbose: boolean;
}

/** A printer for a terminal of this width, or for a file: infinite. */
export function createPrinter({ colour, width: columns, verbose = false }: TextOptions): Printer {
  const width = Math.max(NARROWEST, columns);
  const colours = picocolors.createColors(colour);
  const painters: Record<Tone, (text: string) => string> = {
    good: colours.green,
    bad: colours.red,
    warn: colours.yellow,
    quiet: colours.dim,
    strong: colours.bold,
  };
  function paint(tone: Tone, text: string): string {
    return text === '' ? '' : painters[tone](text);
  }
  function inline(line: Line): string {
    return line
      .map((part) => {
        if (typeof part === 'string') return visible(part);
        if ('code' in part) return visibleName(part.code);
        if ('time' in part) return visible(instant(part.time));
        if ('tone' in part) return paint(part.tone, inline(part.line));
        const items = verbose ? part.list : part.list.slice(0, TEXT_ITEMS);
        const shown = items.map(inline).join(', ');
        const rest = part.list.length - items.length;
        return rest > 0 ? `${shown} … and ${rest} more` : shown;
      })
      .join('');
  }
  return { inline, paint, wrap: (head, text) => wrapWords(head, text, width), width, verbose };
}

/** A space between words. YAML in braces is copied, so it is not broken. */
const UNBROKEN = / (?![^{}]*\})/;

function wrapWords(head: string, text: string, width: number): string[] {
  const indent = ' '.repeat(shownWidth(head));
  const lines: string[] = [];
  let line = head;
  let length = indent.length;
  let empty = true;
  for (const word of text.split(UNBROKEN)) {
    const wordLength = shownWidth(word);
    // A word that is longer than the line is not broken: half an id cannot be copied.
    if (!empty && length + 1 + wordLength > width) {
      lines.push(line.trimEnd());
      line = indent + word;
      length = indent.length + wordLength;
      continue;
    }
    line += empty ? word : ` ${word}`;
    length += wordLength + (empty ? 0 : 1);
    empty = false;
  }
  lines.push(line.trimEnd());
  return lines;
}
