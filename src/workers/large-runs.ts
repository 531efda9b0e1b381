// Runs large accounts, each in a process of its own with a memory limit, so that a run that exceeds it fails alone.
import { setTimeout as sleep } from 'node:timers/promises';
import type { AccountRequest, ApplyDeps } from '../app/request.ts';
import type { RunFailure } from '../app/run-result.ts';
import type { PlanResult } from '../core/plan.ts';
import type { Journal, RunSignals } from '../core/ports.ts';
import type { CommitRelation } from '../core/repository.ts';
import type { Secret } from '../core/secret.ts';
import type { AccountSettings, OpenLocation } from '../core/settings.ts';
import type { LargeRuns, PlanHeadline } from '../daemon/large-runs.ts';
import type { RequestObserver } from '../core/progress.ts';
import type { ProcessJob, ProcessOutcome } from './account-process.ts';
import { runAccountProcess } from './account-process.ts';

export interface LargeRunsOptions {
  readonly version: string;
  readonly store: OpenLocation;
  readonly ignoreRetryAfter: boolean;
  readonly token: (account: AccountSettings, signals: RunSignals) => Promise<Secret>;
  readonly observer: (account: string) => RequestObserver;
  readonly compareCommits: (a: string, b: string) => Promise<CommitRelation>;
  readonly currentDigest: ApplyDeps['currentDigest'];
  readonly journal: Pick<Journal, 'endRun'>;
  /** Makes the call when `hostConcurrency` of the address allows it. */
  readonly atHost: (baseUrl: string, call: () => Promise<void>) => Promise<void>;
}

export interface LargeAccounts extends LargeRuns {
  /** Plans an account of a posted configuration. The plan is a failed one when no process is free in time. */
  preview(request: AccountRequest): Promise<PlanResult>;
}

interface ProcessSize {
  /** A list of more objects needs the next size. */
  readonly largeFrom: number;
  /** The heap limit of one process. All processes and the daemon together fit the limits of the unit and the manifests. */
  readonly megabytes: number;
  readonly maxProcesses: number;
}

const MEDIUM: ProcessSize = { largeFrom: 20_000, megabytes: 192, maxProcesses: 2 };
const LARGE: ProcessSize = { largeFrom: Infinity, megabytes: 560, maxProcesses: 1 };

/** How long a posted plan waits for a process. */
const MAX_WAIT_MS = 60_000;
const POLL_MS = 250;

type Task = ProcessJob['task'];
type OnPlan = (plan: PlanHeadline, runId: string) => void;

/** The processes of one size. One base address has at most one of them, so that a slow service delays only itself. */
function createPlaces({ maxProcesses }: ProcessSize) {
  const busy = new Set<string>();
  const isFree = (address: string): boolean => busy.size < maxProcesses && !busy.has(address);
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
  const onFree: (() => void)[] = [];
  const sizeOf = (account: string): ProcessSize => sizes.get(account) ?? MEDIUM;

  /** Works in a process of the account's size; null when none is free. */
  async function work(request: AccountRequest, task: Task, onPlan: OnPlan): Promise<ProcessOutcome | null> {
    const { name, baseUrl } = request.settings;
    const size = sizeOf(name);
    const place = places.get(size);
    if (place?.take(baseUrl) !== true) return null;
    try {
      const outcome = await runAccountProcess(
        await jobOf(request, task, size),
        size.megabytes,
        request.signals,
        {
          observer: options.observer(name),
          compareCommits: options.compareCommits,
          currentDigest: () => options.currentDigest(request.settings),
          atHost: (call) => options.atHost(baseUrl, call),
          onPlan,
        },
      );
      // The next run gets more memory.
      if (outcome.type === 'too_large' || outcome.type === 'died') sizes.set(name, LARGE);
      return outcome;
    } finally {
      place.release(baseUrl);
      for (const listener of onFree) listener();
    }
  }

  async function jobOf(request: AccountRequest, task: Task, size: ProcessSize): Promise<ProcessJob> {
    const { signals, ...rest } = request;
    const { version, store, ignoreRetryAfter, token } = options;
    const secret = (await token(request.settings, signals)).reveal();
    return {
      version,
      store,
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
      onFree.push(listener);
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
      for (let waitedMs = 0; waitedMs < MAX_WAIT_MS; waitedMs += POLL_MS) {
        if (request.signals.stop.aborted) return failed('interrupted', 'the daemon is stopping');
        const outcome = await work(request, { type: 'preview' }, () => undefined);
        if (outcome?.type === 'previewed') return outcome.plan;
        if (outcome?.type === 'failed') throw outcome.error;
        if (outcome?.type === 'died') return failed(outcome.failure.code, outcome.failure.message);
        if (outcome === null) await sleep(POLL_MS);
      }
      return failed('busy', 'other large accounts are being planned; plan again in a minute');
    },
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
