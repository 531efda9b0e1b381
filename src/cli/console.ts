// Where a command's words go: data to stdout or a file, everything else to stderr; colour on a terminal only.
import { accessSync, closeSync, constants, existsSync, openSync, readSync, statSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { StoreError, UsageError } from '../core/errors.ts';
import { adaptHintsInText, PROGRAM, programWith } from '../report/command-hints.ts';
import { visible, visibleLines } from '../report/escape-invisible.ts';

export type Format = 'text' | 'json' | 'markdown';
export const FORMATS: readonly Format[] = ['text', 'json', 'markdown'];

export interface OutputOptions {
  readonly format: Format;
  readonly output?: string | undefined;
}

let program = PROGRAM;

/** From now on commands that are advised repeat the `--config` that was given. */
export function repeatConfig(configFile: string): void {
  program = programWith(configFile);
}

/** The text with the commands that it advises as they must be typed. */
export function adaptHints(text: string): string {
  return adaptHintsInText(text, program);
}

/** Says it on stderr; whatever it quotes commands neither a terminal nor a runner of CI. */
export function showMessage(text: string): void {
  process.stderr.write(`${visibleLines(adaptHints(text))}\n`);
}

/** Says each warning on a line of its own. */
export function showWarnings(messages: readonly string[]): void {
  for (const message of messages) process.stderr.write(`warning: ${visible(adaptHints(message))}\n`);
}

/** Says why an account's work failed: a line, or one for each problem of its configuration. */
export function showFailure(account: string, { code, message }: { code: string; message: string }): void {
  const words = adaptHints(message);
  const shown = code === 'config_invalid' ? visibleLines(words) : visible(words);
  process.stderr.write(`${visible(account)}: ${shown}\n`);
}

/** Says a line on stdout, in the same way. */
export function printLine(text: string): void {
  process.stdout.write(`${visible(adaptHints(text))}\n`);
}

/** A sink for reports: stdout, or the file of `--output`, written when closed. */
export interface Output {
  /** Whether what is printed is shown on a terminal. */
  readonly isTerminal: boolean;
  readonly render: {
    readonly format: Format;
    readonly colour: boolean;
    readonly width: number;
    readonly program: string;
  };
  print(text: string): Promise<void>;
  close(): Promise<void>;
}

let reported = false;

/** Whether a report was printed, or part of one. */
export function hasReported(): boolean {
  return reported;
}

/** Opens the sink. With `keepExisting` a file that exists already is refused. */
export function openOutput({
  format,
  output,
  keepExisting = false,
}: OutputOptions & { readonly keepExisting?: boolean }): Output {
  // Node leaves it undefined for what is no terminal, and undefined lets the colour library decide by $CI.
  const toTerminal = output === undefined && Boolean(process.stdout.isTTY);
  const parts: string[] = [];
  // Tried before anything is done: a report must not be lost after a run for a mistyped path.
  if (output !== undefined) (keepExisting ? refuseExisting : tryToOpen)(output);
  return {
    render: {
      format,
      colour: toTerminal && wantsColour(),
      width: toTerminal ? columnsOf(process.stdout) : Number.POSITIVE_INFINITY,
      program,
    },
    isTerminal: toTerminal,
    async print(text) {
      reported = true;
      if (output !== undefined) parts.push(text);
      else await write(process.stdout, text);
    },
    async close() {
      if (output === undefined) return;
      try {
        await writeFile(output, parts.join(''), { flag: keepExisting && !isDevice(output) ? 'wx' : 'w' });
      } catch (error) {
        await write(process.stdout, parts.join(''));
        throw new StoreError(
          'output_failed',
          `cannot write ${output} (${reasonOf(error)}); the report is above`,
        );
      }
    },
  };
}

/** How a report is printed on the terminal that shows the questions. */
export function terminalRender(): Output['render'] {
  const isTerminal = Boolean(process.stderr.isTTY);
  return {
    format: 'text',
    colour: isTerminal && wantsColour(),
    width: isTerminal ? columnsOf(process.stderr) : Number.POSITIVE_INFINITY,
    program,
  };
}

function columnsOf(stream: NodeJS.WriteStream): number {
  return stream.columns || 100;
}

function refuseExisting(file: string): void {
  if (isDevice(file)) return;
  if (existsSync(file)) {
    throw new UsageError(`${file} exists and was not changed; use --force to replace it`);
  }
  try {
    accessSync(dirname(file), constants.W_OK);
  } catch (error) {
    throw new UsageError(`cannot write ${file} (${reasonOf(error)}); check the path of --output`);
  }
}

/** A terminal or a pipe has nothing that could be lost. */
function isDevice(file: string): boolean {
  return statSync(file, { throwIfNoEntry: false })?.isFile() === false;
}

function tryToOpen(file: string): void {
  try {
    closeSync(openSync(file, 'a'));
  } catch (error) {
    throw new UsageError(`cannot write ${file} (${reasonOf(error)}); check the path of --output`);
  }
  refuseDatabase(file, '--output');
}

const SQLITE_HEADER = 'SQLite format 3\0';

/** A mistyped path must not cost the journal: a report never takes the place of a database. */
export function refuseDatabase(file: string, flag: string): void {
  const header = Buffer.alloc(SQLITE_HEADER.length);
  try {
    if (!statSync(file).isFile()) return;
    const descriptor = openSync(file, 'r');
    readSync(descriptor, header, 0, header.length, 0);
    closeSync(descriptor);
  } catch {
    return; // What cannot be read is told when it is written.
  }
  if (header.toString('latin1') !== SQLITE_HEADER) return;
  throw new UsageError(`${file} is a database, and was left as it is; name another file for ${flag}`);
}

function reasonOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
}

/** Resolves when the text is out, also into a slow pipe. */
function write(stream: NodeJS.WriteStream, text: string): Promise<void> {
  return new Promise((resolve) => {
    stream.write(text, () => resolve());
  });
}

function wantsColour(): boolean {
  return (process.env['NO_COLOR'] ?? '') === '' && process.env['TERM'] !== 'dumb';
}

/** Whether a person can be asked. */
export function canAsk(): boolean {
  return process.stdin.isTTY && process.stderr.isTTY;
}

export type Answer = 'yes' | 'no' | 'interrupted';

/** Asks on the terminal; only the complete word `yes` agrees. Ctrl-C and an aborted signal interrupt. */
export async function confirm(question: string, signal: AbortSignal): Promise<Answer> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const interrupted = new Promise<Answer>((resolve) => {
      terminal.once('SIGINT', () => resolve('interrupted'));
      // The end of the input (Ctrl-D) agrees to nothing, and never answers the question either.
      terminal.once('close', () => resolve('no'));
    });
    const answered = terminal
      .question(`${question} Only “yes” is accepted: `, { signal })
      .then((answer): Answer => (answer.trim() === 'yes' ? 'yes' : 'no'))
      .catch((): Answer => (signal.aborted ? 'interrupted' : 'no'));
    const answer = await Promise.race([answered, interrupted]);
    if (answer === 'interrupted') process.stderr.write('\n');
    return answer;
  } finally {
    terminal.close();
  }
}

/** A line on the terminal that shows how far the work is; nothing where nobody looks. */
export function progressLine(): { show(text: string): void; clear(): void } {
  const isTerminal = process.stderr.isTTY;
  let shown = 0;
  return {
    show(text) {
      const nowMs = Date.now();
      if (!isTerminal || nowMs - shown < 50) return;
      shown = nowMs;
      process.stderr.write(`\r\u001B[2K${visible(text).slice(0, process.stderr.columns - 1)}`);
    },
    clear() {
      if (isTerminal && shown > 0) process.stderr.write('\r\u001B[2K');
    },
  };
}
