// Notifications: after a run, what each target gets to hear goes into the outbox; couriers carry it from there.
import { randomUUID } from 'node:crypto';
import type { RunMode } from '../../core/journal.ts';
import { decideNotices } from '../../core/notice.ts';
import type { Outbox, TargetUpdate } from '../../core/outbox.ts';
import type { Clock } from '../../core/ports.ts';
import type { RunOutcome } from '../../core/run-outcome.ts';
import type { NotifySettings } from '../../core/settings.ts';
import type { Log } from '../log.ts';
import type { Courier, DeliveryResult } from './courier.ts';
import { startCourier } from './courier.ts';
import { createDelivery } from './delivery.ts';
import { composeMessage } from './message.ts';
import { logOutboxFailure } from './outbox-failure.ts';
import { createPoster } from './post.ts';
import type { ResolveSecret } from './target.ts';
import { targetsByKey } from './target.ts';

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
  /** Makes the targets those of the configuration as it is now. What stays the same goes on undisturbed. */
  update(targets: readonly NotifySettings[]): void;
  /**
   * Keeps what each target gets to hear of a run that has ended; waits for no target, and never rejects. `mode` is that
   * of the account as configured.
   */
  runEnded(outcome: RunOutcome, mode: RunMode): Promise<void>;
  /** Begins to deliver, also what an earlier process left behind. */
  start(): void;
  /** Ends within seconds; what could not be delivered waits in the store. */
  stop(): Promise<void>;
}

/** What waits for a target that no process has had for so long is dropped. */
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

  /** What has to have ended when the notifier stops. */
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

  /** A target of a configuration that another process has is left alone: that process tries it again and again. */
  async function sweep(): Promise<void> {
    while (!stopped.signal.aborted) {
      await outbox
        .dropIdle([...targets.keys()], clock.nowMs() - IDLE_MS)
        .catch((error: unknown) => logOutboxFailure(log, error));
      await clock.sleep(IDLE_MS, stopped.signal);
    }
  }

  async function tell(outcome: RunOutcome, mode: RunMode): Promise<void> {
    const { id: runId, account, startedAt } = outcome.run;
    const nowMs = clock.nowMs();
    const news = { ...outcome.news, startedAtMs: Date.parse(startedAt) };
    const listeners = targets;
    const added = await outbox.notify(
      account,
      [...listeners.keys()],
      (key, notified): TargetUpdate => {
        const listener = listeners.get(key);
        if (listener === undefined) return { notified, notices: [] };
        const judgement = decideNotices(news, notified, listener, nowMs);
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
      const telling = tell(outcome, mode).catch((error: unknown) =>
        logOutboxFailure(log, error, { account, runId }),
      );
      await track(telling);
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
