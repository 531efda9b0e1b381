// Notifications: after a run, those of each target are stored in the outbox; from there they are sent in order for each
// account, and for a few accounts of each target at a time.
import { randomUUID } from 'node:crypto';
import type { RunMode } from '../../core/journal.ts';
import { decideNotices, type NotifiedState } from '../../core/notice.ts';
import { StoreError } from '../../core/errors.ts';
import type { Clock } from '../../core/ports/clock.ts';
import type { DeliveryOutcome, Outbox, QueuedMessage, TargetUpdate } from '../../core/ports/outbox.ts';
import type { CommitRelation } from '../../core/ports/repository.ts';
import type { RunOutcome } from '../../core/run-outcome.ts';
import type { Links, NotifySettings } from '../../core/settings.ts';
import { describeFailure } from '../../run/run-result.ts';
import type { Log } from '../log.ts';
import { createDelivery, TIMEOUT_MS } from './delivery.ts';
import { type Fleet, nextStatus, resultAfter, STATUS } from './commit-status.ts';
import { committedIn, composeMessage } from './message.ts';
import { isStatusTarget, type ResolveSecret, targetsByKey } from './target.ts';

/** For a metric. `retry`: this attempt failed, and another one follows. */
export interface DeliveryResult {
  readonly account: string;
  readonly format: NotifySettings['format'];
  readonly result: DeliveryOutcome['type'];
}

export interface NotifierOptions extends Pick<Links, 'commitsAt'> {
  readonly targets: readonly NotifySettings[];
  readonly version: string;
  readonly outbox: Outbox;
  readonly clock: Clock;
  readonly log: Log;
  readonly resolveSecret: ResolveSecret;
  /** null while the files differ from their commit. */
  readonly fleet?: () => Promise<Fleet | null>;
  /** `ancestor`: the second commit descends from the first one. */
  readonly compareCommits?: (a: string, b: string) => Promise<CommitRelation>;
  readonly onResult?: (result: DeliveryResult) => void;
  /** In [0, 1); scatters retries. */
  readonly random?: () => number;
}

export type Notifier = ReturnType<typeof createNotifier>;

/** Deliveries to one target at the same time. */
const MAX_CONCURRENT = 4;
/** How soon the store is used again after a failure, and to find what other processes left. */
const POLL_MS = 30_000;
/** So soon a message that was taken is sent, or not at all: later another process may take it. */
const LATE_MS = 60_000;
/** Between two requests that set a status. */
const STATUS_GAP_MS = 10_000;
/** How soon an outcome is stored again that could not be stored. */
const SETTLE_MS = 5000;
/** How long the end waits for deliveries in progress: longer than an attempt takes. */
const GRACE_MS = TIMEOUT_MS + 2000;

export function createNotifier(options: NotifierOptions) {
  const { outbox, clock, log, onResult, random = Math.random } = options;
  const userAgent = `rolecall/${options.version}`;
  const delivery = createDelivery({ ...options, userAgent, random });
  /** The deliveries in progress, by the ids of their messages, and until when each target requested a pause. */
  const inFlight = new Map<string, Map<string, Promise<void>>>();
  const quietUntilMs = new Map<string, number>();
  let targets = targetsByKey(options.targets);
  let alarm = new AbortController();
  let stopping = false;
  let working: Promise<void> | undefined;

  function wake(): void {
    alarm.abort();
  }

  async function work(): Promise<void> {
    // Looks once more before the end, so that what the last runs stored is sent.
    for (let isLast = false; !isLast;) {
      isLast = stopping;
      alarm = new AbortController();
      const waits = await Promise.all([...targets].map(([key, settings]) => sendDue(key, settings)));
      if (!stopping) await clock.sleep(Math.min(POLL_MS, ...waits), alarm.signal);
    }
  }

  /** Resolves with the time until there may be something to send to this target again. */
  async function sendDue(key: string, settings: NotifySettings): Promise<number> {
    const nowMs = clock.nowMs();
    const sending = inFlight.get(key) ?? new Map<string, Promise<void>>();
    inFlight.set(key, sending);
    const quietMs = (quietUntilMs.get(key) ?? 0) - nowMs;
    if (quietMs > 0) return quietMs;
    const isStatus = isStatusTarget(settings);
    const most = isStatus ? 1 : MAX_CONCURRENT;
    if (sending.size === most) return POLL_MS;
    try {
      const limits = { messages: most - sending.size, collectMs: settings.collectMs };
      const { messages, nextAtMs } = await outbox.takeDue(key, limits, nowMs);
      if (clock.nowMs() - nowMs > LATE_MS) return POLL_MS;
      // A status is made when it can be sent, so that only the newest one follows the one before.
      const isIdle = messages.length === 0 && nextAtMs === null;
      if (isStatus && isIdle && (await queueStatus(key, settings.format))) return 0;
      for (const message of messages) {
        const [{ id }] = message;
        if (sending.has(id)) continue;
        const delivering = deliver(message, key, settings).finally(() => {
          sending.delete(id);
          wake();
        });
        sending.set(id, delivering);
      }
      return nextAtMs === null || sending.size === most ? POLL_MS : Math.max(0, nextAtMs - clock.nowMs());
    } catch (error) {
      logFailure(error);
      return POLL_MS;
    }
  }

  /** Queues the status of the commit in use, or the last one of the commit that it replaces. */
  async function queueStatus(target: string, format: NotifySettings['format']): Promise<boolean> {
    const fleet = await options.fleet?.();
    if (!fleet) return false;
    const states = await outbox.states(target);
    const last = states.get(STATUS)?.states['sha'];
    // Another process has newer files.
    if (typeof last === 'string' && (await options.compareCommits?.(fleet.commit, last)) === 'ancestor')
      return false;
    const status = nextStatus(fleet, states, format);
    if (status === null) return false;
    const [id, body] = [randomUUID(), JSON.stringify(status)];
    const notice = { id, runId: id, type: 'status', commit: status.sha, body } as const;
    // Another process may have queued it meanwhile.
    const update = (_: string, last: NotifiedState | null): TargetUpdate =>
      JSON.stringify(last?.states) === body
        ? { notified: null, notices: [] }
        : { notified: { states: status, asOfMs: clock.nowMs() }, notices: [notice] };
    return (await outbox.notify(STATUS, [target], update, clock.nowMs())) > 0;
  }

  async function deliver(message: QueuedMessage, key: string, settings: NotifySettings): Promise<void> {
    const attempt = await delivery.attempt(message, settings);
    const nextMs = isStatusTarget(settings) ? clock.nowMs() + STATUS_GAP_MS : 0;
    quietUntilMs.set(key, Math.max(quietUntilMs.get(key) ?? 0, attempt.quietUntilMs, nextMs));
    report(message, settings.format, attempt.outcome);
    // Until the store has the outcome, this process does not send the message again.
    while (!(await isSettled(message, attempt.outcome))) await clock.sleep(SETTLE_MS);
  }

  async function isSettled(message: QueuedMessage, outcome: DeliveryOutcome): Promise<boolean> {
    try {
      await outbox.settle(message, outcome, clock.nowMs());
      return true;
    } catch (error) {
      logFailure(error);
      // Anything else means that the store was closed, and that the process ends.
      return !(error instanceof StoreError);
    }
  }

  function report(
    [{ account, runId, type, commit, attempts }, ...more]: QueuedMessage,
    format: NotifySettings['format'],
    outcome: DeliveryOutcome,
  ): void {
    onResult?.({ account, format, result: outcome.type });
    const own = type === 'status' ? { type, commit } : { account, runId, type };
    const about = more.length === 0 ? own : { commit, notices: more.length + 1 };
    const data = { ...about, format, attempts: attempts + 1 };
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

  /** `run` is the one whose notifications were lost, if any were. */
  function logFailure(failure: unknown, run?: { readonly account: string; readonly runId: string }): void {
    const { code, message } = describeFailure(failure);
    log.error(
      { event: 'outbox_failed', ...run, code, error: message },
      'the outbox of notifications cannot be used; notifications may be late or lost',
    );
  }

  async function store(outcome: RunOutcome, mode: RunMode, followers: number): Promise<void> {
    const { id: runId, account, startedAt } = outcome.run;
    const nowMs = clock.nowMs();
    const news = { ...outcome.news, startedAtMs: Date.parse(startedAt) };
    const current = targets;
    const update: Parameters<Outbox['notify']>[2] = (key, notified): TargetUpdate => {
      const target = current.get(key);
      if (target === undefined) return { notified, notices: [] };
      if (isStatusTarget(target)) return { notified: resultAfter(notified, outcome), notices: [] };
      const judgement = decideNotices(news, notified, target, nowMs);
      const notices = judgement.due.map((type) => ({
        id: randomUUID(),
        runId,
        type,
        commit: committedIn(outcome.run),
        body: JSON.stringify(composeMessage(type, outcome, mode, followers)),
      }));
      return { notified: judgement.notified, notices };
    };
    const added = await outbox.notify(account, [...current.keys()], update, nowMs);
    if (added > 0 || [...current.values()].some(isStatusTarget)) wake();
  }

  /** Waits for the deliveries in progress. One that is aborted may have arrived, and would be sent again. */
  async function finish(): Promise<void> {
    const finished = new AbortController();
    const sending = [...inFlight.values()].flatMap((each) => [...each.values()]);
    void Promise.all(sending).then(() => finished.abort());
    await clock.sleep(GRACE_MS, finished.signal);
  }

  return {
    /** Replaces the targets. Deliveries in progress continue. */
    update(settings: readonly NotifySettings[]): void {
      targets = targetsByKey(settings);
      wake();
    },
    /**
     * Stores the notifications about a run that has ended. Waits for no target, and never rejects. `mode` is that of the
     * account as configured, `followers` the number of accounts that run newer commits after it.
     */
    async runEnded(outcome: RunOutcome, mode: RunMode, followers = 0): Promise<void> {
      if (targets.size === 0) return;
      const { account, id: runId } = outcome.run;
      await store(outcome, mode, followers).catch((error: unknown) => logFailure(error, { account, runId }));
    },
    /** Starts deliveries, including those that another process left. */
    start(): void {
      stopping = false;
      working = work();
    },
    /** Waits for the deliveries in progress, and starts none until the next start. Undelivered notifications wait in the store. */
    async stop(): Promise<void> {
      stopping = true;
      wake();
      await working;
      await finish();
      await delivery.close();
    },
  };
}
