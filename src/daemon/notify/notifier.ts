// Notifications: after a run, those of each target are stored in the outbox, from where couriers send them.
import { randomUUID } from 'node:crypto';
import type { RunMode } from '../../core/journal.ts';
import { decideNotices } from '../../core/notice.ts';
import type { Outbox, TargetUpdate } from '../../core/ports/outbox.ts';
import type { Clock } from '../../core/ports/clock.ts';
import type { RunOutcome } from '../../core/run-outcome.ts';
import type { NotifySettings } from '../../core/settings.ts';
import type { Log } from '../log.ts';
import { type Courier, type DeliveryResult, logOutboxFailure, startCourier } from './courier.ts';
import { createDelivery, createPoster } from './delivery.ts';
import { composeMessage } from './message.ts';
import { type ResolveSecret, targetsByKey } from './target.ts';

export interface NotifierOptions {
  readonly targets: readonly NotifySettings[];
  readonly version: string;
  readonly outbox: Outbox;
  readonly clock: Clock;
  readonly log: Log;
  readonly resolveSecret: ResolveSecret;
  readonly onResult?: (result: DeliveryResult) => void;
  /** In [0, 1); scatters retries. */
  readonly random?: () => number;
}

export interface Notifier {
  /** Replaces the targets. Deliveries to unchanged targets continue. */
  update(targets: readonly NotifySettings[]): void;
  /**
   * Stores the notifications about a run that has ended. Waits for no target, and never rejects. `mode` is that of the
   * account as configured.
   */
  runEnded(outcome: RunOutcome, mode: RunMode): Promise<void>;
  /** Starts deliveries, including those that an earlier process left. */
  start(): void;
  /** Ends within seconds. Undelivered notifications wait in the store. */
  stop(): Promise<void>;
}

/** Notifications for a target that no process has configured for so long are dropped. */
const IDLE_MS = 3_600_000;

export function createNotifier(options: NotifierOptions): Notifier {
  const { outbox, clock, log } = options;
  const poster = createPoster(`rolecall/${options.version}`);
  const delivery = createDelivery({
    poster,
    clock,
    resolveSecret: options.resolveSecret,
    random: options.random ?? Math.random,
  });
  const couriers = new Map<string, Courier>();
  const pending = new Set<Promise<void>>();
  const stopped = new AbortController();
  let targets = targetsByKey(options.targets);
  let sweeping: Promise<void> | undefined;

  /** Work that must end before the notifier has stopped. */
  function track(work: Promise<void>): Promise<void> {
    const tracked = work.finally(() => pending.delete(tracked));
    pending.add(tracked);
    return tracked;
  }

  function dispatch(): void {
    for (const [key, courier] of couriers) {
      if (targets.has(key)) continue;
      couriers.delete(key);
      void track(courier.stop());
    }
    for (const [key, settings] of targets) {
      if (couriers.has(key)) continue;
      const onResult = options.onResult ?? (() => undefined);
      couriers.set(key, startCourier({ key, settings, outbox, clock, log, delivery, onResult }));
    }
  }

  /** A target that another process has configured is not idle, because that process sends to it. */
  async function sweep(): Promise<void> {
    while (!stopped.signal.aborted) {
      await outbox
        .dropIdle([...targets.keys()], clock.nowMs() - IDLE_MS)
        .catch((error: unknown) => logOutboxFailure(log, error));
      await clock.sleep(IDLE_MS, stopped.signal);
    }
  }

  async function store(outcome: RunOutcome, mode: RunMode): Promise<void> {
    const { id: runId, account, startedAt } = outcome.run;
    const nowMs = clock.nowMs();
    const news = { ...outcome.news, startedAtMs: Date.parse(startedAt) };
    const current = targets;
    const added = await outbox.notify(
      account,
      [...current.keys()],
      (key, notified): TargetUpdate => {
        const target = current.get(key);
        if (target === undefined) return { notified, notices: [] };
        const judgement = decideNotices(news, notified, target, nowMs);
        const notices = judgement.due.map((due) => ({
          id: randomUUID(),
          runId,
          type: due.type,
          body: JSON.stringify(composeMessage(due, outcome, mode)),
        }));
        return { notified: judgement.notified, notices };
      },
      nowMs,
    );
    if (added > 0) for (const courier of couriers.values()) courier.wake();
  }

  return {
    update(settings) {
      targets = targetsByKey(settings);
      if (sweeping !== undefined && !stopped.signal.aborted) dispatch();
    },
    async runEnded(outcome, mode) {
      if (targets.size === 0) return;
      const { account, id: runId } = outcome.run;
      const storing = store(outcome, mode).catch((error: unknown) =>
        logOutboxFailure(log, error, { account, runId }),
      );
      await track(storing);
    },
    start() {
      if (sweeping !== undefined) return;
      sweeping = sweep();
      dispatch();
    },
    async stop() {
      stopped.abort();
      for (const courier of couriers.values()) void track(courier.stop());
      couriers.clear();
      await sweeping;
      await Promise.all(pending);
      await poster.close();
    },
  };
}
