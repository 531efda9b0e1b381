// The outbox: the notified state of each target, and the notices that are still to be delivered. It is in the store, so
// that no restart and no second process repeats or loses a notice. It never contains addresses of targets.
import type { NoticeType, NotifiedState } from '../notice.ts';

/** A notice to be delivered. `id` is the same in every attempt. */
export interface NewNotice {
  readonly id: string;
  readonly runId: string;
  /** `status`: of a commit. */
  readonly type: NoticeType | 'status';
  /** The commit of the configuration; null when it is not in git. */
  readonly commit: string | null;
  /** JSON, in the daemon's format. */
  readonly body: string;
}

export interface QueuedNotice extends NewNotice {
  readonly account: string;
  /** How many attempts have failed. */
  readonly attempts: number;
}

/** `notified` null leaves the state of the target unchanged. */
export interface TargetUpdate {
  readonly notified: NotifiedState | null;
  readonly notices: readonly NewNotice[];
}

/** Notices that are sent as one message: its id and its failed attempts are those of the first. */
export type QueuedMessage = readonly [QueuedNotice, ...QueuedNotice[]];

export interface DueMessages {
  readonly messages: readonly QueuedMessage[];
  /** When the next one is due, which may be now; null when there is none. */
  readonly nextAtMs: number | null;
}

/** The result of an attempt. `reason` is a code, never text of the receiver. */
export type DeliveryOutcome =
  | { readonly type: 'delivered' }
  | { readonly type: 'retry'; readonly atMs: number; readonly reason: string }
  | { readonly type: 'undelivered'; readonly reason: string };

/** All methods may throw StoreError. A `target` is a digest, see daemon/notify/target.ts. */
export interface Outbox {
  /**
   * Calls `update` for each target and stores the new states and notices in one transaction, so that each process sees
   * the states that others stored. `update` may be called again after a failure. A notice of the same target, run and
   * type is stored once. Resolves with the number of new notices.
   */
  notify(
    account: string,
    targets: readonly string[],
    update: (target: string, notified: NotifiedState | null) => TargetUpdate,
    nowMs: number,
  ): Promise<number>;
  /** The states that a target was last notified of, by account. */
  states(target: string): Promise<ReadonlyMap<string, NotifiedState>>;
  /**
   * Takes the due messages of a target, oldest first: none that overtakes another one of an account. Nobody takes them again
   * before `settle`, or before two minutes have passed because this process has died. A message is one notice, or, with
   * `collectMs`, all notices of one commit: due when none has followed for that time, or after five times as long. What it
   * contains never changes once it was taken.
   */
  takeDue(
    target: string,
    limits: { readonly messages: number; readonly collectMs: number },
    nowMs: number,
  ): Promise<DueMessages>;
  settle(message: QueuedMessage, outcome: DeliveryOutcome, nowMs: number): Promise<void>;
}
