// Large accounts, each in a thread of its own with a bound of its memory: a run that breaks it fails alone, by name.
import { Worker } from 'node:worker_threads';
import type { AccountRequest } from './app/request.ts';
import { StoreError } from './core/errors.ts';
import type { PlanResult } from './core/plan.ts';
import type { CommitRelation, Journal } from './core/ports.ts';
import type { Secret } from './core/secret.ts';
import type { AccountSettings } from './core/settings.ts';
import type { LargeRuns, PlanHeadline } from './daemon/large-runs.ts';
import type { RequestObserver } from './service/requests.ts';
import type { FromThread, RunEnd, ThreadJob, ToThread } from './wire-run-thread.ts';

export interface LargeRunsOptions {
  readonly version: string;
  readonly storeFile: string;
  readonly ignoreRetryAfter: boolean;
  readonly token: (account: AccountSettings) => Promise<Secret>;
  readonly observer: (account: string) => RequestObserver;
  readonly compareCommits: (a: string, b: string) => Promise<CommitRelation>;
  readonly journal: Pick<Journal, 'endRun'>;
}

export interface LargeAccounts extends LargeRuns {
  /** The plan of a posted configuration. */
  preview(request: AccountRequest): Promise<PlanResult>;
}

/** The memory of one thread. Together with the daemon's own it fits the limits of the unit and the manifests. */
const MOST_MEGABYTES = 288;

/** Threads at a time; one base address has one of them at most, so that a slow service delays itself only. */
const MOST_THREADS = 2;

interface Outcome {
  readonly end?: RunEnd;
  readonly plan?: PlanResult;
}

interface Waiting {
  readonly address: string;
  readonly start: () => void;
}

export function createLargeRuns(options: LargeRunsOptions): LargeAccounts {
  const waiting: Waiting[] = [];
  const busy = new Set<string>();

  function startNext(): void {
    if (busy.size >= MOST_THREADS) return;
    const index = waiting.findIndex(({ address }) => !busy.has(address));
    const [next] = index < 0 ? [] : waiting.splice(index, 1);
    if (next === undefined) return;
    busy.add(next.address);
    next.start();
    startNext();
  }

  async function inTurn<T>(address: string, work: () => Promise<T>): Promise<T> {
    await new Promise<void>((start) => {
      waiting.push({ address, start });
      startNext();
    });
    try {
      return await work();
    } finally {
      busy.delete(address);
      startNext();
    }
  }

  async function jobOf(request: AccountRequest, task: ThreadJob['task']): Promise<ThreadJob> {
    const { signals: _, ...rest } = request;
    const { version, storeFile, ignoreRetryAfter } = options;
    const token = (await options.token(request.settings)).reveal();
    return { version, storeFile, ignoreRetryAfter, token, request: rest, task };
  }

  async function inThread(
    request: AccountRequest,
    task: ThreadJob['task'],
    onPlan: (plan: PlanHeadline, runId: string) => void,
  ): Promise<Outcome> {
    const { settings, signals } = request;
    return await inTurn(settings.baseUrl, async () => {
      const worker = new Worker(new URL('./run-thread.js', import.meta.url), {
        workerData: await jobOf(request, task),
        resourceLimits: { maxOldGenerationSizeMb: MOST_MEGABYTES, maxYoungGenerationSizeMb: 32 },
      });
      const send = (message: ToThread): void => worker.postMessage(message);
      const stop = (): void => send({ type: 'stop' });
      const kill = (): void => send({ type: 'kill' });
      signals.stop.addEventListener('abort', stop);
      signals.kill.addEventListener('abort', kill);
      if (signals.stop.aborted) stop();
      const observer = options.observer(settings.name);
      let outcome: Outcome = {};
      let failure: Error | undefined;
      let runId: string | null = null;
      worker.on('message', (message: FromThread) => {
        if (message.type === 'began') ({ runId } = message);
        else if (message.type === 'planned') onPlan(message.plan, message.runId);
        else if (message.type === 'request') observer.request(message.event);
        else if (message.type === 'retry') observer.retry();
        else if (message.type === 'ended') outcome = { end: message.end };
        else if (message.type === 'previewed') outcome = { plan: message.plan };
        else if (message.type === 'failed')
          failure =
            message.code === null
              ? new Error(message.message)
              : new StoreError(message.code, message.message);
        else {
          const { id, a, b } = message;
          void options
            .compareCommits(a, b)
            .catch((): CommitRelation => 'unknown')
            .then((relation) => send({ type: 'relation', id, relation }));
        }
      });
      worker.on('error', (error) => (failure = error));
      await new Promise((resolve) => worker.once('exit', resolve));
      signals.stop.removeEventListener('abort', stop);
      signals.kill.removeEventListener('abort', kill);
      if (!isOutOfMemory(failure)) {
        if (failure !== undefined) throw failure;
        return outcome;
      }
      if (runId !== null) await endAsTooLarge(runId);
      return task.type === 'preview'
        ? { plan: { schemaVersion: 1, account: settings.name, status: 'failed', error: TOO_LARGE } }
        : { end: runId === null ? { heldBy: null } : { runId } };
    });
  }

  async function endAsTooLarge(runId: string): Promise<void> {
    await options.journal.endRun(runId, {
      status: 'failed',
      finishedAtMs: Date.now(),
      counts: null,
      traffic: { requests: 0, retries: 0 },
      planDigest: null,
      errorCode: TOO_LARGE.code,
      error: TOO_LARGE.message,
      warnings: [],
    });
  }

  return {
    async run(request, mode, onPlan) {
      const { end } = await inThread(request, { type: 'run', mode }, onPlan);
      if (end === undefined) throw new Error('the thread of a large account ended without a result');
      return end;
    },
    async preview(request) {
      const { plan } = await inThread(request, { type: 'preview' }, () => undefined);
      if (plan === undefined) throw new Error('the thread of a large account ended without a plan');
      return plan;
    },
  };
}

const TOO_LARGE = {
  code: 'account_too_large',
  message: `the lists of this account take more than ${MOST_MEGABYTES} MB of memory; lower api.maxEntries and api.maxResponseBytes to refuse them earlier, or run this account with \`rolecall apply\`, which has no such limit`,
} as const;

function isOutOfMemory(error: Error | undefined): boolean {
  return error !== undefined && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
}
