// Clients of several daemons behind a load balancer, which sends requests to those whose /readyz answers 200.
import type { Daemon } from './daemon.ts';
import { HTTP_TOKEN } from './daemon.ts';
import { pause } from './fleet.ts';

export interface BalancedClients {
  /** Adds a daemon; it gets requests as soon as it is ready. */
  add(daemon: Daemon): void;
  /** Whether this daemon gets requests. */
  isReady(daemon: Daemon): boolean;
  /** Starts to send requests. */
  begin(): void;
  /** How many requests were answered. */
  answered(): number;
  /** Requests without the expected answer. */
  readonly failures: readonly string[];
  /** The syncs that were accepted. */
  readonly syncs: readonly { readonly account: string; readonly atMs: number }[];
  /** The slowest answer, in milliseconds. */
  slowestMs(): number;
  stop(): Promise<void>;
}

interface Target {
  readonly daemon: Daemon;
  isReady: boolean;
  hasEnded: boolean;
}

const PROBE_MS = 250;
const SYNC_MS = 1000;

export interface ClientsOptions {
  readonly accounts: readonly string[];
  /** How many send requests at the same time. */
  readonly clients: number;
}

/** Signs in at the first daemon, and sends requests to all of them until it is stopped. */
export async function startClients(
  first: Daemon,
  { accounts, clients }: ClientsOptions,
): Promise<BalancedClients> {
  const targets: Target[] = [];
  const failures: string[] = [];
  const syncs: { account: string; atMs: number }[] = [];
  const cookie = await signIn(first);
  let isOver = false;
  let answered = 0;
  let slowestMs = 0;
  let next = 0;

  function choose(): Target | undefined {
    const ready = targets.filter(({ isReady }) => isReady);
    next += 1;
    return ready[next % ready.length];
  }

  async function probe(target: Target): Promise<void> {
    while (!isOver && !target.hasEnded) {
      const { status } = await fetch(`${target.daemon.url}/readyz`).catch(() => ({ status: 0 }));
      target.hasEnded = status === 0 && target.daemon.process.exitCode !== null;
      target.isReady = status === 200;
      await pause(PROBE_MS);
    }
  }

  /** Sends a request to a ready daemon; true when it was answered as expected. */
  async function send(path: string, expected: number, init: RequestInit): Promise<boolean> {
    const target = choose();
    if (target === undefined) {
      failures.push(`${path}: no daemon is ready`);
      await pause(PROBE_MS);
      return false;
    }
    const startedAt = performance.now();
    const what = `${init.method ?? 'GET'} ${path} of process ${target.daemon.process.pid} at ${new Date().toISOString()}`;
    try {
      const reply = await fetch(target.daemon.url + path, { ...init, redirect: 'manual' });
      await reply.text();
      slowestMs = Math.max(slowestMs, performance.now() - startedAt);
      if (reply.status === expected) {
        answered += 1;
        return true;
      }
      failures.push(`${what}: ${reply.status}`);
    } catch (error) {
      failures.push(`${what}: ${reasonOf(error)}`);
    }
    return false;
  }

  const bearer = { authorization: `Bearer ${HTTP_TOKEN}` };
  const session = { cookie, accept: 'text/html' };
  const reads: readonly (readonly [string, Record<string, string>])[] = [
    ['/', session],
    ['/api/v1/accounts', bearer],
    [`/accounts/${accounts[0]}`, session],
    [`/api/v1/accounts/${accounts[1]}`, bearer],
    ['/api/v1/runs?limit=20', { cookie }],
    ['/healthz', {}],
  ];

  async function read(client: number): Promise<void> {
    for (let turn = client; !isOver; turn += 1) {
      const [path, headers] = reads[turn % reads.length] ?? ['/', session];
      await send(path, 200, { headers });
      await pause(10);
    }
  }

  async function requestRuns(): Promise<void> {
    for (let turn = 0; !isOver; turn += 1) {
      const account = accounts[turn % accounts.length] ?? '';
      const atMs = Date.now();
      const init = { method: 'POST', headers: { ...bearer, 'content-type': 'application/json' }, body: '{}' };
      if (await send(`/api/v1/accounts/${account}/sync`, 202, init)) syncs.push({ account, atMs });
      await pause(SYNC_MS);
    }
  }

  const work: Promise<void>[] = [];
  function add(daemon: Daemon): void {
    const target = { daemon, isReady: false, hasEnded: false };
    targets.push(target);
    work.push(probe(target));
  }

  return {
    add,
    isReady: (daemon) => targets.some((target) => target.daemon === daemon && target.isReady),
    answered: () => answered,
    failures,
    syncs,
    slowestMs: () => slowestMs,
    begin() {
      work.push(requestRuns(), ...Array.from({ length: clients }, (_, client) => read(client)));
    },
    async stop() {
      isOver = true;
      await Promise.all(work);
    },
  };
}

function reasonOf(error: unknown): string {
  const { cause } = error as { cause?: { code?: string; message?: string } };
  return cause?.code ?? cause?.message ?? String(error);
}

/** The cookie of a new session. */
async function signIn({ url }: Daemon): Promise<string> {
  const reply = await fetch(`${url}/sign-in`, {
    method: 'POST',
    body: new URLSearchParams({ token: HTTP_TOKEN, next: '/' }),
    headers: { origin: url },
    redirect: 'manual',
  });
  const [cookie = ''] = (reply.headers.get('set-cookie') ?? '').split(';');
  if (reply.status !== 303) throw new Error(`sign-in: ${reply.status}`);
  return cookie;
}
