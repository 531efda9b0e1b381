// Large accounts, each in a process of its own with a bound of its memory: a run that breaks it fails alone, by name.
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { AccountRequest } from '../app/request.ts';
import type { RunFailure } from '../app/run-result.ts';
import { StoreError } from '../core/errors.ts';
import type { PlanResult } from '../core/plan.ts';
import type { Journal, RunSignals } from '../core/ports.ts';
import type { CommitRelation } from '../core/repository.ts';
import type { Secret } from '../core/secret.ts';
import type { AccountSettings } from '../core/settings.ts';
import type { LargeRuns, PlanHeadline } from '../daemon/large-runs.ts';
import { type ChildEnd, startChild } from '../platform/child-process.ts';
import type { RequestObserver } from '../service/requests.ts';
import { countCalls } from './host-calls.ts';
import type { FromProcess, ProcessJob, RunEnd, ToProcess } from './run-account.ts';

export interface LargeRunsOptions {
  readonly version: string;
  readonly storeFile: string;
  readonly ignoreRetryAfter: boolean;
  readonly token: (account: AccountSettings, signals: RunSignals) => Promise<Secret>;
  readonly observer: (account: string) => RequestObserver;
  readonly compareCommits: (a: string, b: string) => Promise<CommitRelation>;
  readonly journal: Pick<Journal, 'endRun'>;
  /** Calls when `hostConcurrency` has room at the address. */
  readonly atHost: (baseUrl: string, call: () => Promise<void>) => Promise<void>;
}

export interface LargeAccounts extends LargeRuns {
  /** The plan of a posted configuration; a failed one when no process is free in time. */
  preview(request: AccountRequest): Promise<PlanResult>;
}

interface ProcessSize {
  /** A list of more objects needs the next size. */
  readonly largeFrom: number;
  /** Heap of one process. All processes and the daemon together fit the limits of the unit and the manifests. */
  readonly megabytes: number;
  readonly places: number;
}

const MEDIUM: ProcessSize = { largeFrom: 20_000, megabytes: 192, places: 2 };
const LARGE: ProcessSize = { largeFrom: Infinity, megabytes: 560, places: 1 };

/** How long a posted plan waits for a process. */
const LONGEST_WAIT_MS = 60_000;
const POLL_MS = 250;

const PROGRAM = fileURLToPath(new URL('./run-account.js', import.meta.url));

/** `died`: it ended without a result; `runId` is the run that it had begun, which is not ended in the journal. */
type Outcome =
  | { readonly type: 'ended'; readonly end: RunEnd }
  | { readonly type: 'previewed'; readonly plan: PlanResult }
  | { readonly type: 'too_large' }
  | { readonly type: 'failed'; readonly error: Error }
  | { readonly type: 'died'; readonly runId: string | null; readonly failure: RunFailure };

type Task = ProcessJob['task'];
type OnPlan = (plan: PlanHeadline, runId: string) => void;

/** The places of one size. One base address has one of them at most, so that a slow service delays only itself. */
function createPlaces({ places }: ProcessSize) {
  const busy = new Set<string>();
  const isFree = (address: string): boolean => busy.size < places && !busy.has(address);
  return {
    isFree,
    take(address: string): boolean {
      if (!isFree(address)) return false;
      busy.add(address);
      return true;
    },
    release: (address: string) => void busy.delete(address),
  };
}

export function createLargeRuns(options: LargeRunsOptions): LargeAccounts {
  const places = new Map([MEDIUM, LARGE].map((size) => [size, createPlaces(size)]));
  const sizes = new Map<string, ProcessSize>();
  let onFree = (): void => undefined;
  const sizeOf = (account: string): ProcessSize => sizes.get(account) ?? MEDIUM;

  /** Works in a process of the account's size; null when none is free. */
  async function work(request: AccountRequest, task: Task, onPlan: OnPlan): Promise<Outcome | null> {
    const { name, baseUrl } = request.settings;
    const size = sizeOf(name);
    const place = places.get(size);
    if (place?.take(baseUrl) !== true) return null;
    try {
      const outcome = await runProcess(await jobOf(request, task, size), request, { onPlan, size, options });
      // The next run gets more memory.
      if (outcome.type === 'too_large' || outcome.type === 'died') sizes.set(name, LARGE);
      return outcome;
    } finally {
      place.release(baseUrl);
      onFree();
    }
  }

  async function jobOf(request: AccountRequest, task: Task, size: ProcessSize): Promise<ProcessJob> {
    const { signals, ...rest } = request;
    const { version, storeFile, ignoreRetryAfter, token } = options;
    const secret = (await token(request.settings, signals)).reveal();
    return {
      version,
      storeFile,
      ignoreRetryAfter,
      largeFrom: size.largeFrom,
      token: secret,
      request: rest,
      task,
    };
  }

  return {
    isLarge: (account) => sizes.has(account),
    onFree(listener) {
      onFree = listener;
    },
    note(account, names) {
      sizes.set(account, names > MEDIUM.largeFrom ? LARGE : sizeOf(account));
    },
    mayStart: (account, address) =>
      !sizes.has(account) || places.get(sizeOf(account))?.isFree(address) === true,
    async run(request, mode, onPlan) {
      if (request.signals.stop.aborted) return { heldBy: null };
      const outcome = await work(request, { type: 'run', mode }, onPlan);
      switch (outcome?.type) {
        case undefined:
        case 'too_large':
          return 'later';
        case 'ended':
          return outcome.end;
        case 'failed':
          throw outcome.error;
        case 'died':
          if (outcome.runId === null) throw new Error(outcome.failure.message);
          await endAsFailed(options.journal, outcome.runId, outcome.failure);
          return { runId: outcome.runId };
        case 'previewed':
          throw new Error('the process of a large account planned instead of running');
        default:
          return outcome satisfies never;
      }
    },
    async preview(request) {
      const { name: account } = request.settings;
      const failed = (code: string, message: string): PlanResult => ({
        schemaVersion: 1,
        account,
        status: 'failed',
        error: { code, message },
      });
      for (let waitedMs = 0; waitedMs < LONGEST_WAIT_MS; waitedMs += POLL_MS) {
        if (request.signals.stop.aborted) return failed('interrupted', 'the daemon is stopping');
        const outcome = await work(request, { type: 'preview' }, () => undefined);
        if (outcome?.type === 'previewed') return outcome.plan;
        if (outcome?.type === 'failed') throw outcome.error;
        if (outcome?.type === 'died') return failed(outcome.failure.code, outcome.failure.message);
        if (outcome === null) await sleep(POLL_MS);
      }
      return failed('busy', 'other large accounts are being planned; ask again in a minute');
    },
  };
}

/** Runs the job in a process; no process outlives the call. */
async function runProcess(
  job: ProcessJob,
  { settings, signals }: AccountRequest,
  {
    onPlan,
    size,
    options,
  }: { readonly onPlan: OnPlan; readonly size: ProcessSize; readonly options: LargeRunsOptions },
): Promise<Outcome> {
  const observer = options.observer(settings.name);
  const calls = countCalls(
    (call) => options.atHost(settings.baseUrl, call),
    (message: ToProcess) => child.send(message),
  );
  let outcome: Outcome | null = null;
  let runId: string | null = null;
  const receive = (message: FromProcess): void => {
    switch (message.type) {
      case 'began':
        return void ({ runId } = message);
      case 'planned':
        return onPlan(message.plan, message.runId);
      case 'request':
        return observer.request(message.event);
      case 'retry':
        return observer.retry();
      case 'wanted':
        return calls.wanted(message.id);
      case 'returned':
        return calls.returned(message.id);
      case 'compare':
        return void answer(message, options, child.send);
      case 'failed': {
        const { code, message: text } = message;
        outcome = { type: 'failed', error: code === null ? new Error(text) : new StoreError(code, text) };
        return;
      }
      case 'ended':
      case 'previewed':
      case 'too_large':
        outcome = message;
        return;
      default:
        message satisfies never;
    }
  };
  const child = startChild<ToProcess, FromProcess>({
    args: [PROGRAM],
    onMessage: receive,
    heapMegabytes: size.megabytes,
    // It needs the proxy and the certificates of this machine.
    env: process.env,
  });
  const stop = (): void => child.send({ type: 'stop' });
  const kill = (): void => child.send({ type: 'kill' });
  try {
    child.send({ type: 'job', job });
    signals.stop.addEventListener('abort', stop);
    signals.kill.addEventListener('abort', kill);
    if (signals.stop.aborted) stop();
    if (signals.kill.aborted) kill();
    const end = await child.ended;
    return outcome ?? { type: 'died', runId, failure: failureOf(end, size) };
  } finally {
    signals.stop.removeEventListener('abort', stop);
    signals.kill.removeEventListener('abort', kill);
    calls.end();
  }
}

async function answer(
  { id, a, b }: Extract<FromProcess, { type: 'compare' }>,
  { compareCommits }: LargeRunsOptions,
  send: (message: ToProcess) => void,
): Promise<void> {
  send({ type: 'relation', id, relation: await compareCommits(a, b).catch((): CommitRelation => 'unknown') });
}

function failureOf({ reason, how }: ChildEnd, { megabytes }: ProcessSize): RunFailure {
  const isKilled = reason === 'killed' && how === 'SIGKILL';
  if (reason !== 'out_of_memory' && !isKilled) {
    return {
      code: 'process_failed',
      message: `the process that ran this account ended without a result (${how})`,
    };
  }
  const why = isKilled
    ? 'was killed (SIGKILL), most likely because the machine has no memory left'
    : `was ended (${how}), because its lists take more than ${megabytes} MB of memory`;
  return {
    code: 'account_too_large',
    message: `the process that ran this account ${why}. Lower api.maxEntries and api.maxResponseBytes to refuse such lists earlier, or plan this account with \`rolecall plan\` on a machine with more memory`,
  };
}

async function endAsFailed(
  journal: LargeRunsOptions['journal'],
  runId: string,
  { code, message }: RunFailure,
): Promise<void> {
  await journal.endRun(runId, {
    status: 'failed',
    finishedAtMs: Date.now(),
    counts: null,
    traffic: { requests: 0, retries: 0 },
    planDigest: null,
    errorCode: code,
    error: message,
    warnings: [],
  });
}
