// Runs or plans one account in a child process with a memory limit, and the messages between the two processes. The
// program of the process is run-account.ts.
import { fileURLToPath } from 'node:url';
import type { AccountRequest } from '../app/request.ts';
import type { RunFailure } from '../app/run-result.ts';
import { StoreError } from '../core/errors.ts';
import type { RunMode } from '../core/journal.ts';
import type { PlanResult } from '../core/plan.ts';
import type { CommitRelation } from '../core/repository.ts';
import type { OpenLocation } from '../core/settings.ts';
import type { LargeRunEnd, PlanHeadline } from '../daemon/large-runs.ts';
import { type ChildEnd, startChild } from '../platform/child-process.ts';
import type { RequestObserver } from '../core/progress.ts';
import { countCalls } from './host-calls.ts';

export interface ProcessJob {
  readonly version: string;
  readonly store: OpenLocation;
  readonly token: string;
  readonly ignoreRetryAfter: boolean;
  /** A list of more objects needs a process with more memory. */
  readonly largeFrom: number;
  readonly request: Omit<AccountRequest, 'signals'>;
  readonly task: { readonly type: 'run'; readonly mode: RunMode } | { readonly type: 'preview' };
}

export type ToProcess =
  | { readonly type: 'job'; readonly job: ProcessJob }
  | { readonly type: 'stop' | 'kill' }
  /** The call of this id may be made. */
  | { readonly type: 'granted'; readonly id: number }
  | { readonly type: 'relation'; readonly id: number; readonly relation: CommitRelation }
  | { readonly type: 'digest'; readonly id: number; readonly digest: string | null };

export type FromProcess =
  | { readonly type: 'began'; readonly runId: string }
  | { readonly type: 'planned'; readonly plan: PlanHeadline; readonly runId: string }
  | { readonly type: 'request'; readonly event: Parameters<RequestObserver['request']>[0] }
  | { readonly type: 'retry' }
  /** A call waits for room at the address, or has ended. */
  | { readonly type: 'wanted' | 'returned'; readonly id: number }
  | { readonly type: 'compare'; readonly id: number; readonly a: string; readonly b: string }
  /** Whether the account's file has changed is known to the daemon, which reads it. */
  | { readonly type: 'read_file'; readonly id: number }
  | ProcessResult
  | { readonly type: 'failed'; readonly code: string | null; readonly message: string };

type ProcessResult =
  | { readonly type: 'ended'; readonly end: LargeRunEnd }
  | { readonly type: 'previewed'; readonly plan: PlanResult }
  | { readonly type: 'too_large' };

/** `died`: the process ended without a result. `runId` is the run that it began and did not end in the journal. */
export type ProcessOutcome =
  | ProcessResult
  | { readonly type: 'failed'; readonly error: Error }
  | { readonly type: 'died'; readonly runId: string | null; readonly failure: RunFailure };

/** What the process asks of the daemon while it works. */
export interface ProcessHost {
  readonly observer: RequestObserver;
  readonly compareCommits: (a: string, b: string) => Promise<CommitRelation>;
  readonly currentDigest: () => Promise<string | null>;
  /** Makes the call when `hostConcurrency` of the account's address allows it. */
  readonly atHost: (call: () => Promise<void>) => Promise<void>;
  readonly onPlan: (plan: PlanHeadline, runId: string) => void;
}

const PROGRAM = fileURLToPath(new URL('./run-account.js', import.meta.url));

/** Does the job in a process with so much heap. The process has ended when the promise resolves. */
export async function runAccountProcess(
  job: ProcessJob,
  heapMegabytes: number,
  signals: AccountRequest['signals'],
  host: ProcessHost,
): Promise<ProcessOutcome> {
  const calls = countCalls(host.atHost, (id) => child.send({ type: 'granted', id }));
  let outcome: ProcessOutcome | null = null;
  let runId: string | null = null;
  const receive = (message: FromProcess): void => {
    switch (message.type) {
      case 'began':
        return void ({ runId } = message);
      case 'planned':
        return host.onPlan(message.plan, message.runId);
      case 'request':
        return host.observer.request(message.event);
      case 'retry':
        return host.observer.retry();
      case 'wanted':
        return calls.wanted(message.id);
      case 'returned':
        return calls.returned(message.id);
      case 'compare':
        return void sendRelation(message);
      case 'read_file':
        return void sendDigest(message.id);
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
  async function sendRelation({ id, a, b }: Extract<FromProcess, { type: 'compare' }>): Promise<void> {
    const relation = await host.compareCommits(a, b).catch((): CommitRelation => 'unknown');
    child.send({ type: 'relation', id, relation });
  }
  async function sendDigest(id: number): Promise<void> {
    child.send({ type: 'digest', id, digest: await host.currentDigest().catch(() => null) });
  }
  const child = startChild<ToProcess, FromProcess>({
    args: [PROGRAM],
    onMessage: receive,
    heapMegabytes,
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
    return outcome ?? { type: 'died', runId, failure: failureOf(end, heapMegabytes) };
  } finally {
    signals.stop.removeEventListener('abort', stop);
    signals.kill.removeEventListener('abort', kill);
    calls.end();
  }
}

function failureOf({ reason, how }: ChildEnd, heapMegabytes: number): RunFailure {
  const isKilled = reason === 'killed' && how === 'SIGKILL';
  if (reason !== 'out_of_memory' && !isKilled) {
    return {
      code: 'process_failed',
      message: `the process that ran this account ended without a result (${how})`,
    };
  }
  const why = isKilled
    ? 'was killed (SIGKILL), most likely because the machine has no memory left'
    : `was ended (${how}), because its lists take more than ${heapMegabytes} MB of memory`;
  return {
    code: 'account_too_large',
    message: `the process that ran this account ${why}. Lower api.maxEntries and api.maxResponseBytes to refuse such lists earlier, or plan this account with \`rolecall plan\` on a machine with more memory`,
  };
}
