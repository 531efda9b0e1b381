// What the daemon reads of stored runs: an ordinary one in this process, a large one in another, since the daemon's answers
// must not wait for it.
import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { StoreError } from './core/errors.ts';
import type { JournalReader } from './core/journal-reader.ts';
import type { RunSignals } from './core/ports.ts';
import { outcomeOf, type RunOutcome } from './core/run-outcome.ts';
import type { ReadOutcome } from './daemon/account-run.ts';
import { renderRunView, runShownBy } from './daemon/http/pages/run-views.tsx';
import type { Log } from './daemon/log.ts';
import type { Panel, RunView } from './daemon/panel.ts';
import { startChild } from './platform/child-process.ts';

export interface StoredRunsOptions {
  readonly reader: JournalReader;
  readonly storeFile: string;
  readonly signals: RunSignals;
  readonly log: Log;
  /** The program that reads. */
  readonly program?: URL;
}

export interface StoredRuns {
  readonly outcomeOf: ReadOutcome;
  readonly viewOf: Panel['view'];
}

/** What the process does. */
export interface RunReadingJob {
  readonly storeFile: string;
  readonly task:
    | { readonly type: 'outcome'; readonly runId: string; readonly pendingDigest: string | null }
    | { readonly type: 'view'; readonly view: RunView };
}

/** What it sends; null when there is no such run. */
export type RunReadingAnswer =
  | { readonly type: 'outcome'; readonly outcome: RunOutcome | null }
  | { readonly type: 'view'; readonly html: string | null }
  | {
      readonly type: 'failed';
      /** Of an error of the store. */
      readonly code: string | null;
      readonly message: string;
    };

const PROGRAM = new URL('./run-reader.js', import.meta.url);
/** As much as the process that made the plan may take; a plan of 200,000 changes takes two thirds of it. */
const HEAP_MIB = 560;
const DEADLINE_MS = 60_000;
/** Pages that wait for the one process. */
const MOST_WAITING = 4;

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

export function createStoredRuns(options: StoredRunsOptions): StoredRuns {
  const { reader, storeFile, signals, log, program = PROGRAM } = options;
  let last: Promise<unknown> = Promise.resolve();
  let waiting = 0;

  /** Reads in a process, one at a time. */
  function readApart(task: RunReadingJob['task'], signal: AbortSignal): Promise<RunReadingAnswer> {
    waiting += 1;
    const answer = last
      .then(() => runProcess({ storeFile, task }, signal, program))
      .finally(() => (waiting -= 1));
    last = answer.catch(() => undefined);
    return answer;
  }

  /** A store that cannot be read is not about the run: throws StoreError. */
  function logFailure(runId: string, answer: RunReadingAnswer): void {
    const { code = null, message = 'no answer' } = answer.type === 'failed' ? answer : {};
    if (code !== null) throw new StoreError(code, message);
    log.warn({ event: 'run_unread', runId, reason: message }, 'a large run could not be read');
  }

  return {
    async outcomeOf(runId, pendingDigest) {
      const head = await reader.runHead(runId);
      if (head === null) return null;
      if (!head.isLarge) {
        const detail = await reader.run(runId);
        return detail === null ? null : outcomeOf(detail, pendingDigest, sha256);
      }
      const answer = await readApart({ type: 'outcome', runId, pendingDigest }, signals.kill);
      if (answer.type === 'outcome') return answer.outcome;
      logFailure(runId, answer);
      // How it ended is known all the same.
      return outcomeOf({ run: head.run, operations: [], warnings: [], plan: null }, pendingDigest, sha256);
    },

    async viewOf(view) {
      const id = runShownBy(view);
      const head = id === null ? null : await reader.runHead(id);
      if (head?.isLarge !== true) return pageOf(await renderRunView(view, (wanted) => reader.run(wanted)));
      if (waiting >= MOST_WAITING) return { type: 'busy' };
      const answer = await readApart({ type: 'view', view }, signals.stop);
      if (answer.type === 'view') return pageOf(answer.html);
      logFailure(head.run.id, answer);
      return { type: 'failed', runId: head.run.id };
    },
  };
}

function pageOf(html: string | null): Awaited<ReturnType<Panel['view']>> {
  return html === null ? { type: 'unknown' } : { type: 'page', html };
}

async function runProcess(job: RunReadingJob, signal: AbortSignal, program: URL): Promise<RunReadingAnswer> {
  let answer: RunReadingAnswer | undefined;
  const child = startChild<RunReadingJob, RunReadingAnswer>({
    args: [fileURLToPath(program)],
    onMessage: (received) => (answer = received),
    heapMegabytes: HEAP_MIB,
    deadlineMs: DEADLINE_MS,
    signal,
  });
  child.send(job);
  const { reason, how } = await child.ended;
  return (
    answer ?? {
      type: 'failed',
      code: null,
      message: `its process ended without an answer: ${reason}, ${how}`,
    }
  );
}
