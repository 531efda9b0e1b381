// The outbox: the notified state of each target, and the notices that are still to be delivered. It is in the store, so
// that no restart and no second process repeats or loses a notice. It never contains addresses of targets.
import type { NoticeType, NotifiedState } from '../notice.ts';

/** How long a claim lasts, which is longer than any delivery. Then another process may take it over. */
export const CLAIM_MS = 60_000;

/** A notice to be delivered. `id` is the same in every attempt. */
export interface NewNotice {
  readonly id: string;
  readonly runId: string;
  readonly type: NoticeType;
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

export interface Claim {
  readonly notices: readonly QueuedNotice[];
  /** When the next notice that was not claimed is due, which may be now; null when there is none. */
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
  /**
   * Claims due notices of a target for CLAIM_MS, oldest first: only the oldest pending one of each account, so that none
   * overtakes another, and none that another process has claimed.
   */
  claim(target: string, claimant: string, limit: number, nowMs: number): Promise<Claim>;
  /** False when the claim was lost meanwhile; then nothing was written. */
  settle(id: string, claimant: string, outcome: DeliveryOutcome, nowMs: number): Promise<boolean>;
}
