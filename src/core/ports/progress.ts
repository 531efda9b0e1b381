// What a run reports while it works, for people who wait for it. A run never depends on who listens.
import type { Action } from '../catalog.ts';

/** Counts of the operations of a plan that is being applied. */
export interface OperationCounts {
  /** The operations with a known result. */
  readonly done: number;
  readonly total: number;
  /** The failed ones among `done`. */
  readonly failed: number;
  /** The operations whose outcome is unknown until a list shows it; not among `done`. */
  readonly doubtful: number;
}

/** What a run does now. `forMs`: the longest time that it still waits. */
export type Activity =
  | { readonly type: 'lock'; readonly heldBy: string; readonly forMs: number }
  /** `read` of the three lists have arrived. */
  | { readonly type: 'lists'; readonly before: 'plan' | 'delete'; readonly read: number }
  | { readonly type: 'plan' }
  /** The lists lack entries, and are read again after this wait. */
  | { readonly type: 'recheck'; readonly forMs: number }
  /** The operations of earlier runs whose outcome is unknown. */
  | { readonly type: 'earlier'; readonly operations: number; readonly forMs: number }
  | ({ readonly type: 'apply'; readonly action: Action } & OperationCounts)
  /** The operations that no list shows yet. */
  | { readonly type: 'verify'; readonly operations: number; readonly forMs: number };

/** Receives what a run does, as soon as it changes. Must not throw. */
export type ProgressObserver = (activity: Activity) => void;

/** Receives every attempt to send a request. Never receives a name, a token or a body. */
export type RequestObserver = (attempt: RequestAttempt) => void;

export interface RequestAttempt {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly status: number | 'error';
  readonly durationMs: number;
  readonly isRetry: boolean;
}
