// The turns of one process: the schedules and the queue are in memory, and the journal shows what other processes ran.
import type { Trigger } from '../core/journal.ts';
import type { JournalReader } from '../core/journal-reader.ts';
import type { Clock, Journal, RunSignals } from '../core/ports.ts';
import { LOCKED_MS, type Turn, type Turns } from '../core/turns.ts';
import type { Log } from './log.ts';
import { createRunQueue, type RunQueueOptions } from './run-queue.ts';
import { createScheduler } from './scheduler.ts';

export interface EmbeddedTurnsOptions extends RunQueueOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly signals: RunSignals;
  readonly journal: Pick<Journal, 'hasScheduledRun'>;
  readonly reader: Pick<JournalReader, 'accounts'>;
  /** A tick found the account still running. */
  readonly onSkipped: (account: string) => void;
}

export function createEmbeddedTurns(options: EmbeddedTurnsOptions): Turns {
  const { clock, log, signals, journal, reader, onSkipped } = options;
  const scheduler = createScheduler({ clock, random: Math.random, log });
  const queue = createRunQueue(options);
  const approved = new Map<string, number>();

  function turnOf(account: string, trigger: Trigger): Turn {
    const isTick = trigger === 'schedule' || trigger === 'catch_up';
    const tickMs = isTick ? scheduler.lastTickMs(account) : null;
    return {
      account,
      trigger,
      signals: { stop: signals.stop, kill: signals.kill },
      permit: tickMs === null ? undefined : { type: 'tick', tickMs },
      async isMade() {
        if (tickMs === null) return false;
        const isMade = await journal.hasScheduledRun(account, tickMs, clock.nowMs());
        if (isMade) log.debug({ event: 'made_elsewhere', account }, 'another process ran it for this tick');
        return isMade;
      },
      later: () => void queue.requestOneMore(account, trigger),
      whenUnlocked: () => queue.requestAfter(account, trigger, clock.sleep(LOCKED_MS, signals.stop)),
      storeFailed: () => false,
    };
  }

  return {
    update(schedules) {
      scheduler.update(schedules);
      queue.updateAddresses();
    },
    start(run) {
      queue.start((account, trigger) => run(turnOf(account, trigger)));
      scheduler.start((account, trigger) => {
        if (!queue.request(account, trigger)) onSkipped(account);
      });
    },
    startFirst(earlier, isEach) {
      for (const { account, failures, startedMs } of earlier) {
        scheduler.ended(account, failures);
        const isMissed = startedMs !== null && scheduler.takeMissedTick(account, startedMs);
        if (isEach) queue.request(account, 'start');
        else if (isMissed) queue.request(account, 'catch_up');
      }
    },
    sync: async (account) => (queue.requestOneMore(account, 'manual') ? 'queued' : 'stopping'),
    async approve(account, givenAtMs) {
      if (approved.get(account) === givenAtMs || !queue.request(account, 'approval')) return false;
      approved.set(account, givenAtMs);
      return true;
    },
    ended: (account, failures) => scheduler.ended(account, failures),
    async endBackoffs() {
      for (const name of scheduler.backingOff()) {
        const [record] = await reader.accounts(name);
        // Runs that could not be journaled are not among its failures.
        const startedMs = Date.parse(record?.lastRun?.startedAt ?? '');
        const isSince = startedMs > (scheduler.lastTickMs(name) ?? startedMs);
        if (isSince && record?.state.consecutiveFailures === 0) scheduler.ended(name, 0);
      }
    },
    startNext: () => queue.startNext(),
    states: async (accounts) =>
      new Map(
        accounts.map((account) => [
          account,
          {
            activity: queue.activity(account),
            nextRunMs: scheduler.nextRunMs(account),
            backoffUntilMs: scheduler.backoffUntilMs(account),
            waitsForCommit: null,
            isLeftOut: false,
            replica: null,
          },
        ]),
      ),
    active: async () => queue.active(),
    nextRunMs: (account) => scheduler.nextRunMs(account),
    accounts: () => [],
    longestGapMs: (account) => scheduler.longestGapMs(account),
    replicas: async () => [],
    problems: () => [],
    lastBeatMs: () => scheduler.lastBeatMs(),
    isStopped: () => queue.isStopped(),
    async stop() {
      await Promise.all([scheduler.stop(), queue.stop()]);
    },
  };
}
