// Large accounts, each in a process of its own with a bound of its memory: a run that breaks it fails alone, by name.
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { AccountRequest } from './app/request.ts';
import type { RunFailure } from './app/run-result.ts';
import { StoreError } from './core/errors.ts';
import type { PlanResult } from './core/plan.ts';
import type { CommitRelation, Journal } from './core/ports.ts';
import type { Secret } from './core/secret.ts';
import type { AccountSettings } from './core/settings.ts';
import type { LargeRuns, PlanHeadline } from './daemon/large-runs.ts';
import type { RequestObserver } from './service/requests.ts';
import type { FromProcess, RunEnd, ProcessJob, ToProcess } from './wire-run-process.ts';

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

/** Threads of one size, with their places. One base address has one place of each at most: a slow service delays itself. */
interface ProcessSize {
  /** Objects of one list. */
  readonly largeFrom: number;
  /** Memory of one thread. All of it together with the daemon's own fits the limits of the unit and the manifests. */
  readonly megabytes: number;
  readonly places: number;
}

const MEDIUM: ProcessSize = { largeFrom: 20_000, megabytes: 192, places: 2 };
const LARGE: ProcessSize = { largeFrom: Infinity, megabytes: 560, places: 1 };

interface Outcome {
  readonly end?: RunEnd;
  readonly plan?: PlanResult;
  /** The account needs a thread of the next size; nothing was journaled. */
  readonly isTooLarge?: boolean;
}

interface Waiting {
  readonly address: string;
  readonly start: () => void;
}

const PROGRAM = fileURLToPath(new URL('./run-process.js', import.meta.url));

/** The status of a process whose engine had no memory left, where no signal is reported. */
const ABORTED = 134;

/** Lets work begin in the order in which it came, as far as there are places and its address has none. */
function createPlaces(places: number): <T>(address: string, work: () => Promise<T>) => Promise<T> {
  const waiting: Waiting[] = [];
  const busy = new Set<string>();

  function startNext(): void {
    if (busy.size >= places) return;
    const index = waiting.findIndex(({ address }) => !busy.has(address));
    const [next] = index < 0 ? [] : waiting.splice(index, 1);
    if (next === undefined) return;
    busy.add(next.address);
    next.start();
    startNext();
  }

  return async (address, work) => {
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
  };
}

export function createLargeRuns(options: LargeRunsOptions): LargeAccounts {
  const inMediumTurn = createPlaces(MEDIUM.places);
  const inLargeTurn = createPlaces(LARGE.places);
  const largeOnes = new Set<string>();

  async function inRightThread(...[request, task, onPlan]: Parameters<typeof inProcess>): Promise<Outcome> {
    const { name, baseUrl } = request.settings;
    if (!largeOnes.has(name)) {
      const outcome = await inMediumTurn(baseUrl, () => inProcess(request, task, onPlan, MEDIUM));
      if (outcome.isTooLarge !== true) return outcome;
      largeOnes.add(name);
    }
    return await inLargeTurn(baseUrl, () => inProcess(request, task, onPlan, LARGE));
  }

  async function jobOf(
    request: AccountRequest,
    task: ProcessJob['task'],
    { largeFrom }: ProcessSize,
  ): Promise<ProcessJob> {
    const { signals: _, ...rest } = request;
    const { version, storeFile, ignoreRetryAfter } = options;
    const token = (await options.token(request.settings)).reveal();
    return { version, storeFile, ignoreRetryAfter, largeFrom, token, request: rest, task };
  }

  async function inProcess(
    request: AccountRequest,
    task: ProcessJob['task'],
    onPlan: (plan: PlanHeadline, runId: string) => void,
    size: ProcessSize = LARGE,
  ): Promise<Outcome> {
    const { settings, signals } = request;
    const child = fork(PROGRAM, {
      execArgv: [`--max-old-space-size=${size.megabytes}`],
      serialization: 'advanced',
      // What the engine prints of a lack of memory is no line of the log.
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    const send = (message: ToProcess | ProcessJob): void => {
      if (child.connected) child.send(message, () => undefined);
    };
    const exited = new Promise<NodeJS.Signals | number | null>((resolve) => {
      child.once('exit', (code, signal) => resolve(signal ?? code));
      child.once('error', () => resolve(null));
    });
    send(await jobOf(request, task, size));
    const stop = (): void => send({ type: 'stop' });
    const kill = (): void => send({ type: 'kill' });
    signals.stop.addEventListener('abort', stop);
    signals.kill.addEventListener('abort', kill);
    if (signals.stop.aborted) stop();
    const observer = options.observer(settings.name);
    let outcome: Outcome = {};
    let failure: Error | undefined;
    let runId: string | null = null;
    child.on('message', (message: FromProcess) => {
      if (message.type === 'began') ({ runId } = message);
      else if (message.type === 'planned') onPlan(message.plan, message.runId);
      else if (message.type === 'request') observer.request(message.event);
      else if (message.type === 'retry') observer.retry();
      else if (message.type === 'ended') outcome = { end: message.end };
      else if (message.type === 'previewed') outcome = { plan: message.plan };
      else if (message.type === 'too_large') outcome = { isTooLarge: true };
      else if (message.type === 'failed')
        failure =
          message.code === null ? new Error(message.message) : new StoreError(message.code, message.message);
      else {
        const { id, a, b } = message;
        void options
          .compareCommits(a, b)
          .catch((): CommitRelation => 'unknown')
          .then((relation) => send({ type: 'relation', id, relation }));
      }
    });
    const end = await exited;
    signals.stop.removeEventListener('abort', stop);
    signals.kill.removeEventListener('abort', kill);
    if (end !== 'SIGABRT' && end !== 'SIGKILL' && end !== ABORTED) {
      if (failure !== undefined) throw failure;
      return outcome;
    }
    const error = tooLarge(size);
    if (runId !== null) await endAsTooLarge(runId, error);
    return task.type === 'preview'
      ? { plan: { schemaVersion: 1, account: settings.name, status: 'failed', error } }
      : { end: runId === null ? { heldBy: null } : { runId } };
  }

  async function endAsTooLarge(runId: string, { code, message }: RunFailure): Promise<void> {
    await options.journal.endRun(runId, {
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

  return {
    async run(request, mode, onPlan) {
      const { end } = await inRightThread(request, { type: 'run', mode }, onPlan);
      if (end === undefined) throw new Error('the process of a large account ended without a result');
      return end;
    },
    async preview(request) {
      const { plan } = await inRightThread(request, { type: 'preview' }, () => undefined);
      if (plan === undefined) throw new Error('the process of a large account ended without a plan');
      return plan;
    },
  };
}

function tooLarge({ megabytes }: ProcessSize): RunFailure {
  return {
    code: 'account_too_large',
    message: `the lists of this account take more than ${megabytes} MB of memory; lower api.maxEntries and api.maxResponseBytes to refuse them earlier, or run this account with \`rolecall apply\`, which has no such limit`,
  };
}
