// What an operator says about accounts, on the command line or over HTTP: go ahead, wait, go on (contract, section 7).

/** A plan that waits for a person's word. */
export interface PendingPlan {
  readonly digest: string;
  readonly runId: string;
  readonly sinceMs: number;
}

/** A person's word for one plan: good once, for 24 hours. */
export interface Approval {
  readonly digest: string;
  readonly givenAtMs: number;
  readonly expiresAtMs: number;
}

/** A plan that was agreed to: what a run plans must be the same, else nothing is written (`plan_stale`). */
export interface AgreedPlan {
  readonly digest: string;
  /**
   * What was observed by a plan that was made before the store held lists of the account; null for any other plan. Such
   * a plan left lists in the store itself, which alone must not make it stale: while the account shows the same, a run
   * holds the deletes that the plan held.
   */
  readonly firstObserved: string | null;
}

export const APPROVAL_LIFE_MS = 86_400_000;

/** How a person names a plan: by its digest, or by a beginning that is long enough to be no guess. */
export const PLAN_DIGEST = /^(sha256:)?[0-9a-f]{8,64}$/;

/** What came of an approval. `other_plan`: what waits is not what was approved; nothing was changed. */
export type ApproveOutcome =
  | { readonly type: 'approved'; readonly digest: string; readonly expiresAtMs: number }
  | { readonly type: 'nothing_pending' }
  | { readonly type: 'other_plan'; readonly pending: string };

/** What a run found when it asked for its approval. */
export type ApprovalTaking =
  | { readonly type: 'taken' | 'none' }
  | { readonly type: 'lapsed'; readonly digest: string; readonly reason: 'changed' | 'expired' };

/** Where the operator's word is kept. All methods may throw StoreError. */
export interface OperatorDesk {
  /** `digest` may be a beginning of the pending one, of eight hex digits at least; null means whatever waits now. */
  approve(account: string, digest: string | null, nowMs: number): Promise<ApproveOutcome>;
  setPaused(account: string, paused: boolean): Promise<void>;
}
