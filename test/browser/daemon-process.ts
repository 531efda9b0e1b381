// The built program as a daemon on a folder. It does not need a test runner, so that the scripts use it too.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

/** The token with which an operator signs in. */
export const OPERATE_TOKEN = 'token-of-the-operator';

export interface DaemonProcess {
  readonly url: string;
  /** Sends a request to the API below /api/v1/, a POST if there is a body; throws on an error status. */
  readonly api: <T>(path: string, body?: object) => Promise<T>;
  stop(): Promise<void>;
}

/** Writes a file below the folder; folders are created. */
export function writeBelow(folder: string, path: string, text: string): void {
  const file = join(folder, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

/** Writes rolecall.yaml. Accounts run only on request. */
export function writeServiceFile(folder: string, lines: readonly string[] = []): void {
  const text = [
    'accounts: accounts/*.yaml',
    'store: ../data/rolecall.db',
    'api: { requestsPerSecond: 1000, timeout: 5s, settle: 6s, retries: 1 }',
    'defaults: { schedule: "0 0 1 1 *" }',
    'http: { listen: 127.0.0.1:0, token: { env: ROLECALL_HTTP_TOKEN }, title: production }',
    ...lines,
    '',
  ];
  writeBelow(folder, 'config/rolecall.yaml', text.join('\n'));
}

/** Runs a command on the folder's configuration and store, and resolves with what it printed. */
export async function outputOf(
  folder: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  const child = start(folder, args, env);
  let stdout = '';
  let stderr = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  await once(child, 'close');
  if (stderr !== '' && stdout === '') throw new Error(`${args.join(' ')} failed: ${stderr}`);
  return stdout;
}

/** Starts `rolecall serve` and resolves when it listens; throws when it ends before. */
export async function startDaemonProcess(
  folder: string,
  env: Readonly<Record<string, string>> = {},
): Promise<DaemonProcess> {
  const daemon = start(folder, ['serve'], { ...env, ROLECALL_HTTP_TOKEN: OPERATE_TOKEN });
  const url = await listeningAt(daemon);
  return {
    url,
    async api<T>(path: string, body?: object) {
      const answer = await fetch(`${url}/api/v1/${path}`, {
        headers: { authorization: `Bearer ${OPERATE_TOKEN}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
      });
      if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
      return (await answer.json()) as T; // the caller names the shape that the API documents
    },
    async stop() {
      const ended = daemon.exitCode === null ? once(daemon, 'exit') : undefined;
      // The second one aborts the requests of runs.
      daemon.kill('SIGTERM');
      daemon.kill('SIGTERM');
      await ended;
    },
  };
}

/** Resolves when the condition holds; rejects with `what` after 30 seconds. */
export async function waitUntil(what: string, condition: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 60_000;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`timed out waiting until ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

function start(folder: string, args: readonly string[], env: Readonly<Record<string, string>>): ChildProcess {
  const child = spawn(
    process.execPath,
    [PROGRAM, '--config', join(folder, 'config/rolecall.yaml'), ...args],
    {
      cwd: folder,
      env: { PATH: process.env['PATH'] ?? '', HOME: folder, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  // Nothing keeps running when the test or the script is interrupted.
  const kill = (): void => void child.kill('SIGKILL');
  process.once('exit', kill);
  child.once('exit', () => process.removeListener('exit', kill));
  return child;
}

async function listeningAt(daemon: ChildProcess): Promise<string> {
  let log = '';
  return await new Promise((resolve, reject) => {
    daemon.stderr?.setEncoding('utf8').on('data', (text: string) => {
      log = (log + text).slice(-100_000);
      const url = /"event":"listening","url":"([^"]+)"/.exec(log)?.[1];
      if (url !== undefined) resolve(url);
    });
    daemon.stdout?.resume();
    daemon.once('exit', (status) => reject(new Error(`the daemon ended with ${status}: ${log}`)));
  });
}
