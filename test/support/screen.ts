// What a terminal shows after a program has written to it: the few commands that the program uses, and no others.

export interface TestScreen {
  readonly columns: number;
  readonly rows: number;
  write(text: string): void;
  /** The lines up to the last one that is not empty. */
  lines(): string[];
  /** Every text that was written. */
  readonly written: string[];
}

/** A terminal of this width; wide characters are not supported. */
export function createScreen(columns = 80, rows = 24): TestScreen {
  const shown: string[] = [''];
  const written: string[] = [];
  let row = 0;
  let column = 0;

  function put(character: string): void {
    if (column === columns) {
      row += 1;
      column = 0;
    }
    const line = (shown[row] ?? '').padEnd(column);
    shown[row] = line.slice(0, column) + character + line.slice(column + 1);
    column += 1;
  }

  function control(parameter: string, command: string): void {
    if (command === 'A') row = Math.max(0, row - Number(parameter || 1));
    else if (command === 'J') {
      shown.length = row + 1;
      shown[row] = (shown[row] ?? '').slice(0, column);
    } else throw new Error(`the screen does not support ESC [ ${parameter} ${command}`);
  }

  return {
    columns,
    rows,
    written,
    write(text) {
      written.push(text);
      // eslint-disable-next-line no-control-regex
      for (const [piece, parameter, command] of text.matchAll(/\u001B\[([0-9;]*)([A-Za-z])|[^]/gu)) {
        if (command !== undefined) control(parameter ?? '', command);
        else if (piece === '\r') column = 0;
        else if (piece === '\n') {
          row += 1;
          column = 0;
          shown[row] ??= '';
        } else put(piece);
      }
    },
    lines() {
      const last = shown.findLastIndex((line) => (line ?? '').trim() !== '');
      return shown.slice(0, last + 1).map((line) => (line ?? '').trimEnd());
    },
  };
}
