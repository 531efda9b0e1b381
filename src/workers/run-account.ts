// The process that runs one large account: its own store and connections, and the use case that the daemon would have run.
import { preview } from '../app/preview.ts';
import { dryRun, reconcile } from '../app/reconcile.ts';
import type { AccountRequest, ApplyDeps } from '../app/request.ts';
import { ACCEPT_NOTHING } from '../app/request.ts';
import { describeFailure } from '../app/run-result.ts';
import { LargeAccount, StoreError } from '../core/errors.ts';
import type { RunMode } from '../core/journal.ts';
import type { PlanResult } from '../core/plan.ts';
import type { CommitRelation } from '../core/repository.ts';
import { Secret } from '../core/secret.ts';
import type { PlanHeadline } from '../daemon/large-runs.ts';
import { readAuthorities } from '../config/secrets.ts';
import { serveParent } from '../platform/child-process.ts';
import { sha256 } from '../platform/digest.ts';
import { createConnections } from '../service/connections.ts';
import type { HostQueue } from '../service/pacing.ts';
import type { RequestObserver } from '../service/requests.ts';
import { openStore } from '../store/store.ts';
import { systemClock } from '../platform/clock.ts';
import { readOnly, uuidv7 } from '../wire/session.ts';

export interface ProcessJob {
  readonly version: string;
  readonly storeFile: string;
  readonly token: string;
  readonly ignoreRetryAfter: boolean;
  /** A list of more objects than this needs a process with more memory. */
  readonly largeFrom: number;
  readonly request: Omit<AccountRequest, 'signals'>;
  readonly task: { readonly type: 'run'; readonly mode: RunMode } | { readonly type: 'preview' };
}

/** What the daemon sends to the process. */
export type ToProcess =
  | { readonly type: 'job'; readonly job: ProcessJob }
  | { readonly type: 'stop' | 'kill' }
  /** The call of this id may be made. */
  | { readonly type: 'granted'; readonly id: number }
  | { readonly type: 'relation'; readonly id: number; readonly relation: CommitRelation };

export type RunEnd = { readonly runId: string } | { readonly heldBy: string | null };

/** What the process sends to the daemon. */
export type FromProcess =
  | { readonly type: 'began'; readonly runId: string }
  | { readonly type: 'planned'; readonly plan: PlanHeadline; readonly runId: string }
  | { readonly type: 'request'; readonly event: Parameters<RequestObserver['request']>[0] }
  | { readonly type: 'retry' }
  /** A call waits for room at the address, and has ended. */
  | { readonly type: 'wanted' | 'returned'; readonly id: number }
  | { readonly type: 'compare'; readonly id: number; readonly a: string; readonly b: string }
  | { readonly type: 'ended'; readonly end: RunEnd }
  | { readonly type: 'previewed'; readonly plan: PlanResult }
  | { readonly type: 'too_large' }
  | { readonly type: 'failed'; readonly code: string | null; readonly message: string };

const stop = new AbortController();
const kill = new AbortController();
const grants = new Map<number, () => void>();
const relations = new Map<number, (relation: CommitRelation) => void>();
let begin: (job: ProcessJob) => void = () => undefined;
const begun = new Promise<ProcessJob>((resolve) => (begin = resolve));
// One listener from the beginning: a stop may come right behind the job.
const notify = serveParent<ToProcess, FromProcess>((message) => {
  if (message.type === 'job') begin(message.job);
  else if (message.type === 'stop') stop.abort();
  else if (message.type === 'kill') kill.abort();
  else if (message.type === 'granted') grants.get(message.id)?.();
  else if (message.type === 'relation') relations.get(message.id)?.(message.relation);
});
const job = await begun;
const { version, storeFile, token, ignoreRetryAfter, largeFrom, request: sent, task } = job;

/** Asks the daemon, which knows where the configuration's commits are. */
function compareCommits(a: string, b: string): Promise<CommitRelation> {
  const id = relations.size;
  return new Promise((resolve) => {
    relations.set(id, resolve);
    void notify({ type: 'compare', id, a, b });
  });
}

let calls = 0;

/** The daemon counts the calls of all processes at an address. */
const sharedHost: HostQueue = {
  async add(call) {
    const id = (calls += 1);
    await new Promise<void>((resolve) => {
      grants.set(id, resolve);
      void notify({ type: 'wanted', id });
    });
    grants.delete(id);
    try {
      return await call();
    } finally {
      void notify({ type: 'returned', id });
    }
  },
};

const request: AccountRequest = { ...sent, signals: { stop: stop.signal, kill: kill.signal } };

/** Does the task with a store and connections of its own. */
async function work(): Promise<FromProcess> {
  const store = openStore(storeFile, { mustExist: true });
  const connections = createConnections({
    // Of the address's connections a process takes no more than one account may have.
    api: { ...request.api, hostConcurrency: Math.min(request.api.hostConcurrency, request.api.concurrency) },
    host: sharedHost,
    version,
    token: () => Promise.resolve(new Secret(token)),
    authorities: readAuthorities,
    throttledUntilMs: async ({ name }) =>
      ignoreRetryAfter ? null : (await store.journal.accountState(name)).throttledUntilMs,
    observer: () => ({
      request: (event) => void notify({ type: 'request', event }),
      retry: () => void notify({ type: 'retry' }),
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
      void notify({ type: 'began', runId });
      return runId;
    },
    sha256,
    compareCommits,
    loadCron: async () => (await import('../daemon/cron.ts')).cronTicked,
  };
  try {
    if (task.type === 'run') return { type: 'ended', end: await run(task.mode, deps) };
    const claimant = store.reader.claimant.bind(store.reader);
    const plan = await preview(request, { ...deps, service: readOnly(connections), claimant });
    return { type: 'previewed', plan };
  } finally {
    await connections.close();
    await store.close();
  }
}

async function run(mode: RunMode, deps: ApplyDeps): Promise<RunEnd> {
  if (mode === 'plan') {
    const { runId } = await dryRun(request, {
      ...deps,
      service: { reader: (account, signals) => deps.service.reader(account, signals) },
    });
    return { runId };
  }
  const result = await reconcile(request, deps, {
    mode,
    approvals: true,
    accept: ACCEPT_NOTHING,
    lockTimeoutMs: 0,
    onPlan: ({ account, summary, digest, status }, runId) =>
      void notify({ type: 'planned', plan: { account, summary, digest, status }, runId }),
  });
  return 'runId' in result ? { runId: result.runId } : result;
}

await notify(
  await work().catch((error: unknown): FromProcess => {
    if (error instanceof LargeAccount) return { type: 'too_large' };
    const code = error instanceof StoreError ? error.code : null;
    return { type: 'failed', code, message: describeFailure(error).message };
  }),
);
if (process.connected) process.disconnect();
