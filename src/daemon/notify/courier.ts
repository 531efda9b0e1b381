// Sends the notifications that wait in the outbox to one target: in order for each account, for a few accounts at a time.
import { randomUUID } from 'node:crypto';
import type { DeliveryOutcome, Outbox, QueuedNotice } from '../../core/ports/outbox.ts';
import type { Clock } from '../../core/ports/clock.ts';
import type { NotifySettings } from '../../core/settings.ts';
import type { Log } from '../log.ts';
import type { Delivery } from './delivery.ts';
import { describeFailure } from '../../run/run-result.ts';

export interface CourierOptions {
  readonly key: string;
  readonly settings: NotifySettings;
  readonly outbox: Outbox;
  readonly clock: Clock;
  readonly log: Log;
  readonly delivery: Delivery;
  readonly onResult: (result: DeliveryResult) => void;
}

/** For a metric. `retry`: this attempt failed, and another one follows. */
export interface DeliveryResult {
  readonly account: string;
  readonly format: NotifySettings['format'];
  readonly result: DeliveryOutcome['type'];
}

export interface Courier {
  /** Checks the outbox at once. */
  wake(): void;
  /** Sends no more, waits shortly for the deliveries in progress, and releases the rest. */
  stop(): Promise<void>;
}

const MAX_CONCURRENT = 4;
/** Another process may have ended with claimed or waiting notifications. */
const POLL_MS = 30_000;
/** How long the end waits for deliveries in progress. */
const GRACE_MS = 3000;

export function startCourier(options: CourierOptions): Courier {
  const { key, outbox, clock, log } = options;
  const claimant = randomUUID();
  const inFlight = new Set<Promise<void>>();
  const kill = new AbortController();
  let alarm = new AbortController();
  let stopping = false;
  let quietUntilMs = 0;

  function wake(): void {
    alarm.abort();
  }

  async function work(): Promise<void> {
    while (!stopping) {
      alarm = new AbortController();
      const waitMs = await claimAndSend();
      if (!stopping) await clock.sleep(waitMs, alarm.signal);
    }
  }

  /** Resolves with the time until there may be something to send again. */
  async function claimAndSend(): Promise<number> {
    const nowMs = clock.nowMs();
    const room = MAX_CONCURRENT - inFlight.size;
    if (room === 0) return POLL_MS;
    if (nowMs < quietUntilMs) return Math.min(POLL_MS, quietUntilMs - nowMs);
    try {
      const { notices, nextAtMs } = await outbox.claim(key, claimant, room, nowMs);
      if (stopping) return POLL_MS;
      for (const notice of notices) send(notice);
      if (nextAtMs === null || inFlight.size === MAX_CONCURRENT) return POLL_MS;
      return Math.min(POLL_MS, Math.max(0, nextAtMs - clock.nowMs()));
    } catch (error) {
      logOutboxFailure(log, error);
      return POLL_MS;
    }
  }

  function send(notice: QueuedNotice): void {
    const sending = deliver(notice).finally(() => {
      inFlight.delete(sending);
      wake();
    });
    inFlight.add(sending);
  }

  async function deliver(notice: QueuedNotice): Promise<void> {
    const attempt = await options.delivery(notice, options.settings, kill.signal);
    if (attempt === null) return;
    quietUntilMs = Math.max(quietUntilMs, attempt.quietUntilMs);
    try {
      const isOurs = await outbox.settle(notice.id, claimant, attempt.outcome, clock.nowMs());
      if (isOurs) report(notice, attempt.outcome);
    } catch (error) {
      // The claim expires, and the notification is sent again with the same id.
      logOutboxFailure(log, error);
    }
  }

  function report({ account, runId, type, attempts }: QueuedNotice, outcome: DeliveryOutcome): void {
    const { format } = options.settings;
    options.onResult({ account, format, result: outcome.type });
    const data = { account, runId, type, format, attempts: attempts + 1 };
    if (outcome.type === 'delivered') {
      log.info({ event: 'notification_delivered', ...data }, 'a notification was delivered');
      return;
    }
    const failure = { ...data, reason: outcome.reason };
    if (outcome.type === 'undelivered') {
      log.error({ event: 'notification_undelivered', ...failure }, 'a notification could not be delivered');
    } else if (attempts === 0) {
      log.warn(
        { event: 'notification_retried', ...failure },
        'a notification could not be delivered yet; it is sent again',
      );
    }
  }

  async function finishOrKill(): Promise<void> {
    const finished = new AbortController();
    const all = Promise.all(inFlight).then(() => finished.abort());
    await clock.sleep(GRACE_MS, finished.signal);
    kill.abort();
    await all;
  }

  const working = work();
  return {
    wake,
    async stop() {
      stopping = true;
      wake();
      await working;
      await finishOrKill();
      await outbox.release(claimant).catch((error: unknown) => logOutboxFailure(log, error));
    },
  };
}

/** `run` is the one whose notifications were lost, if any were. */
export function logOutboxFailure(
  log: Log,
  failure: unknown,
  run?: { readonly account: string; readonly runId: string },
): void {
  const { code, message } = describeFailure(failure);
  log.error(
    { event: 'outbox_failed', ...run, code, error: message },
    'the outbox of notifications cannot be used; notifications may be late or lost',
  );
}
