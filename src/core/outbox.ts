// The outbox: what notification targets were told, and the notices that still have to reach them. Kept in the store,
// so that neither a restart nor a second process repeats or loses one. Addresses of targets are never in it.
import type { NoticeType, NotifiedState } from './notice.ts';

/** How long a claim lasts; one whose process died is taken over after that. Longer than any delivery. */
export const CLAIM_MS = 60_000;

/** A notice to be delivered. `id` stays the same however often it is sent. */
export interface NewNotice {
  readonly id: string;
  readonly runId: string;
  readonly type: NoticeType;
  /** JSON, as the daemon's notifications read it. */
  readonly body: string;
}

export interface QueuedNotice extends NewNotice {
  readonly account: string;
  /** How often it was sent in vain. */
  readonly attempts: number;
}

/** `told` null leaves what the target knows as it was. */
export interface TargetUpdate {
  readonly notified: NotifiedState | null;
  readonly notices: readonly NewNotice[];
}

export interface Claim {
  readonly notices: readonly QueuedNotice[];
  /** When the next notice that was not claimed is due, which may be now; null when there is none. */
  readonly nextAtMs: number | null;
}

/** What came of an attempt. `reason` is a code, never text from elsewhere. */
export type DeliveryOutcome =
  | { readonly type: 'delivered' }
  | { readonly type: 'retry'; readonly atMs: number; readonly reason: string }
  | { readonly type: 'undelivered'; readonly reason: string };

/** A notice that was given up. Times are UTC ISO 8601. */
export interface UndeliveredNotice {
  readonly account: string;
  readonly runId: string;
  readonly type: NoticeType;
  readonly createdAt: string;
  readonly failedAt: string;
  readonly attempts: number;
  readonly reason: string;
}

/** All methods may throw StoreError. A `target` is a digest, see daemon/notify/target.ts. */
export interface Outbox {
  /**
   * Asks `update` of each target what it knows and gets from now on, and keeps all of it in one transaction, so that
   * of several processes each judges what the others have left. `update` may be called again after a failure. A
   * notice of the same target, run and type is kept once. Resolves with how many notices are new.
   */
  notify(
    account: string,
    targets: readonly string[],
    update: (target: string, notified: NotifiedState | null) => TargetUpdate,
    nowMs: number,
  ): Promise<number>;
  /**
   * Claims due notices of a target for CLAIM_MS, oldest first: of each account only its oldest open one, so that none
   * overtakes another, and none that somebody else has claimed.
   */
  claim(target: string, claimant: string, limit: number, nowMs: number): Promise<Claim>;
  /** False when the claim was lost meanwhile; then nothing was written. */
  settle(id: string, claimant: string, outcome: DeliveryOutcome, nowMs: number): Promise<boolean>;
  /** Gives up the claims of a claimant that ends, without counting an attempt. */
  release(claimant: string): Promise<void>;
  /**
   * Drops what waits for other targets than these when nobody has tried for it, nor added to it, since `idleSinceMs`:
   * no process that shares the store has such a target any more.
   */
  dropIdle(targets: readonly string[], idleSinceMs: number): Promise<void>;
  /** How many notices were given up since then. */
  undeliveredCount(sinceMs: number): Promise<number>;
  /** The notices that were given up, newest first. */
  undelivered(filter: {
    account?: string;
    sinceMs?: number;
    limit: number;
  }): Promise<readonly UndeliveredNotice[]>;
}
