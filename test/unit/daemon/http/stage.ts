// A daemon in memory and the real server in front of it, on loopback.
import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { MIXED, makeOperation, makeRun } from '../../report/samples.ts';
import { onTestFinished } from 'vitest';
import { POLICY } from '../../core/builders.ts';
import type { PostedPlan } from '../../../../src/run/posted-plan.ts';
import type { DailyCount, RunDetail, RunProgress } from '../../../../src/core/ports/journal-reader.ts';
import type { PauseOfAll } from '../../../../src/core/operator.ts';
import type { OperatorActionRecord } from '../../../../src/core/command-schemas.ts';
import type { PlanResult } from '../../../../src/core/plan.ts';
import { Secret } from '../../../../src/core/secret.ts';
import type { AccountView, DaemonApi, DaemonView } from '../../../../src/daemon/daemon-api.ts';
import { type HttpOptions, startHttp } from '../../../../src/daemon/http/server.ts';

export const TOKEN = 'correct horse battery staple';
export const READ_TOKEN = 'an eye and no hand';
export const READER = { authorization: `Bearer ${READ_TOKEN}` };
export const BEARER = { authorization: `Bearer ${TOKEN}` };
export const HTML = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };

export const SESSION_KEY = 'a key that signs the cookies of sessions';

export const RUN_ID = '0193a5c2-7b1e-7c3d-8e4f-5a6b7c8d9e0f';

export function makeAccount(name: string, parts: Partial<AccountView> = {}): AccountView {
  return {
    name,
    file: `accounts/${name}.yaml`,
    valid: true,
    serviceValid: true,
    issues: [],
    mode: 'apply',
    schedule: '*/15 * * * *',
    timezone: 'Etc/UTC',
    region: 'eu',
    remoteAccountId: '4815162342',
    pause: null,
    activity: 'idle',
    nextRunAt: '2026-11-21T05:45:00.000Z',
    consecutiveFailures: 0,
    drift: null,
    pending: null,
    approved: null,
    lastRun: makeRun({ account: name }),
    lastSuccessAt: '2026-11-21T05:24:22.500Z',
    ...parts,
  };
}

export const PENDING = { digest: MIXED.digest, runId: RUN_ID, since: '2026-11-21T05:24:22.500Z' };

/** A proposed change, as it is posted. */
export const POSTED: PostedPlan = {
  account: 'acme-eu',
  desired: { allowedDeletes: [] },
  policy: POLICY,
  commit: { sha: '3f2a91c0d1e2f3a4b5c6d7e8f9a0b1c2d3e4f5a6', committedAt: '2026-11-20T10:00:00+01:00' },
};

/** A run with a plan, successful and failed operations, and warnings. */
export function makeDetail(parts: Partial<RunDetail> = {}): RunDetail {
  return {
    run: makeRun({ id: RUN_ID, status: 'partial', created: 1, failed: 1, held: 4 }),
    operations: [
      makeOperation(1, 'Kubernetes', { remoteId: 'e1' }),
      makeOperation(2, '日本語', { status: 'failed', httpStatus: 500, attempts: 5, reason: 'HTTP 500' }),
    ],
    warnings: MIXED.warnings,
    plan: MIXED,
    ...parts,
  };
}

/** The calls that the daemon received, in order. */
export interface Recorded {
  readonly commands: string[];
  readonly filters: Parameters<DaemonApi['runs']>[0][];
  /** The accounts whose last runs were read. */
  readonly strips: (readonly string[])[];
  readonly posted: PostedPlan[];
  /** How often any function was called. */
  calls: number;
  /** Wrong tokens and closed connections that were counted. */
  wrongTokens: number;
  dropped: number;
}

export interface Stage {
  accounts: readonly AccountView[];
  runs: readonly RunDetail[];
  /** The progress of every run; by default a run is as far as its operations are. */
  progress: RunProgress | null;
  actions: readonly OperatorActionRecord[];
  counts: readonly DailyCount[];
  overview: DaemonView;
  sync: 'queued' | 'stopping';
  fetch: 'queued' | 'no_source' | 'stopping';
  plans: readonly PlanResult[];
  broken: Error | null;
  pause: PauseOfAll | null;
  isStopping: boolean;
}

export function makeStage(parts: Partial<Stage> = {}): Stage {
  return {
    accounts: [
      makeAccount('acme-eu', { mode: 'approve', pending: PENDING, drift: { create: 3, delete: 2 } }),
      makeAccount('acme-us'),
    ],
    runs: [makeDetail()],
    progress: null,
    actions: [],
    counts: [],
    overview: {
      version: '1.2.3',
      startedAt: '2026-11-20T00:00:00.000Z',
      issues: [],
      configurationErrors: 0,
      commit: {
        sha: '3f2a91c0d1e2f3a4b5c6d7e8f9a0b1c2d3e4f5a6',
        dirty: false,
        committedAt: '2026-11-20T10:00:00.000Z',
        authoredAt: '2026-11-20T09:00:00.000Z',
        author: 'Dana',
        subject: 'Name the skills of the data team',
      },
    },
    sync: 'queued',
    fetch: 'queued',
    plans: [MIXED],
    broken: null,
    pause: null,
    isStopping: false,
    ...parts,
  };
}

function progressIn({ runs, progress }: Stage, id: string): RunProgress | null {
  const found = runs.find(({ run }) => run.id === id);
  if (found === undefined || progress !== null) return found === undefined ? null : progress;
  const count = (status: string) => found.operations.filter((each) => each.status === status).length;
  return {
    status: found.run.status,
    total: found.operations.length - count('held'),
    done: count('done'),
    failed: count('failed'),
    sent: count('sent'),
    unknown: count('unknown'),
    firstSentAt: null,
  };
}

function memoryDaemon(stage: Stage, recorded: Recorded): DaemonApi {
  const send = <T>(value: T): T => {
    recorded.calls += 1;
    if (stage.broken !== null) throw stage.broken;
    return value;
  };
  const find = (name: string) => stage.accounts.find((account) => account.name === name) ?? null;
  const findRun = (id: string) => stage.runs.find(({ run }) => run.id.startsWith(id)) ?? null;
  const replace = (name: string, parts: Partial<AccountView>) => {
    stage.accounts = stage.accounts.map((each) => (each.name === name ? { ...each, ...parts } : each));
  };
  return {
    isStopping: () => stage.isStopping,
    overview: async () => send(stage.overview),
    accountNames: () => stage.accounts.map(({ name }) => name),
    accounts: async () => send(stage.accounts),
    account: async (name) => send(find(name)),
    async runs(filter) {
      const { account, limit, hasDeletes } = filter;
      recorded.filters.push(filter);
      const isRemoved = account !== undefined && find(String(account)) === null;
      const runs = send(stage.runs.map(({ run }) => run)).filter(
        (run) => !isRemoved || run.account === account,
      );
      return runs.filter(({ deleted }) => hasDeletes !== true || deleted > 0).slice(0, limit);
    },
    async latestRuns(names, limit) {
      recorded.strips.push(names);
      const runs = send(stage.runs.map(({ run }) => run));
      return names.flatMap((name) =>
        runs
          .filter(({ account }) => account === name)
          .slice(0, limit)
          .map((run) => ({ ...run, written: run.created + run.deleted })),
      );
    },
    run: async (id) => send(findRun(id)),
    runReport: async (id) => send(findRun(id)),
    async operate({ action, account, digest, reason = null }, by) {
      if (action === 'fetch') {
        recorded.commands.push(`fetch for ${by.name}`);
        return { type: send(stage.fetch) };
      }
      const found = send(find(account));
      if (found === null) return { type: 'unknown' };
      recorded.commands.push(`${action} ${account}${action === 'approve' ? ` ${digest}` : ''}`);
      switch (action) {
        case 'sync':
          return { type: stage.sync };
        case 'approve': {
          const { pending } = found;
          if (pending === null) return { type: 'nothing_pending' };
          if (!pending.digest.includes(digest ?? '')) return { type: 'other_plan', pending: pending.digest };
          return { type: 'approved', digest: pending.digest, expiresAtMs: Date.UTC(2026, 10, 22) };
        }
        case 'pause':
          replace(account, { pause: { since: '2026-11-21T08:00:00.000Z', by: by.name, reason } });
          return { type: 'paused' };
        case 'resume':
          replace(account, { pause: null });
          return { type: 'resumed' };
      }
    },
    pauseOfAll: async () => stage.pause,
    runProgress: async (id) => send(progressIn(stage, id)),
    operatorActions: async ({ limit, before = Infinity }) =>
      send(stage.actions.filter(({ seq }) => seq < before).slice(0, limit)),
    dailyCounts: async () => send(stage.counts),
    async plan(posted) {
      recorded.posted.push(...posted);
      // A test can delay the plans.
      return await Promise.resolve(send(stage.plans));
    },
  };
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body as JSON. */
  readonly json: () => unknown;
}

export interface Running {
  readonly url: string;
  readonly stage: Stage;
  readonly recorded: Recorded;
  /** Errors that were logged. */
  readonly logged: object[];
  /** Everything else that was logged. */
  readonly noted: object[];
  /** Sends headers that a browser does not allow a page to set, JSON to the API by default, and follows no redirect. */
  readonly send: (
    method: string,
    path: string,
    headers?: Readonly<Record<string, string>>,
    body?: string | Uint8Array,
  ) => Promise<Answer>;
  readonly get: (path: string, headers?: Readonly<Record<string, string>>) => Promise<Answer>;
  readonly post: (
    path: string,
    headers?: Readonly<Record<string, string>>,
    body?: string | Uint8Array,
  ) => Promise<Answer>;
  /** Sends the bytes unchanged; resolves with everything received when the server closes the connection. */
  readonly raw: (bytes: string, keepOpen?: boolean) => Promise<string>;
  readonly close: () => Promise<void>;
}

/** The server with the settings of a real start, except for `options`. It is closed at the end of the test. */
export async function start(...given: Parameters<typeof open>): Promise<Running> {
  const running = await open(...given);
  onTestFinished(running.close);
  return running;
}

/** The server with the settings of a real start, except for `options`. The caller closes it. */
export async function open(options: Partial<HttpOptions> = {}, parts: Partial<Stage> = {}): Promise<Running> {
  const stage = makeStage(parts);
  const recorded: Recorded = {
    commands: [],
    filters: [],
    strips: [],
    posted: [],
    calls: 0,
    wrongTokens: 0,
    dropped: 0,
  };
  const logged: object[] = [];
  const noted: object[] = [];
  const server = await startHttp({
    host: '127.0.0.1',
    port: 0,
    tokens: [
      { name: 'http', role: 'operate', token: new Secret(TOKEN) },
      { name: 'ci', role: 'read', token: new Secret(READ_TOKEN) },
    ],
    sessionKey: async () => new Secret(SESSION_KEY),
    trustedProxies: [],
    daemon: memoryDaemon(stage, recorded),
    metrics: {
      contentType: 'text/plain; version=0.0.4',
      text: async () => 'rolecall_build_info 1\n',
      wrongToken: () => void (recorded.wrongTokens += 1),
      connectionDropped: () => void (recorded.dropped += 1),
    },
    notReady: async () => [],
    outage: () => new AbortController().signal,
    log: {
      info: (data) => void noted.push(data),
      warn: (data) => void noted.push(data),
      error: (data) => void logged.push(data),
    },
    ...options,
  });
  const { port } = new URL(server.url);
  const send: Running['send'] = (method, path, given = {}, body) =>
    new Promise((resolve, reject) => {
      const headers = path.startsWith('/api/') ? { ...JSON_BODY, ...given } : given;
      const request = httpRequest(
        { host: '127.0.0.1', port, method, path, headers, agent: false },
        (reply) => {
          const chunks: Buffer[] = [];
          reply.on('data', (chunk: Buffer) => chunks.push(chunk));
          reply.on('error', reject);
          reply.on('end', () => {
            const text = Buffer.concat(chunks).toString();
            const pairs = Object.entries(reply.headersDistinct).flatMap(([name, values = []]) =>
              values.map((value): [string, string] => [name, value]),
            );
            resolve({
              status: reply.statusCode ?? 0,
              headers: new Headers(pairs),
              text,
              json: () => JSON.parse(text) as unknown,
            });
          });
        },
      );
      request.on('error', reject);
      request.end(body);
    });
  const raw: Running['raw'] = (bytes, keepOpen = false) =>
    new Promise((resolve) => {
      let text = '';
      const socket = connect(Number(port), '127.0.0.1', () => {
        socket.write(bytes, 'latin1');
        if (!keepOpen) socket.end();
      });
      socket.on('data', (chunk) => (text += chunk.toString()));
      socket.on('error', () => undefined);
      socket.on('close', () => resolve(text));
    });
  return {
    url: server.url,
    stage,
    recorded,
    logged,
    noted,
    send,
    get: (path, headers) => send('GET', path, headers),
    post: (path, headers, body) => send('POST', path, headers, body),
    raw,
    close: () => server.close(),
  };
}

/** Signs in as the form does; resolves with the cookie header of the session. */
export async function signIn(
  { url, post }: Running,
  headers: Readonly<Record<string, string>> = {},
  token = TOKEN,
): Promise<{ readonly cookie: string }> {
  const form = new URLSearchParams({ token, next: '/' }).toString();
  const { headers: answered } = await post('/sign-in', { origin: url, ...FORM, ...headers }, form);
  const cookie = answered.get('set-cookie')?.split(';')[0];
  if (cookie === undefined) throw new Error('no session was opened');
  return { cookie };
}

export const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
export const JSON_BODY = { 'content-type': 'application/json' };
