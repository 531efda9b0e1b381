// The account of the crash tests: it has every kind of change that a run can make, and entries that a run must keep.
// Each break has its own sandbox, gate and workspace.
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { SQLite } from '../../src/system/sqlite.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { type Arrival, type Gate, startGate } from './gate.ts';
import { makeWorkspace, type RunOptions, type Running, type Workspace, writeAccount } from './workspace.ts';

/** Where the preloaded hook strikes: see kill-hook.mjs. */
export interface Strike {
  readonly at: 'before-write' | 'after-write' | 'request' | 'answer';
  readonly nth: number;
  readonly signal: 'SIGKILL' | 'SIGSTOP';
  /** How far the clock of a stopped process moves before it is woken. */
  readonly slept?: number;
}

export interface PassedPoint {
  readonly at: Strike['at'];
  readonly what: string;
}

export interface CrashScene {
  readonly sandbox: Sandbox;
  readonly gate: Gate;
  readonly workspace: Workspace;
  readonly store: string;
  /** The content of the account at the start. */
  readonly seeded: ReturnType<Sandbox['state']>;
  /** Starts the program with the hook; without a strike the hook only counts. */
  start(args: readonly string[], options?: HookOptions): Running;
  /** The points that the processes started with `trace` have passed. */
  passed(): readonly PassedPoint[];
  close(): Promise<void>;
}

export interface HookOptions extends RunOptions {
  readonly strike?: Strike;
  readonly trace?: boolean;
  /** How far the clock of the process is ahead. */
  readonly aheadMs?: number;
}

export const APPLY = ['apply', '--yes', '--accept', 'no_evidence', '--format', 'json'];

const TOKEN = 'token-of-acme';
const HOOK = pathToFileURL(fileURLToPath(new URL('kill-hook.mjs', import.meta.url))).href;
/** A request has enough time on a busy machine, and waits for `settle` are short. */
export const CRASH_API =
  '{ concurrency: 3, requestsPerSecond: 1000, timeout: 2s, settle: 2200ms, retries: 2 }';

/** In use and not in the file; in use under its old name; not used under its old name; protected; unused. */
const SEED = {
  name: 'acme',
  id: '42',
  token: TOKEN,
  skills: ['Kept', 'Perl', 'K8s', 'Postgres', 'Admin tools', 'Gone 1', 'Gone 2'],
  roles: ['Designer', 'Manager', 'Clerk'],
  resources: [
    { id: 'r1', skills: ['Kept', 'Perl', 'K8s'], role: 'Designer' },
    { id: 'r2', skills: ['Perl'], role: 'Manager' },
  ],
};

export const ACCOUNT = [
  'policy: { protect: ["Admin*"] }',
  'skills: [Kept, New 1, New 2, New 3, { name: Kubernetes, formerly: [K8s] }, { name: PostgreSQL, formerly: [Postgres] }]',
  'roles: [Designer, Engineer, Tester]',
].join('\n');

/** The expected content at the end. Perl, K8s and Manager are held. */
export const EXPECTED = {
  skills: ['Admin tools', 'K8s', 'Kept', 'Kubernetes', 'New 1', 'New 2', 'New 3', 'Perl', 'PostgreSQL'],
  roles: ['Designer', 'Engineer', 'Manager', 'Tester'],
};
export const DELETABLE = ['Postgres', 'Gone 1', 'Gone 2', 'Clerk'];
export const CREATED = 7;
export const HELD = 3;

export async function crashScene(
  options: { readonly account?: string; readonly service?: string; readonly store?: string } = {},
): Promise<CrashScene> {
  const sandbox = await startSandbox({ seed: { accounts: [SEED] } });
  const workspace = makeWorkspace(TOKEN);
  const store = options.store ?? join(workspace.folder, 'data/rolecall.db');
  const gate = await startGate(sandbox.url, (arrival) => journaled(store, arrival));
  const seeded = sandbox.state('acme');
  writeAccount(workspace, gate.url, options.account ?? ACCOUNT, {
    api: CRASH_API,
    service: options.service ?? '',
  });
  const trace = join(workspace.folder, 'trace');
  return {
    sandbox,
    gate,
    workspace,
    store,
    seeded,
    start: (args, { strike, trace: traced, aheadMs, ...given } = {}) =>
      workspace.start(args, {
        ...given,
        env: {
          NODE_OPTIONS: `--import=${HOOK}`,
          ...(strike === undefined ? {} : { ROLECALL_STRIKE: JSON.stringify(strike) }),
          ...(traced === true ? { ROLECALL_TRACE: trace } : {}),
          ...(aheadMs === undefined ? {} : { ROLECALL_CLOCK_MS: String(aheadMs) }),
          ...given.env,
        },
      }),
    passed: () =>
      existsSync(trace)
        ? readFileSync(trace, 'utf8')
            .split('\n')
            .filter((line) => line !== '')
            .map((line) => JSON.parse(line) as PassedPoint)
        : [],
    async close() {
      await gate.close();
      await sandbox.close();
      rmSync(workspace.folder, { recursive: true, force: true });
    },
  };
}

/** The committed status of the newest row that belongs to the request. */
function journaled(store: string, { method, kind, subject }: Omit<Arrival, 'seen' | 'effect'>): string {
  const [action, column] = method === 'POST' ? ['create', 'name'] : ['delete', 'remote_id'];
  const database = new SQLite(store, { readonly: true, fileMustExist: true });
  try {
    const status = database
      .prepare(
        `select status from operations where action = ? and kind = ? and ${column} = ? order by run_id desc limit 1`,
      )
      .pluck()
      .get(action, kind, subject);
    return typeof status === 'string' ? status : 'no row';
  } finally {
    database.close();
  }
}

/**
 * Reads a copy of the store, because opening the file itself would change it: it would apply the write-ahead log.
 */
export function inCopy<T>(store: string, read: (database: SQLite.Database) => T): T {
  const folder = mkdtempSync(join(tmpdir(), 'rolecall-autopsy-'));
  try {
    const copy = join(folder, 'store.db');
    for (const part of ['', '-wal']) {
      if (existsSync(store + part)) copyFileSync(store + part, copy + part);
    }
    const database = new SQLite(copy);
    try {
      return read(database);
    } finally {
      database.close();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Works on at most `most` items at a time, in their order. */
export async function severalAtATime<T, R>(
  items: readonly T[],
  most: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  const queue = items.entries();
  async function worker(): Promise<void> {
    for (const [index, item] of queue) results[index] = await work(item);
  }
  // A failure is thrown after all workers have ended.
  const ends = await Promise.allSettled(Array.from({ length: Math.min(most, items.length) }, worker));
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
  return results;
}
