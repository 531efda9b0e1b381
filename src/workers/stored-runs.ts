// Reads stored runs for the daemon: an ordinary one in this process, a large one in a child process, because the daemon
// must keep answering meanwhile. The program of the process is read-run.ts.
import { fileURLToPath } from 'node:url';
import PQueue from 'p-queue';
import { StoreError } from '../core/errors.ts';
import type { JournalReader } from '../core/journal-reader.ts';
import type { RunSignals } from '../core/ports.ts';
import { outcomeOf, type RunOutcome, unreadOutcome } from '../core/run-outcome.ts';
import type { OpenLocation } from '../core/settings.ts';
import { renderRunView, runShownBy } from '../daemon/http/pages/run-views.tsx';
import type { RunView } from '../daemon/http/run-view.ts';
import type { PageOutcome, ShowPage } from '../daemon/http/show-page.ts';
import type { Log } from '../daemon/log.ts';
import type { ReadOutcome } from '../daemon/run-ending.ts';
import { type ChildEnd, startChild } from '../platform/child-process.ts';
import { sha256 } from '../platform/digest.ts';
import { databaseVariables } from '../platform/postgres-address.ts';

export interface StoredRunsOptions {
  readonly reader: JournalReader;
  readonly store: OpenLocation;
  readonly signals: RunSignals;
  readonly log: Log;
  /** The program that reads; for tests. */
  readonly program?: URL;
}

export interface StoredRuns {
  readonly outcomeOf: ReadOutcome;
  readonly showPage: ShowPage;
}

export interface RunReadingJob {
  readonly store: OpenLocation;
  readonly task:
    | { readonly type: 'outcome'; readonly runId: string; readonly pendingDigest: string | null }
    | { readonly type: 'view'; readonly view: RunView };
}

/** `outcome` and `html` are null when there is no such run. */
export type RunReadingAnswer =
  | { readonly type: 'outcome'; readonly outcome: RunOutcome | null }
  | { readonly type: 'view'; readonly html: string | null }
  | {
      readonly type: 'failed';
      /** The code of a StoreError; null for any other error. */
      readonly code: string | null;
      readonly message: string;
    };

const PROGRAM = new URL('./read-run.js', import.meta.url);
/** As much as the process that made the plan may use; a plan of 200,000 changes needs two thirds of it. */
const HEAP_MEGABYTES = 560;
const TIME_LIMIT_MS = 60_000;
/** Pages that wait for the one process. */
const MAX_WAITING = 4;

export function createStoredRuns(options: StoredRunsOptions): StoredRuns {
  const { reader, store, signals, log, program = PROGRAM } = options;
  const queue = new PQueue({ concurrency: 1 });
  /** The signals of the pages that wait or are being rendered. */
  const pages = new Set<AbortSignal>();

  /** Reads in a process, one at a time. Outcomes of runs come first, so that they wait for at most one page. */
  function readInProcess(task: RunReadingJob['task'], signal: AbortSignal): Promise<RunReadingAnswer> {
    const priority = task.type === 'outcome' ? 1 : 0;
    return queue.add(() => answerOf({ store, task }, signal, program), { priority });
  }

  /** Logs and returns why the run could not be read. Throws StoreError when the store itself failed. */
  function logFailure(runId: string, answer: RunReadingAnswer): string {
    const { code = null, message = 'no answer' } = answer.type === 'failed' ? answer : {};
    if (code !== null) throw new StoreError(code, message);
    log.warn({ event: 'run_unread', runId, reason: message }, 'a large run could not be read');
    return message;
  }

  async function largeView(view: RunView, runId: string, signal: AbortSignal): Promise<PageOutcome> {
    // Aborted pages are about to end, so they do not count.
    if ([...pages].filter(({ aborted }) => !aborted).length >= MAX_WAITING) return { type: 'busy' };
    const ends = AbortSignal.any([signal, signals.stop]);
    pages.add(ends);
    try {
      const answer = await readInProcess({ type: 'view', view }, ends);
      if (answer.type === 'view') return pageOf(answer.html);
      // The client has left, so the answer does not matter.
      if (ends.aborted) return { type: 'busy' };
      return { type: 'failed', runId, reason: logFailure(runId, answer) };
    } finally {
      pages.delete(ends);
    }
  }

  return {
    async outcomeOf(runId, pendingDigest, signal = signals.kill) {
      const head = await reader.runHead(runId);
      if (head === null) return null;
      if (!head.isLarge) {
        const detail = await reader.run(runId);
        return detail === null ? null : outcomeOf(detail, pendingDigest, sha256);
      }
      const answer = await readInProcess({ type: 'outcome', runId, pendingDigest }, signal);
      if (answer.type === 'outcome') return answer.outcome;
      logFailure(runId, answer);
      return unreadOutcome(head.run, pendingDigest, sha256);
    },

    async showPage(view, signal) {
      const large = await largeRunOf(view, reader);
      return large === null
        ? pageOf(await renderRunView(view, reader))
        : await largeView(view, large, signal);
    },
  };
}

/** The run that makes the page a large one; null for an ordinary page. */
async function largeRunOf(view: RunView, reader: Pick<JournalReader, 'runHead'>): Promise<string | null> {
  const id = runShownBy(view);
  const head = id === null ? null : await reader.runHead(id);
  return head?.isLarge === true ? head.run.id : null;
}

function pageOf(html: string | null): PageOutcome {
  return html === null ? { type: 'unknown' } : { type: 'page', html };
}

async function answerOf(job: RunReadingJob, signal: AbortSignal, program: URL): Promise<RunReadingAnswer> {
  if (signal.aborted) return failedBy({ reason: 'stopped', how: 'before it started' });
  let answer: RunReadingAnswer | undefined;
  const child = startChild<RunReadingJob, RunReadingAnswer>({
    args: [fileURLToPath(program)],
    onMessage: (received) => (answer = received),
    heapMegabytes: HEAP_MEGABYTES,
    ...('url' in job.store ? { env: databaseVariables(process.env) } : {}),
    deadlineMs: TIME_LIMIT_MS,
    signal,
  });
  child.send(job);
  const end = await child.ended;
  return answer ?? failedBy(end);
}

function failedBy({ reason, how }: ChildEnd): RunReadingAnswer {
  const reasons = {
    exited: 'the process that read it ended without a result',
    out_of_memory: 'it is too large for the memory of the process that reads it',
    killed: 'the process that read it was killed, possibly because the machine has no memory left',
    deadline: `reading it took longer than ${TIME_LIMIT_MS / 1000} s`,
    stopped: 'the process that read it was stopped',
  } as const satisfies Record<ChildEnd['reason'], string>;
  return { type: 'failed', code: null, message: `${reasons[reason]} (${how})` };
}
