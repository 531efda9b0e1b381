// One lock for each account, across all processes that share the store.

/** A lock that this process holds; `token` is checked in every transaction that commits an operation as sent. */
export interface Lease {
  readonly account: string;
  readonly token: string;
}

export type LockAttempt = { readonly lease: Lease } | { readonly heldBy: string };

/** All methods may throw StoreError. */
export interface Locks {
  /** How long a lock is valid after its last renewal, if its holder may be alive. */
  readonly leaseMs: number;
  /** Takes the lock, also from a holder that died. Marks broken runs of the account as interrupted. */
  acquire(account: string, runId: string, nowMs: number): Promise<LockAttempt>;
  /** False when another process holds the lock now. */
  renew(lease: Lease, nowMs: number): Promise<boolean>;
  release(lease: Lease): Promise<void>;
}

/** The result of a commit that checks the lock; `lock_lost`: another process holds it, and nothing was committed. */
export type SentCommit = 'committed' | 'lock_lost';

/** Why a run of the daemon may begin. */
export type RunPermit =
  /** No process has made a scheduled run of the account since this tick. */
  | { readonly type: 'tick'; readonly tickMs: number }
  /** The replica holds the turn of the account. */
  | { readonly type: 'turn'; readonly replica: string; readonly epoch: string };

/** What must be valid in the transaction that begins a run; a dry run has no lease. */
export interface RunFence {
  readonly lease: Lease | undefined;
  readonly permit: RunPermit;
  readonly nowMs: () => number;
}
