// Terminal input and output: data is written to stdout or a file, everything else to stderr; colour on terminals only. And what a
// user sends to a running command: answers to its questions, and SIGINT, SIGTERM and SIGHUP, of which the first stops new
// operations and the second aborts requests in flight.
import { closeSync, existsSync, openSync, readSync, realpathSync, rmSync, statSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { StoreError, UsageError, errorCode } from '../core/errors.ts';
import { type Format, isOneDocument, type ReportOptions } from '../report/document.ts';
import { visible, visibleLines } from '../report/escape-invisible.ts';
import { setMaxListeners } from 'node:events';
import { createInterface } from 'node:readline/promises';
import { STOP_MS } from '../core/limits.ts';
import type { RunSignals } from '../core/ports/clock.ts';

export interface OutputOptions {
  readonly format: Format;
  readonly output?: string | undefined;
}

let reported = false;
let clearLive: (() => void) | null = null;
let protectedFiles: readonly string[] = [];

/** Forgets what an earlier command of this process has set. */
export function resetConsole(): void {
  protectFiles([]);
  reported = false;
  clearLive = null;
}

/** From now on `clear` is called before each output, to remove a block that would mix with it; null ends this. */
export function showLive(clear: (() => void) | null): void {
  clearLive = clear;
}

function writeStderr(text: string): void {
  clearLive?.();
  process.stderr.write(text);
}

/** Shows a message on stderr. Quoted text is escaped, so that it cannot control a terminal or a CI runner. */
export function showMessage(text: string): void {
  writeStderr(`${visibleLines(text)}\n`);
}

/** Shows each warning on its own line on stderr. */
export function showWarnings(messages: readonly string[]): void {
  for (const message of messages) writeStderr(`warning: ${visible(message)}\n`);
}

/** Shows why an account failed: one line, or one for each issue of its configuration. */
export function showFailure(account: string, { code, message }: { code: string; message: string }): void {
  const shown = code === 'config_invalid' ? visibleLines(message) : visible(message);
  writeStderr(`${visible(account)}: ${shown}\n`);
}

/** Prints a line on stdout, escaped like a message. */
export function printLine(text: string): void {
  clearLive?.();
  process.stdout.write(`${visible(text)}\n`);
}

/** Whether a report was printed, or part of one. */
export function hasReported(): boolean {
  return reported;
}

export type Output = ReturnType<typeof openOutput>;

/** How reports are printed there. */
type Rendering = Pick<ReportOptions, 'format' | 'colour' | 'width'>;

/** Opens the sink of reports: stdout, or the file of `--output`, written when closed. Throws UsageError when its file cannot be written. */
export function openOutput({ format, output }: OutputOptions) {
  // Without a terminal isTTY is undefined, and for undefined the colour library decides by $CI.
  const toTerminal = output === undefined && Boolean(process.stdout.isTTY);
  const parts: string[] = [];
  let hasPrinted = false;
  checkOutput({ output });
  async function writeOut(text: string): Promise<void> {
    reported = true;
    hasPrinted = true;
    if (output !== undefined) parts.push(text);
    else await write(process.stdout, text);
  }
  return {
    render: renderOn(toTerminal ? process.stdout : null, format),
    /** Whether the report is printed on a terminal. */
    isTerminal: toTerminal,
    /** Prints a report, if it is not empty. An empty line separates it from what was printed before, unless a report is one document. */
    async print(report: string): Promise<void> {
      if (report !== '') await writeOut(hasPrinted && !isOneDocument(format) ? `\n${report}` : report);
    },
    /** Prints text without an empty line before it. */
    write: writeOut,
    async close(): Promise<void> {
      if (output === undefined) return;
      try {
        await writeFile(output, parts.join(''));
      } catch (error) {
        await write(process.stdout, parts.join(''));
        throw new StoreError(
          'output_failed',
          `cannot write ${output} (${errorCode(error)}); the report is above`,
        );
      }
    },
  };
}

/** Prints one report, on stdout or into the file of `--output`. */
export async function printReport(
  options: OutputOptions,
  report: (render: Rendering) => string,
): Promise<void> {
  const output = openOutput(options);
  await output.print(report(output.render));
  await output.close();
}

/** How to print a report on the terminal that shows the question. */
export function terminalRender(): Rendering {
  return renderOn(process.stderr.isTTY ? process.stderr : null, 'text');
}

/** Elsewhere than on a terminal, without colours and without a limit of the width. */
function renderOn(terminal: NodeJS.WriteStream | null, format: Format): Rendering {
  return {
    format,
    colour: terminal !== null && wantsColour(),
    width: terminal === null ? Number.POSITIVE_INFINITY : terminal.columns || 100,
  };
}

/** Throws UsageError when the file of `--output` cannot be written. Leaves nothing behind. */
export function checkOutput({ output }: Pick<OutputOptions, 'output'>): void {
  if (output !== undefined) checkWritable(output, '--output');
}

/** Resolves when the text is written, also to a slow pipe. */
function write(stream: NodeJS.WriteStream, text: string): Promise<void> {
  clearLive?.();
  return new Promise((resolve) => {
    stream.write(text, () => resolve());
  });
}

function wantsColour(): boolean {
  return (process.env['NO_COLOR'] ?? '') === '' && process.env['TERM'] !== 'dumb';
}

/** From now on no output replaces one of these files: those of the configuration and of the store. */
export function protectFiles(files: readonly string[]): void {
  protectedFiles = files;
}

/** Throws UsageError when a file cannot be written. Leaves nothing behind, and the content of the file unchanged. */
export function checkWritable(file: string, flag: string): void {
  refuseOwnFile(file, flag);
  const isNew = !existsSync(file);
  try {
    closeSync(openSync(file, 'a'));
    // A command that fails later must not leave an empty report.
    if (isNew) rmSync(file, { force: true });
  } catch (error) {
    throw new UsageError(`cannot write ${file} (${errorCode(error)}); check the path of ${flag}`);
  }
  refuseDatabase(file, flag);
}

/** Throws UsageError for a file of the configuration or of the store, whatever path or link leads to it. */
function refuseOwnFile(file: string, flag: string): void {
  const place = placeOf(file);
  if (!protectedFiles.some((own) => placeOf(own) === place)) return;
  throw new UsageError(
    `${file} belongs to the configuration or to the store and was not changed; choose another file for ${flag}`,
  );
}

/** What a path leads to: the file itself, or its place in its folder if it does not exist yet. */
function placeOf(file: string): string {
  try {
    const found = statSync(file, { throwIfNoEntry: false });
    if (found !== undefined) return `${found.dev}:${found.ino}`;
    return join(realpathSync(dirname(file)), basename(file));
  } catch {
    return resolve(file);
  }
}

const SQLITE_HEADER = 'SQLite format 3\0';

/** Throws UsageError for a SQLite file or a part of one: a mistyped path must not overwrite the store. */
function refuseDatabase(file: string, flag: string): void {
  const header = Buffer.alloc(SQLITE_HEADER.length);
  const database = file.replace(/-(?:wal|shm|journal)$/u, '');
  try {
    if (!statSync(database).isFile()) return;
    const descriptor = openSync(database, 'r');
    readSync(descriptor, header, 0, header.length, 0);
    closeSync(descriptor);
  } catch {
    return; // An unreadable file is reported when it is written.
  }
  if (header.toString('latin1') !== SQLITE_HEADER) return;
  throw new UsageError(
    `${file} is a database or a part of one and was not changed; choose another file for ${flag}`,
  );
}

/** Listens until `release` is called. A second signal, or the end of `graceMs`, aborts requests in flight. */
export function listenForSignals(): RunSignals & { release(): void } {
  const stop = new AbortController();
  const kill = new AbortController();
  // Each waiting request listens, and their number is not limited. A listener is removed when its wait ends.
  setMaxListeners(0, stop.signal, kill.signal);
  let timer: NodeJS.Timeout | undefined;
  function onSignal(): void {
    if (stop.signal.aborted) return kill.abort();
    stop.abort();
    showMessage('Stopping: requests in flight are completed, no new one starts. Ctrl-C again aborts them.');
    timer = setTimeout(() => kill.abort(), STOP_MS);
  }
  // A closed terminal sends SIGHUP, sometimes more than once; only a person or a service manager aborts requests.
  function onHangUp(): void {
    if (!stop.signal.aborted) onSignal();
  }
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  process.on('SIGHUP', onHangUp);
  return {
    stop: stop.signal,
    kill: kill.signal,
    release() {
      clearTimeout(timer);
      process.off('SIGINT', onSignal);
      process.off('SIGTERM', onSignal);
      process.off('SIGHUP', onHangUp);
    },
  };
}

/** Whether there is a terminal to ask on. */
export function canAsk(): boolean {
  return process.stdin.isTTY && process.stderr.isTTY;
}

/** The line that was typed; `ended` at the end of the input (Ctrl-D), `interrupted` after Ctrl-C or when `signal` aborts. */
export async function ask(
  question: string,
  signal?: AbortSignal,
): Promise<{ readonly line: string } | 'ended' | 'interrupted'> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const stopped = new Promise<'ended' | 'interrupted'>((resolve) => {
      terminal.once('SIGINT', () => resolve('interrupted'));
      terminal.once('close', () => resolve('ended'));
    });
    const answered = terminal
      .question(visibleLines(question), signal === undefined ? {} : { signal })
      .then((line) => ({ line }))
      .catch(() => (signal?.aborted === true ? ('interrupted' as const) : ('ended' as const)));
    const answer = await Promise.race([answered, stopped]);
    if (typeof answer === 'string') process.stderr.write('\n');
    return answer;
  } finally {
    terminal.close();
  }
}

/** Asks on the terminal; the question may have several lines. Only `yes` agrees. */
export async function confirm(question: string, signal: AbortSignal): Promise<'yes' | 'no' | 'interrupted'> {
  const answer = await ask(`${question}\nOnly “yes” is accepted: `, signal);
  if (answer === 'interrupted') return answer;
  return answer !== 'ended' && answer.line.trim() === 'yes' ? 'yes' : 'no';
}
