// The thread that runs one large account: its own store and connections, and the use case that the daemon would have run.
import { createHash } from 'node:crypto';
import { setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { preview } from './app/preview.ts';
import { dryRun, reconcile } from './app/reconcile.ts';
import type { AccountRequest, ApplyDeps } from './app/request.ts';
import { ACCEPT_NOTHING } from './app/request.ts';
import { describeFailure } from './app/run-result.ts';
import { LargeAccount, StoreError } from './core/errors.ts';
import type { RunMode } from './core/journal.ts';
import type { PlanResult } from './core/plan.ts';
import type { CommitRelation } from './core/ports.ts';
import { Secret } from './core/secret.ts';
import type { PlanHeadline } from './daemon/large-runs.ts';
import { createConnections } from './service/connections.ts';
import type { RequestObserver } from './service/requests.ts';
import { openStore } from './store/store.ts';
import { systemClock } from './wire-clock.ts';
import { readOnly, uuidv7 } from './wire-session.ts';

export interface ThreadJob {
  readonly version: string;
  readonly storeFile: string;
  readonly token: string;
  readonly ignoreRetryAfter: boolean;
  /** A list of more objects than this is for a thread with more memory. */
  readonly largeFrom: number;
  readonly request: Omit<AccountRequest, 'signals'>;
  readonly task: { readonly type: 'run'; readonly mode: RunMode } | { readonly type: 'preview' };
}

/** What the daemon tells the thread. */
export type ToThread =
  | { readonly type: 'stop' | 'kill' }
  | { readonly type: 'relation'; readonly id: number; readonly relation: CommitRelation };

export type RunEnd = { readonly runId: string } | { readonly heldBy: string | null };

/** What the thread tells the daemon. */
export type FromThread =
  | { readonly type: 'began'; readonly runId: string }
  | { readonly type: 'planned'; readonly plan: PlanHeadline; readonly runId: string }
  | { readonly type: 'request'; readonly event: Parameters<RequestObserver['request']>[0] }
  | { readonly type: 'retry' }
  | { readonly type: 'compare'; readonly id: number; readonly a: string; readonly b: string }
  | { readonly type: 'ended'; readonly end: RunEnd }
  | { readonly type: 'previewed'; readonly plan: PlanResult }
  | { readonly type: 'too_large' }
  | { readonly type: 'failed'; readonly code: string | null; readonly message: string };

const port = parentPort;
if (port === null) throw new Error('this file is the start of a thread');
const tell = (message: FromThread): void => port.postMessage(message);
// Sent by wire-large-runs.ts, so its shape is known.
const {
  version,
  storeFile,
  token,
  ignoreRetryAfter,
  largeFrom,
  request: sent,
  task,
} = workerData as ThreadJob;

const stop = new AbortController();
const kill = new AbortController();
const relations = new Map<number, (relation: CommitRelation) => void>();
port.on('message', (message: ToThread) => {
  if (message.type === 'stop') stop.abort();
  else if (message.type === 'kill') kill.abort();
  else if (message.type === 'relation') relations.get(message.id)?.(message.relation);
});

/** Asks the daemon, which knows where the configuration's commits are. */
function compareCommits(a: string, b: string): Promise<CommitRelation> {
  const id = relations.size;
  return new Promise((resolve) => {
    relations.set(id, resolve);
    tell({ type: 'compare', id, a, b });
  });
}

// Requests of people come before the work of this thread. Elsewhere it would be the priority of the whole process.
if (process.platform === 'linux') setPriority(10);

const request: AccountRequest = { ...sent, signals: { stop: stop.signal, kill: kill.signal } };
const store = openStore(storeFile, { mustExist: true });
const connections = createConnections({
  // Of the address's connections a thread takes no more than one account may have.
  api: { ...request.api, hostConcurrency: Math.min(request.api.hostConcurrency, request.api.concurrency) },
  version,
  token: () => Promise.resolve(new Secret(token)),
  throttledUntilMs: async ({ name }) =>
    ignoreRetryAfter ? null : (await store.journal.accountState(name)).throttledUntilMs,
  observer: () => ({
    request: (event) => tell({ type: 'request', event }),
    retry: () => tell({ type: 'retry' }),
  }),
  isConfigured: () => false,
  largeFrom,
});
const deps: ApplyDeps = {
  service: connections,
  journal: store.journal,
  locks: store.locks,
  clock: systemClock,
  newRunId() {
    const runId = uuidv7(Date.now());
    tell({ type: 'began', runId });
    return runId;
  },
  sha256: (text) => createHash('sha256').update(text).digest('hex'),
  compareCommits,
  loadCron: async () => (await import('./daemon/cron.ts')).cronTicked,
};

async function run(mode: RunMode): Promise<RunEnd> {
  if (mode === 'plan') {
    const { runId } = await dryRun(request, { ...deps, service: readOnly(connections) });
    return { runId };
  }
  const result = await reconcile(request, deps, {
    mode,
    approvals: true,
    accept: ACCEPT_NOTHING,
    lockTimeoutMs: 0,
    onPlan: ({ account, summary, digest, status }, runId) =>
      tell({ type: 'planned', plan: { account, summary, digest, status }, runId }),
  });
  return 'runId' in result ? { runId: result.runId } : result;
}

try {
  if (task.type === 'run') tell({ type: 'ended', end: await run(task.mode) });
  else {
    const claimant = store.reader.claimant.bind(store.reader);
    tell({
      type: 'previewed',
      plan: await preview(request, { ...deps, service: readOnly(connections), claimant }),
    });
  }
} catch (error) {
  const { message } = describeFailure(error);
  if (error instanceof LargeAccount) tell({ type: 'too_large' });
  else tell({ type: 'failed', code: error instanceof StoreError ? error.code : null, message });
} finally {
  await connections.close();
  await store.close();
  port.close();
}
