// Other processes of this program: started with a limit of memory, ended, and why they ended.
// config/regular-file.ts has a form of its own: nobody may wait for the end of a process that hangs in the system.
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
  /** Empty by default: the environment is where the secrets are. */
  readonly env?: NodeJS.ProcessEnv;
}

/** `killed`: by another process, or by the system, as for lack of memory. `stopped`: by this one. */
export interface ChildEnd {
  readonly reason: 'exited' | 'out_of_memory' | 'killed' | 'deadline' | 'stopped';
  /** The status, the signal, or why it could not be started. */
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

/** As `nice` counts: enough to come after this process, too little to starve on a busy machine. */
const LESS_URGENT = 5;

const running = new Set<() => void>();
process.once('exit', () => {
  for (const kill of running) kill();
});

/** Starts a process; none outlives this one. */
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
  // No line of the log: read for the reason of an end only.
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    if (output.length < MOST_OUTPUT) output += text;
  });
  // What a process of ours sends has the shape that its caller names.
  child.on('message', (message) => options.onMessage(message as Received));
  const failed = new Promise<string>((resolve) => child.once('error', ({ message }) => resolve(message)));
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

/** The work of this process comes first where there are few processors. */
function lowerPriority(pid: number | undefined): void {
  try {
    if (pid !== undefined) setPriority(pid, LESS_URGENT);
  } catch {
    // It has ended already, or the system has no priorities.
  }
}

/**
 * The other side: receives what the starting process sends from now on, and gives what sends to it. Resolves when the
 * message has left. The process ends with the one that started it, which also decides when: a signal that is sent to
 * all processes of a group is not obeyed.
 */
export function serveParent<Received, Sent extends object>(
  onMessage: (message: Received) => void,
): (message: Sent) => Promise<void> {
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined);
  process.once('disconnect', () => process.exit());
  // What the process that starts this one sends has this shape.
  process.on('message', (message) => onMessage(message as Received));
  return (message) =>
    new Promise((resolve) => {
      if (process.send === undefined || !process.connected) return resolve();
      process.send(message, undefined, undefined, () => resolve());
    });
}
