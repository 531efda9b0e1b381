// A sandbox, a configuration and the built program as a daemon: what the pages are opened on. It does not need a test
// runner, so that the screenshots use it too.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Fault, type Sandbox, type SandboxSeed, startSandbox } from '../../src/sandbox/sandbox.ts';

const PROGRAM = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

export const OPERATE_TOKEN = 'token-of-the-operator';
const ONCE_A_YEAR = '"0 0 1 1 *"';

type SeedAccount = SandboxSeed['accounts'][number];

/** An account of the stage: what the service contains, and the lines of its file below the address and the token. */
export interface StagedAccount extends Pick<SeedAccount, 'skills' | 'roles' | 'resources'> {
  readonly name: string;
  readonly file: string;
}

export interface StageOptions {
  readonly accounts: readonly StagedAccount[];
  readonly faults?: readonly Fault[];
  /** Further lines of rolecall.yaml. */
  readonly service?: string;
}

/** An account as the API lists it. */
export interface AccountState {
  readonly name: string;
  readonly valid: boolean;
  readonly activity: string;
  readonly pending: { readonly digest: string; readonly runId: string } | null;
  readonly lastRun: { readonly id: string; readonly status: string } | null;
}

export interface Stage {
  readonly url: string;
  readonly folder: string;
  readonly sandbox: Sandbox;
  /** Sends a request to the API below /api/v1/, a POST if there is a body; throws on an error status. */
  api<T>(path: string, body?: object): Promise<T>;
  accounts(): Promise<readonly AccountState[]>;
  /** Runs an account once more and waits until it is idle. */
  sync(...accounts: readonly string[]): Promise<void>;
  /** Replaces the lines of an account's file below its address and token. */
  configure(account: string, file: string): void;
  /** Runs a command on the same configuration and store, and resolves with what it printed. */
  command(args: readonly string[], env?: Readonly<Record<string, string>>): Promise<string>;
  close(): Promise<void>;
}

/** Starts everything and waits until each account has run once. */
export async function startStage(options: StageOptions): Promise<Stage> {
  const folder = mkdtempSync(join(tmpdir(), 'rolecall-stage-'));
  const sandbox = await startSandbox({
    seed: { accounts: options.accounts.map(({ file: _, ...account }) => withToken(account)) },
    faults: options.faults ?? [],
  });
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  };
  const configure: Stage['configure'] = (account, file) => {
    const head = `baseUrl: ${sandbox.url}\ntoken: { env: ${variableOf(account)} }\n`;
    write(`config/accounts/${account}.yaml`, `${head}${file}\n`);
  };
  write('config/rolecall.yaml', serviceFile(options.service ?? ''));
  for (const { name, file } of options.accounts) configure(name, file);

  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: folder,
    ROLECALL_HTTP_TOKEN: OPERATE_TOKEN,
    ...Object.fromEntries(options.accounts.map(({ name }) => [variableOf(name), tokenOf(name)])),
  };
  const start = (args: readonly string[], extra = {}): ChildProcess =>
    spawn(process.execPath, [PROGRAM, '--config', join(folder, 'config/rolecall.yaml'), ...args], {
      cwd: folder,
      env: { ...env, ...extra },
      stdio: ['ignore', 'pipe', 'pipe'],
    });

  const daemon = start(['serve']);
  const url = await listeningAt(daemon);
  const api: Stage['api'] = async <T>(path: string, body?: object) => {
    const answer = await fetch(`${url}/api/v1/${path}`, {
      headers: { authorization: `Bearer ${OPERATE_TOKEN}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
    });
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return (await answer.json()) as T; // the caller names the shape that the API documents
  };
  const accounts: Stage['accounts'] = async () =>
    (await api<{ readonly accounts: readonly AccountState[] }>('accounts')).accounts;
  const ran = async (earlier: ReadonlyMap<string, string | undefined>): Promise<boolean> =>
    (await accounts()).every(
      ({ name, activity, lastRun }) =>
        !earlier.has(name) || (activity === 'idle' && lastRun !== null && lastRun.id !== earlier.get(name)),
    );
  await waitUntil('each account has run', () => ran(new Map(options.accounts.map(({ name }) => [name, '']))));

  return {
    url,
    folder,
    sandbox,
    api,
    accounts,
    configure,
    async sync(...names) {
      const before = await accounts();
      const earlier = names.map(
        (name) => [name, before.find((one) => one.name === name)?.lastRun?.id] as const,
      );
      for (const name of names) await api(`accounts/${name}/sync`, {});
      await waitUntil(`${names.join(', ')} ran`, () => ran(new Map(earlier)));
    },
    command: async (args, extra) => await outputOf(start(args, extra)),
    async close() {
      const ended = daemon.exitCode === null ? once(daemon, 'exit') : undefined;
      daemon.kill('SIGTERM');
      await ended;
      await sandbox.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Resolves when the condition holds; rejects with `what` after 30 seconds. */
export async function waitUntil(what: string, condition: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 30_000;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`timed out waiting until ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

function serviceFile(lines: string): string {
  return [
    'accounts: accounts/*.yaml',
    'store: ../data/rolecall.db',
    'api: { requestsPerSecond: 1000, timeout: 5s, settle: 6s, recheck: 20ms, retries: 1 }',
    // The end does not wait for the answers to an account that runs.
    'daemon: { shutdownGrace: 100ms }',
    `defaults: { schedule: ${ONCE_A_YEAR}, jitter: 0s }`,
    'http: { listen: 127.0.0.1:0, token: { env: ROLECALL_HTTP_TOKEN } }',
    lines,
    '',
  ].join('\n');
}

const tokenOf = (account: string): string => `token-of-${account}`;
const variableOf = (account: string): string =>
  `TOKEN_${account.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_')}`;

function withToken(account: Omit<StagedAccount, 'file'>): SeedAccount {
  // A service that lists no people at all holds every delete.
  return { resources: [{ id: 'somebody' }], ...account, token: tokenOf(account.name) };
}

async function listeningAt(daemon: ChildProcess): Promise<string> {
  let log = '';
  return await new Promise((resolve, reject) => {
    daemon.stderr?.setEncoding('utf8').on('data', (text: string) => {
      log = (log + text).slice(-100_000);
      const found = /"url":"(http:[^"]+)"/.exec(log)?.[1];
      if (found !== undefined && log.includes('"event":"listening"')) resolve(found);
    });
    daemon.on('exit', (status) => reject(new Error(`the daemon ended with ${status}: ${log}`)));
  });
}

async function outputOf(child: ChildProcess): Promise<string> {
  let stdout = '';
  let stderr = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const [status] = (await once(child, 'close')) as [number | null];
  if (stdout === '') throw new Error(`a command printed nothing and ended with ${status}: ${stderr}`);
  return stdout;
}
