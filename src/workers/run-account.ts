// A program that runs as a child process: runs or plans one large account, with a store and connections of its own.
import { preview } from '../app/preview.ts';
import { dryRun, reconcile } from '../app/reconcile.ts';
import type { AccountRequest, ApplyDeps } from '../app/request.ts';
import { ACCEPT_NOTHING } from '../app/request.ts';
import { describeFailure } from '../app/run-result.ts';
import { readAuthorities } from '../config/secrets.ts';
import { LargeAccount, StoreError } from '../core/errors.ts';
import type { RunMode } from '../core/journal.ts';
import type { CommitRelation } from '../core/repository.ts';
import { Secret } from '../core/secret.ts';
import type { LargeRunEnd } from '../daemon/large-runs.ts';
import { serveParent } from '../platform/child-process.ts';
import { systemClock } from '../platform/clock.ts';
import { sha256 } from '../platform/digest.ts';
import { uuidv7 } from '../platform/ids.ts';
import { createConnections } from '../service/connections.ts';
import type { HostQueue } from '../service/pacing.ts';
import { readOnly } from '../service/read-only.ts';
import { openStore } from '../store/open-store.ts';
import type { FromProcess, ProcessJob, ToProcess } from './account-process.ts';

const stop = new AbortController();
const kill = new AbortController();
const grants = new Map<number, () => void>();
const relations = new Map<number, (relation: CommitRelation) => void>();
const digests = new Map<number, (digest: string | null) => void>();
let begin: (job: ProcessJob) => void = () => undefined;
const begun = new Promise<ProcessJob>((resolve) => (begin = resolve));
// One listener for all messages: a stop may arrive directly after the job.
const notify = serveParent<ToProcess, FromProcess>((message) => {
  if (message.type === 'job') begin(message.job);
  else if (message.type === 'stop') stop.abort();
  else if (message.type === 'kill') kill.abort();
  else if (message.type === 'granted') grants.get(message.id)?.();
  else if (message.type === 'relation') relations.get(message.id)?.(message.relation);
  else if (message.type === 'digest') digests.get(message.id)?.(message.digest);
});
const job = await begun;
const { version, store: location, token, ignoreRetryAfter, largeFrom, request: sent, task } = job;

/** Sent to the daemon, which has the repository of the configuration. */
function compareCommits(a: string, b: string): Promise<CommitRelation> {
  const id = relations.size;
  return new Promise((resolve) => {
    relations.set(id, resolve);
    void notify({ type: 'compare', id, a, b });
  });
}

/** The daemon reads the files of the configuration. */
function currentDigest(): Promise<string | null> {
  const id = digests.size;
  return new Promise((resolve) => {
    digests.set(id, resolve);
    void notify({ type: 'read_file', id });
  });
}

let calls = 0;

/** The daemon limits the calls of all processes at an address together. */
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

async function work(): Promise<FromProcess> {
  const store = await openStore(location, { mustExist: true });
  const connections = createConnections({
    // One account uses at most `concurrency` connections.
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
    currentDigest,
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

async function run(mode: RunMode, deps: ApplyDeps): Promise<LargeRunEnd> {
  if (mode === 'plan') {
    const { runId } = await dryRun(request, { ...deps, service: readOnly(deps.service) });
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
