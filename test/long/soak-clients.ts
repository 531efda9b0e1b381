// The clients of the daemon in the soak test: over HTTP with and without a session, by commands, by SIGHUP, and by
// account files that are added and removed.
import { unlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';
import { type Daemon, HTTP_TOKEN } from '../support/daemon.ts';
import { pick, randomNumbers } from '../support/random.ts';
import type { Workspace } from '../support/workspace.ts';
import { fileHead } from './soak-changes.ts';

/** The account of the sandbox for all account files that are added and removed. */
export const TEMPORARY = 'passerby';

export interface Clients {
  /** Sends one random request or command. */
  send(): Promise<void>;
  /** Responses that were not as expected. */
  readonly problems: readonly string[];
  /** Account → when a request for a run was accepted last, in epoch milliseconds. */
  readonly lastAcceptedMs: ReadonlyMap<string, number>;
}

export interface ClientsOptions {
  readonly sandbox: Sandbox;
  readonly workspace: Workspace;
  readonly daemon: Daemon;
  readonly accounts: readonly string[];
  /** The environment of the commands. */
  readonly env: Readonly<Record<string, string>>;
}

export function createClients({ sandbox, workspace, daemon, accounts, env }: ClientsOptions): Clients {
  const random = randomNumbers(13);
  const problems: string[] = [];
  const lastAcceptedMs = new Map<string, number>();
  let count = 0;
  let present: string | null = null;

  async function open(path: string, headers: Readonly<Record<string, string>>): Promise<Response> {
    return await fetch(daemon.url + path, { headers, redirect: 'manual' });
  }

  async function read(path: string, headers = { authorization: `Bearer ${HTTP_TOKEN}` }): Promise<void> {
    const reply = await open(path, { accept: 'text/html,application/json', ...headers });
    await reply.arrayBuffer();
    // A run may have been pruned meanwhile.
    if (!reply.ok && !path.includes('/runs/')) problems.push(`GET ${path}: ${reply.status}`);
  }

  async function readRun(): Promise<void> {
    const run = daemon.log().findLast(({ event }) => event === 'run_ended')?.runId ?? '';
    await read(`/runs/${run}`);
    await read(`/api/v1/runs/${run}`);
  }

  async function signIn(): Promise<void> {
    const reply = await fetch(`${daemon.url}/sign-in`, {
      method: 'POST',
      body: new URLSearchParams({ token: HTTP_TOKEN, next: '/' }),
      headers: { origin: daemon.url },
      redirect: 'manual',
    });
    await reply.arrayBuffer();
    const [cookie = ''] = (reply.headers.get('set-cookie') ?? '').split(';');
    if (reply.status !== 303) problems.push(`POST /sign-in: ${reply.status}`);
    const answer = await open('/', { cookie, accept: 'text/html' });
    await answer.arrayBuffer();
    if (!answer.ok) problems.push(`GET / with a session: ${answer.status}`);
  }

  async function requestRun(account: string): Promise<void> {
    const sentMs = Date.now();
    const { status } = await daemon.api(`accounts/${account}/sync`, {});
    if (status === 202) lastAcceptedMs.set(account, sentMs);
    else if (status !== 409) problems.push(`sync of ${account}: ${status}`);
  }

  /** `plan --server` may fail, because the lists may be wrong. */
  async function command(args: readonly string[], statuses: readonly number[]): Promise<void> {
    const { status, stderr } = await workspace.run(args, { env });
    if (!statuses.includes(status ?? -1)) problems.push(`${args.join(' ')}: ${status} ${stderr}`);
  }

  function addOrRemoveFile(): void {
    if (present !== null) {
      unlinkSync(join(workspace.folder, present));
      present = null;
      return;
    }
    count += 1;
    present = `config/accounts/${TEMPORARY}${count}.yaml`;
    workspace.write(present, `${fileHead(sandbox, TEMPORARY)}mode: plan\nskills: []\n`);
  }

  const requests: readonly (readonly [share: number, send: (account: string) => unknown])[] = [
    [0.55, requestRun],
    [0.05, () => read('/api/v1/accounts')],
    [0.05, () => read('/api/v1/runs?limit=50')],
    [0.05, () => read('/')],
    [0.05, (account) => read(`/accounts/${account}`)],
    [0.05, (account) => read(`/api/v1/accounts/${account}`)],
    [0.05, readRun],
    [0.05, () => read('/metrics')],
    [0.04, signIn],
    [0.02, () => read('/healthz', { authorization: 'Bearer of-nobody' })],
    [0.015, () => void daemon.process.kill('SIGHUP')],
    [0.015, addOrRemoveFile],
    [0.005, (account) => command(['plan', '--server', daemon.url, account], [0, 1])],
    [0.005, () => command(['backup', join(workspace.folder, `backup-${random()}.db`)], [0])],
  ];

  return {
    problems,
    lastAcceptedMs,
    async send() {
      let at = random();
      const account = pick(random, accounts) ?? '';
      await requests.find(([share]) => (at -= share) < 0)?.[1](account);
    },
  };
}
