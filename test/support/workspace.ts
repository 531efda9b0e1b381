// A folder with a configuration and a store, and the built program run in it: in the process of the test, or as its own.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SQLite } from '../../src/system/sqlite.ts';
import { onTestFinished } from 'vitest';
import { makeFolder } from './folder.ts';
import { runInProcess } from './in-process.ts';

/** The built program: of this tree, or of the folder `ROLECALL_DIST` to test another build. */
export const PROGRAM = resolve(
  process.env['ROLECALL_DIST'] ?? fileURLToPath(new URL('../../dist', import.meta.url)),
  'main.js',
);

export interface Result {
  readonly status: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running {
  readonly process: ChildProcess;
  readonly ended: Promise<Result>;
  /** What it has printed so far. */
  output(): { readonly stdout: string; readonly stderr: string };
}

export interface Workspace {
  readonly folder: string;
  /** Writes a file below the folder, in one step for concurrent readers; folders are created. */
  write(path: string, text: string): void;
  /**
   * Runs the program to its end with `--config` of this workspace, in the process of the test where that makes no
   * difference.
   */
  run(args: readonly string[], options?: RunOptions): Promise<Result>;
  /** Starts the program as a process of its own, with `--config` of this workspace. */
  start(args: readonly string[], options?: RunOptions): Running;
  /** Rows of a query on the workspace's store. */
  rows<T>(sql: string, ...values: unknown[]): T[];
  /** Runs statements on the workspace's store. */
  execute(sql: string, ...values: unknown[]): void;
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  /** Without the `--config` that points to this workspace. */
  readonly withoutConfig?: boolean;
  /** Whether the test is about the process: its exit, its streams, or what only a fresh one has. */
  readonly asProcess?: boolean;
  /** Whether the test is about the progress on stderr. */
  readonly keepsProgress?: boolean;
}

export const TOKEN_VARIABLE = 'ACME_TOKEN';

/** The `api` of a service file in tests: shorter waits than the real defaults. */
export const QUICK_API = '{ requestsPerSecond: 1000, timeout: 2s, settle: 2500ms, retries: 2 }';

/** Makes a workspace that is removed when the test ends. `token` is the value of ACME_TOKEN for the program. */
export function makeWorkspace(token: string): Workspace {
  const folder = makeFolder();
  const store = join(folder, 'data/rolecall.db');

  const commandLine = (args: readonly string[], { withoutConfig = false }: RunOptions): string[] => [
    ...(withoutConfig ? [] : ['--config', join(folder, 'config/rolecall.yaml')]),
    ...args,
  ];
  const environment = ({ env }: RunOptions): Record<string, string> => ({
    PATH: process.env['PATH'] ?? '',
    HOME: folder,
    // A test's home contains only what the test is about.
    NODE_DISABLE_COMPILE_CACHE: '1',
    [TOKEN_VARIABLE]: token,
    ...env,
  });

  function start(args: readonly string[], options: RunOptions = {}): Running {
    const child = spawn(process.execPath, [PROGRAM, ...commandLine(args, options)], {
      cwd: folder,
      env: environment(options),
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    child.stdin.on('error', () => undefined);
    child.stdin.end(options.input ?? '');
    const ended = new Promise<Result>((resolve, reject) => {
      child.on('error', reject);
      child.on('close', (status, signal) => resolve({ status, signal, stdout, stderr }));
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    return { process: child, ended, output: () => ({ stdout, stderr }) };
  }

  async function run(args: readonly string[], options: RunOptions = {}): Promise<Result> {
    if (needsProcess(args, options)) return await start(args, options).ended;
    const output = await runInProcess({
      program: PROGRAM,
      args: commandLine(args, options),
      cwd: folder,
      env: environment(options),
    });
    // A busy machine is so slow that progress is shown.
    return {
      ...output,
      stderr: options.keepsProgress ? output.stderr : withoutProgress(output.stderr),
      signal: null,
    };
  }

  function open(): SQLite.Database {
    return new SQLite(store, { fileMustExist: true });
  }

  return {
    folder,
    write(path, text) {
      const file = join(folder, path);
      const temporary = `${file}.new`;
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(temporary, text);
      renameSync(temporary, file);
    },
    start,
    run,
    rows<T>(sql: string, ...values: unknown[]): T[] {
      const db = open();
      try {
        return db.prepare(sql).all(...values) as T[];
      } finally {
        db.close();
      }
    },
    execute(sql, ...values) {
      const db = open();
      try {
        db.prepare(sql).run(...values);
      } finally {
        db.close();
      }
    },
  };
}

function withoutProgress(stderr: string): string {
  const progress =
    /^.*(?:reading the lists of the service, \d of 3|: planning|\d+ of \d+ (?:operation|account)s?, .*|verifying: waiting .*|reading them again.*)\n/gm;
  return stderr.replaceAll(progress, '');
}

function needsProcess(args: readonly string[], { asProcess, input, env }: RunOptions): boolean {
  if (asProcess === true || input !== undefined || env?.['NODE_OPTIONS'] !== undefined) return true;
  if (process.env['ROLECALL_TEST_PROCESSES'] === '1') return true;
  // These end by a signal, set the environment of their process, or print with its console.
  return args.some((argument) => ['serve', 'sandbox', 'demo', 'completion', 'complete'].includes(argument));
}

/** Writes a service file for one base address, and the account `acme`. */
export function writeAccount(
  workspace: Workspace,
  baseUrl: string,
  account: string,
  options: { readonly api?: string; readonly service?: string } = {},
): void {
  workspace.write(
    'config/rolecall.yaml',
    [
      'accounts: accounts/*.yaml',
      'store: ../data/rolecall.db',
      `api: ${options.api ?? QUICK_API}`,
      options.service ?? '',
      '',
    ].join('\n'),
  );
  workspace.write(
    'config/accounts/acme.yaml',
    [`baseUrl: ${baseUrl}`, `token: { env: ${TOKEN_VARIABLE} }`, account, ''].join('\n'),
  );
}

/** Resolves when the condition holds; rejects with `what` when it does not within the limit. */
export async function until(
  what: string,
  condition: () => boolean | Promise<boolean>,
  limitMs = 100_000,
): Promise<void> {
  const startedMs = Date.now();
  while (!(await condition())) {
    const waitedMs = Date.now() - startedMs;
    if (waitedMs > limitMs) throw new Error(`timed out waiting until ${what}`);
    // Asking a daemon takes time from the daemon.
    await new Promise((resolve) => setTimeout(resolve, waitedMs < 500 ? 20 : 50));
  }
}

/** The environment of a program whose clock is ahead. */
export function clockAhead(aheadMs: number): Readonly<Record<string, string>> {
  if (aheadMs === 0) return {};
  const code = `const now = Date.now; Date.now = () => now() + ${aheadMs};
globalThis.Date = class extends Date { constructor(...args) { args.length === 0 ? super(Date.now()) : super(...args); } };`;
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(code)}` };
}
