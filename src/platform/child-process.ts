// Starts other processes of this program with a memory limit and a deadline, and reports why they ended.
// regular-file.ts starts its processes itself, because it must not wait for a process that hangs in the system.
import { spawn } from 'node:child_process';
import { setPriority } from 'node:os';

export interface ChildOptions<Received> {
  /** What Node.js runs: a file or `--eval` with a program, and arguments. */
  readonly args: readonly string[];
  readonly onMessage: (message: Received) => void;
  readonly heapMegabytes?: number;
  readonly deadlineMs?: number;
  /** Ends the process. */
  readonly signal?: AbortSignal;
  /** Empty by default, because the environment contains secrets. */
  readonly env?: NodeJS.ProcessEnv;
}

/** `killed`: by another process or by the system, for example without free memory. `stopped`: by this process. */
export interface ChildEnd {
  readonly reason: 'exited' | 'out_of_memory' | 'killed' | 'deadline' | 'stopped';
  /** The exit status, the signal, or the error of the start. */
  readonly how: string;
}

export interface Child<Sent> {
  readonly send: (message: Sent) => void;
  readonly stop: () => void;
  /** Resolves when the process has ended and all its messages have arrived. */
  readonly ended: Promise<ChildEnd>;
}

/** What the engine writes before it ends a process that has no memory left. */
const OUT_OF_MEMORY = /^(?:FATAL ERROR:|# Fatal) .*out of memory|Array buffer allocation failed/m;
const MOST_OUTPUT = 65_536;

/** A `nice` value: less urgent than this process, but not so low that it never runs on a busy machine. */
const LESS_URGENT = 5;

const running = new Set<() => void>();
process.once('exit', () => {
  for (const kill of running) kill();
});

/** Starts a process. It is killed at the latest when this process exits. */
export function startChild<Sent extends object, Received>(options: ChildOptions<Received>): Child<Sent> {
  const { args, heapMegabytes, deadlineMs, signal, env = {} } = options;
  const limits = heapMegabytes === undefined ? [] : [`--max-old-space-size=${heapMegabytes}`];
  const child = spawn(process.execPath, [...limits, ...args], {
    env,
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  let stopped: 'deadline' | 'stopped' | null = null;
  const stop = (reason: 'deadline' | 'stopped'): void => {
    stopped ??= reason;
    child.kill('SIGKILL');
  };
  const kill = (): void => stop('stopped');
  let output = '';
  // Not logged; used only to detect the reason of the end.
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    if (output.length < MOST_OUTPUT) output += text;
  });
  // The other process is part of this program and sends the type that the caller names.
  child.on('message', (message) => options.onMessage(message as Received));
  const failed = new Promise<string>((resolve) => child.on('error', ({ message }) => resolve(message)));
  const closed = new Promise<string>((resolve) =>
    child.once('close', (code, by) => resolve(by ?? `status ${String(code)}`)),
  );
  const disconnected = new Promise<void>((resolve) => child.once('disconnect', resolve));
  const timer = deadlineMs === undefined ? undefined : setTimeout(() => stop('deadline'), deadlineMs);
  running.add(kill);
  signal?.addEventListener('abort', kill);
  if (signal?.aborted === true) kill();
  lowerPriority(child.pid);

  async function end(): Promise<ChildEnd> {
    const how = await Promise.race([failed, Promise.all([closed, disconnected]).then(([last]) => last)]);
    clearTimeout(timer);
    running.delete(kill);
    signal?.removeEventListener('abort', kill);
    if (stopped !== null) return { reason: stopped, how };
    if (OUT_OF_MEMORY.test(output)) return { reason: 'out_of_memory', how };
    return { reason: child.signalCode === null ? 'exited' : 'killed', how };
  }

  return {
    send(message) {
      if (child.connected) child.send(message, () => undefined);
    },
    stop: kill,
    ended: end(),
  };
}

/** Gives the work of this process priority on a machine with few processors. */
function lowerPriority(pid: number | undefined): void {
  try {
    if (pid !== undefined) setPriority(pid, LESS_URGENT);
  } catch {
    // The process has already ended, or the system has no priorities.
  }
}

/**
 * The side of the started process: receives the messages of its parent from now on, and returns the function that sends
 * to it, which resolves when the message is sent. The process ends with its parent. Signals are ignored, because a
 * terminal sends them to the complete process group, and the parent decides when to stop.
 */
export function serveParent<Received, Sent extends object>(
  onMessage: (message: Received) => void,
): (message: Sent) => Promise<void> {
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined);
  process.once('disconnect', () => process.exit());
  // The parent is part of this program and sends this type.
  process.on('message', (message) => onMessage(message as Received));
  return (message) =>
    new Promise((resolve) => {
      if (process.send === undefined || !process.connected) return resolve();
      process.send(message, undefined, undefined, () => resolve());
    });
}
