// What an operator does with accounts, on the command line or over HTTP: approve, pause, resume.
import { DAY_MS } from './durations-and-sizes.ts';

/** A plan that waits for approval. */
export interface PendingPlan {
  readonly digest: string;
  readonly runId: string;
  readonly sinceMs: number;
}

/** An approval of one plan: valid once, for 24 hours. */
export interface Approval {
  readonly digest: string;
  readonly givenAtMs: number;
  readonly expiresAtMs: number;
}

/** An accepted plan: the plan of the run must be the same, otherwise nothing is written (`plan_stale`). */
export interface AgreedPlan {
  readonly digest: string;
  /**
   * The observation of a plan that was made before the store contained lists of the account; null for any other plan.
   * Such a plan stored the first lists itself, which alone must not make it stale: while the lists are the same, a run
   * holds the deletes that the plan held.
   */
  readonly firstObserved: string | null;
}

export const APPROVAL_LIFE_MS = DAY_MS;

/** How an operator names a plan: by its digest, or by a prefix that is too long to be a guess. */
export const PLAN_DIGEST = /^(sha256:)?[0-9a-f]{8,64}$/;

/** The result of an approval. `other_plan`: another plan waits than the approved one; nothing was changed. */
export type ApproveOutcome =
  | { readonly type: 'approved'; readonly digest: string; readonly expiresAtMs: number }
  | { readonly type: 'nothing_pending' }
  | { readonly type: 'other_plan'; readonly pending: string };

/** The result of a run's look-up of its approval. */
export type ApprovalTaking =
  | { readonly type: 'taken' | 'none' }
  | { readonly type: 'lapsed'; readonly digest: string; readonly reason: 'changed' | 'expired' };

/** Stores approvals and pauses. All methods may throw StoreError. */
export interface OperatorCommands {
  /** `digest` may be a prefix of the pending one, of at least eight hex digits; null approves the pending plan. */
  approve(account: string, digest: string | null, nowMs: number): Promise<ApproveOutcome>;
  setPaused(account: string, paused: boolean): Promise<void>;
}
