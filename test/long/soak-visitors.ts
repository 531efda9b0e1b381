// Those who look at a soaking daemon and say a word to it: over HTTP with and without a session, by commands beside it,
// by SIGHUP, and by account files that come and go.
import { unlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';
import { type Daemon, HTTP_TOKEN } from '../support/daemon.ts';
import { pick, randomNumbers } from '../support/random.ts';
import type { Workspace } from '../support/workspace.ts';
import { fileHead } from './soak-hands.ts';

/** The sandbox's account behind all account files that come and go. */
export const PASSERBY = 'passerby';

export interface Visitors {
  /** One visit. */
  visit(): Promise<void>;
  /** What was not answered as it should be. */
  readonly problems: readonly string[];
  /** Account → how often a run was asked for and promised. */
  readonly promised: ReadonlyMap<string, number>;
}

export interface VisitorsOptions {
  readonly sandbox: Sandbox;
  readonly workspace: Workspace;
  readonly daemon: Daemon;
  readonly accounts: readonly string[];
  /** What the commands are given. */
  readonly env: Readonly<Record<string, string>>;
}

export function inviteVisitors({ sandbox, workspace, daemon, accounts, env }: VisitorsOptions): Visitors {
  const random = randomNumbers(13);
  const problems: string[] = [];
  const promised = new Map<string, number>();
  let passersby = 0;
  let present: string | null = null;

  async function open(path: string, headers: Readonly<Record<string, string>>): Promise<Response> {
    return await fetch(daemon.url + path, { headers, redirect: 'manual' });
  }

  async function look(path: string, headers = { authorization: `Bearer ${HTTP_TOKEN}` }): Promise<void> {
    const reply = await open(path, { accept: 'text/html,application/json', ...headers });
    await reply.arrayBuffer();
    // A run may have been pruned meanwhile.
    if (!reply.ok && !path.includes('/runs/')) problems.push(`GET ${path}: ${reply.status}`);
  }

  async function lookAtARun(): Promise<void> {
    const run = daemon.log().findLast(({ event }) => event === 'run_ended')?.runId ?? '';
    await look(`/runs/${run}`);
    await look(`/api/v1/runs/${run}`);
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

  async function askForARun(account: string): Promise<void> {
    const { status } = await daemon.api(`accounts/${account}/sync`, {});
    if (status === 202) promised.set(account, (promised.get(account) ?? 0) + 1);
    else if (status !== 409) problems.push(`sync of ${account}: ${status}`);
  }

  /** Of `plan --server` the lists may lie: then there is no plan. */
  async function command(args: readonly string[], statuses: readonly number[]): Promise<void> {
    const { status, stderr } = await workspace.run(args, { env });
    if (!statuses.includes(status ?? -1)) problems.push(`${args.join(' ')}: ${status} ${stderr}`);
  }

  function comeOrGo(): void {
    if (present !== null) {
      unlinkSync(join(workspace.folder, present));
      present = null;
      return;
    }
    passersby += 1;
    present = `config/accounts/${PASSERBY}${passersby}.yaml`;
    workspace.write(present, `${fileHead(sandbox, PASSERBY)}mode: plan\nskills: []\n`);
  }

  const visits: readonly (readonly [share: number, visit: (account: string) => unknown])[] = [
    [0.55, askForARun],
    [0.05, () => look('/api/v1/accounts')],
    [0.05, () => look('/api/v1/runs?limit=50')],
    [0.05, () => look('/')],
    [0.05, (account) => look(`/accounts/${account}`)],
    [0.05, (account) => look(`/api/v1/accounts/${account}`)],
    [0.05, lookAtARun],
    [0.05, () => look('/metrics')],
    [0.04, signIn],
    [0.02, () => look('/healthz', { authorization: 'Bearer of-nobody' })],
    [0.015, () => void daemon.process.kill('SIGHUP')],
    [0.015, comeOrGo],
    [0.005, (account) => command(['plan', '--server', daemon.url, account], [0, 1])],
    [0.005, () => command(['backup', join(workspace.folder, `backup-${random()}.db`)], [0])],
  ];

  return {
    problems,
    promised,
    async visit() {
      let at = random();
      const account = pick(random, accounts) ?? '';
      await visits.find(([share]) => (at -= share) < 0)?.[1](account);
    },
  };
}
