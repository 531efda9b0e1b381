// Runs the built program inside the process of the test. Most of a short command's time is the start of Node.js, so a
// test whose subject isn't the process itself saves it: the code, its arguments, environment, folder and output are the same.
import { createRequire } from 'node:module';
import { Writable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { onTestFinished } from 'vitest';

const importNatively = createRequire(import.meta.url)('./native-import.cjs') as (
  url: string,
) => Promise<unknown>;

export interface ProgramCall {
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

export interface Output {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** What the program listens to until its process ends. */
const EVENTS = ['exit', 'SIGINT', 'SIGTERM', 'SIGHUP'];

let runs = 0;
let last: Promise<unknown> = Promise.resolve();

/**
 * Runs the program to the end of its main module. Calls run one after the other, because streams, environment and folder
 * belong to the process. A test of two programs at a time, of a signal or of a crash needs a separate process.
 */
export async function runInProcess(call: ProgramCall): Promise<Output> {
  const running = last.then(() => runAlone(call));
  last = running.catch(() => undefined);
  return await running;
}

async function runAlone({ program, args, cwd, env }: ProgramCall): Promise<Output> {
  const stdout = capture();
  const stderr = capture();
  const restore = replaceProcessState([process.execPath, program, ...args], cwd, env, {
    stdout: stdout.stream,
    stderr: stderr.stream,
  });
  // After a time-out of the test the program is still running.
  onTestFinished(restore);
  try {
    runs += 1;
    // Another query makes Node.js evaluate the main module again; all others are loaded once.
    await importNatively(`${pathToFileURL(program).href}?run=${runs}`);
    return { status: Number(process.exitCode ?? 0), stdout: stdout.text(), stderr: stderr.text() };
  } finally {
    restore();
  }
}

/**
 * Replaces arguments, folder, environment and streams. Returns a function that restores them and removes new listeners.
 */
function replaceProcessState(
  argv: string[],
  cwd: string,
  env: Readonly<Record<string, string>>,
  streams: Readonly<Record<'stdout' | 'stderr', Writable>>,
): () => void {
  const before = {
    argv: process.argv,
    cwd: process.cwd(),
    env: { ...process.env },
    exitCode: process.exitCode,
    listeners: EVENTS.map((event) => [event, process.rawListeners(event)] as const),
    stdout: Object.getOwnPropertyDescriptor(process, 'stdout'),
    stderr: Object.getOwnPropertyDescriptor(process, 'stderr'),
  };
  process.argv = argv;
  process.chdir(cwd);
  setEnvironment(env);
  process.exitCode = undefined;
  for (const name of ['stdout', 'stderr'] as const)
    Object.defineProperty(process, name, { value: streams[name], configurable: true, enumerable: true });
  let isRestored = false;
  return () => {
    if (isRestored) return;
    isRestored = true;
    process.argv = before.argv;
    process.chdir(before.cwd);
    setEnvironment(before.env);
    process.exitCode = before.exitCode;
    for (const [event, listeners] of before.listeners) {
      const added = process.rawListeners(event).filter((listener) => !listeners.includes(listener));
      for (const listener of added) process.removeListener(event, listener as () => void);
    }
    for (const name of ['stdout', 'stderr'] as const)
      Object.defineProperty(process, name, before[name] ?? {});
  };
}

/** Changes the environment in place, so that the system's libraries see it too. */
function setEnvironment(env: Readonly<Record<string, string | undefined>>): void {
  for (const name of Object.keys(process.env)) if (!Object.hasOwn(env, name)) delete process.env[name];
  Object.assign(process.env, env);
}

function capture(): { readonly stream: Writable; text(): string } {
  const chunks: string[] = [];
  const stream = new Writable({
    decodeStrings: false,
    write(chunk: string | Buffer, _encoding, done) {
      chunks.push(chunk.toString());
      done();
    },
  });
  return { stream, text: () => chunks.join('') };
}
