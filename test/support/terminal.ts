// The built program on its own terminal, through the `script` command.
import { execFileSync, spawn } from 'node:child_process';
import { onTestFinished } from 'vitest';
import { PROGRAM } from './workspace.ts';

function canRun(): boolean {
  try {
    execFileSync('script', ['-qec', 'test -t 0 && test -t 1 && test -t 2', '/dev/null'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** Whether a terminal is available here. */
export const hasTerminal = canRun();

export interface TerminalOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** A line that is typed once the program asks. */
  readonly answer?: string;
  /** Keys that are typed in place of the line, such as Ctrl-C. */
  readonly keys?: string;
  /** What the shell appends to the command, such as `> file`. */
  readonly redirect?: string;
}

/** Runs the program in a folder on a terminal. Resolves with everything that was shown. */
export function onTerminal(
  folder: string,
  args: readonly string[],
  options: TerminalOptions = {},
): Promise<{ readonly status: number | null; readonly output: string }> {
  const words = [process.execPath, PROGRAM, ...args].map((part) => `'${part}'`);
  const command = [...words, options.redirect ?? ''].join(' ');
  const typed = options.keys ?? (options.answer === undefined ? undefined : `${options.answer}\n`);
  const child = spawn('script', ['-qec', command, '/dev/null'], {
    cwd: folder,
    env: { PATH: process.env['PATH'] ?? '', HOME: folder, TERM: 'xterm', SHELL: '/bin/sh', ...options.env },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let output = '';
  let isTyped = false;
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
    if (isTyped || typed === undefined || !output.includes('is accepted:')) return;
    isTyped = true;
    child.stdin.write(typed);
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (status) => resolve({ status, output }));
  });
}

/** Runs the program on a terminal. Each text is typed when the program has shown the one beside it. */
export function typedOnTerminal(
  folder: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  typed: readonly (readonly [shown: string, keys: string])[],
): Promise<{ readonly status: number | null; readonly output: string }> {
  const command = [process.execPath, PROGRAM, ...args].map((part) => `'${part}'`).join(' ');
  const child = spawn('script', ['-qec', command, '/dev/null'], {
    cwd: folder,
    env: { PATH: process.env['PATH'] ?? '', HOME: folder, TERM: 'xterm', SHELL: '/bin/sh', ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const remaining = [...typed];
  let output = '';
  let seen = 0;
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
    for (let [next] = remaining; next !== undefined && output.includes(next[0], seen); [next] = remaining) {
      seen = output.length;
      child.stdin.write(next[1]);
      remaining.shift();
    }
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (status) => resolve({ status, output }));
  });
}
