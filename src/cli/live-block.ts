// A few lines at the bottom of a terminal that are drawn again in place, and removed before anything else is written.
import stringWidth from 'string-width';

/** What is needed of `process.stderr`. */
export interface Screen {
  readonly columns?: number;
  readonly rows?: number;
  write(text: string): unknown;
}

export interface LiveBlock {
  /** Replaces the lines that are shown. */
  draw(lines: readonly string[]): void;
  /** Removes the lines; the cursor is where the first one began. */
  clear(): void;
}

const TO_LINE_START = '\r';
const ERASE_BELOW = '\u001B[J';

export function createLiveBlock(screen: Screen): LiveBlock {
  let shown: readonly string[] = [];

  function columns(): number {
    return screen.columns || 80;
  }

  /** Moves to where the block began. After the terminal became narrower, a line takes several rows. */
  function erase(): string {
    const rows = shown.reduce((sum, line) => sum + Math.max(1, Math.ceil(stringWidth(line) / columns())), 0);
    return rows === 0 ? '' : `${TO_LINE_START}${rows > 1 ? `\u001B[${rows - 1}A` : ''}${ERASE_BELOW}`;
  }

  return {
    draw(lines) {
      // The last column stays free: some terminals wrap when it is written.
      const fitting = lines
        .slice(0, Math.max(1, (screen.rows || 24) - 1))
        .map((line) => cutToWidth(line, columns() - 1));
      if (fitting.join('\n') === shown.join('\n')) return;
      screen.write(erase() + fitting.join('\n'));
      shown = fitting;
    },
    clear() {
      if (shown.length > 0) screen.write(erase());
      shown = [];
    },
  };
}

/** The text, cut to this number of columns by complete characters; `…` marks the cut. */
export function cutToWidth(text: string, width: number): string {
  if (stringWidth(text) <= width) return text;
  let cut = '';
  let used = 0;
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    used += stringWidth(segment);
    if (used > width - 1) break;
    cut += segment;
  }
  return `${cut}…`;
}
