// One term of the daemon that leads: its schedules and its queue, in memory. The next term begins with new ones.
import type { Trigger } from '../core/journal.ts';
import type { AccountRecord, OperatorRequest } from '../core/ports/journal-reader.ts';
import type { Clock, RunSignals } from '../core/ports/clock.ts';
import type { Log } from './log.ts';
import { createRunQueue, type RunQueueOptions } from './run-queue.ts';
import { createScheduler, type Schedule } from './scheduler.ts';

/** One run that is to be made now. */
export interface DueRun {
  readonly account: string;
  readonly trigger: Trigger;
  /** The operator who requested it; null for the schedule. */
  readonly actor: string | null;
  /** An object of this run only. */
  readonly signals: RunSignals;
  readonly epoch: string;
  /** The next tick of the schedule after this run; null when the account has none. */
  readonly nextTickMs: number | null;
  /** Makes the run once more from the beginning, soon: another process runs the account now, or the store does not answer. */
  again(): void;
}

export interface RunActivity {
  /** `queued`: waits for a free place. */
  readonly activity: 'running' | 'queued' | 'idle';
  /** null while nothing follows. */
  readonly nextRunMs: number | null;
}

export interface TermOptions extends RunQueueOptions {
  readonly epoch: string;
  readonly clock: Clock;
  readonly log: Log;
  /** The signals of one run. */
  readonly signals: () => RunSignals;
  /** A tick found the account still running. */
  readonly onSkipped: (account: string) => void;
}

export interface Term {
  /** Replaces the schedules by these. Unchanged ones keep their next tick. */
  update(schedules: readonly Schedule[]): void;
  /** Runs accounts from now on. `run` never rejects. */
  start(run: (due: DueRun) => Promise<void>): void;
  /** Requests the first run of an account: always, or only of one that missed a tick or whose last run was interrupted. */
  startFirst(account: string, record: AccountRecord | undefined, isAlways: boolean): void;
  /** Runs the account because of a request, once for each `at`; during a run, exactly one more run follows. */
  request(request: OperatorRequest): boolean;
  activity(account: string): RunActivity;
  /** The accounts that are not idle. */
  active(): ReadonlyMap<string, 'running' | 'queued'>;
  nextRunMs(account: string): number | null;
  longestGapMs(account: string): number | null;
  /** Starts no more runs, and resolves when the running ones have ended. */
  stop(): Promise<void>;
}

/** How soon a run starts again that found its account locked. */
const AGAIN_MS = 1000;

export function createTerm(options: TermOptions): Term {
  const { epoch, clock, log, onSkipped } = options;
  const scheduler = createScheduler({ random: Math.random, log });
  const queue = createRunQueue(options);
  const requested = new Map<string, string>();
  /** Who requested each run last. */
  const actors = new Map<string, string | null>();

  function dueRun(account: string, trigger: Trigger): DueRun {
    const signals = options.signals();
    return {
      account,
      trigger,
      actor: actors.get(`${trigger} ${account}`) ?? null,
      epoch,
      signals,
      nextTickMs: scheduler.nextTickMs(account),
      again: () => queue.requestAfter(account, trigger, clock.sleep(AGAIN_MS, signals.stop)),
    };
  }

  return {
    update(schedules) {
      scheduler.update(schedules);
      queue.updateAddresses();
    },
    start(run) {
      queue.start((account, trigger) => run(dueRun(account, trigger)));
      scheduler.start((account, trigger) => {
        if (!queue.request(account, trigger)) onSkipped(account);
      });
    },
    startFirst(account, record, isAlways) {
      const dueMs = record?.nextTickMs ?? Infinity;
      // A tick of a schedule that was changed meanwhile was not missed.
      const isMissed = dueMs <= clock.nowMs() && scheduler.ticksAt(account, dueMs);
      if (isAlways) queue.request(account, 'start');
      else if (isMissed) queue.request(account, 'catch_up');
      else if (record?.lastRun?.status === 'interrupted') queue.request(account, 'start');
    },
    request({ account, trigger, at, by }) {
      const key = `${trigger} ${account}`;
      if (requested.get(key) === at) return false;
      // Before the request, which can start the run at once.
      actors.set(key, by);
      const isTaken =
        trigger === 'manual' ? queue.requestOneMore(account, trigger) : queue.request(account, trigger);
      if (isTaken) requested.set(key, at);
      return isTaken;
    },
    activity: (account) => ({
      activity: queue.activity(account),
      nextRunMs: scheduler.nextRunMs(account),
    }),
    active: () => queue.active(),
    nextRunMs: (account) => scheduler.nextRunMs(account),
    longestGapMs: (account) => scheduler.longestGapMs(account),
    async stop() {
      scheduler.stop();
      await queue.stop();
    },
  };
}
