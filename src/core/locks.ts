// One lock for each account, across all processes that share the store (contract, section 5).

/** A lock that this process holds; `token` is checked in every transaction that commits an operation as sent. */
export interface Lease {
  readonly account: string;
  readonly token: string;
}

export type LockAttempt = { readonly lease: Lease } | { readonly heldBy: string };

/** All methods may throw StoreError. */
export interface Locks {
  /** Takes the lock, also over a holder that died. Marks broken runs of the account as interrupted. */
  acquire(account: string, runId: string, nowMs: number): Promise<LockAttempt>;
  /** False when somebody else holds it by now. */
  renew(lease: Lease, nowMs: number): Promise<boolean>;
  release(lease: Lease): Promise<void>;
}

/** Thrown nowhere: the result of a commit that found the lock in other hands. */
export type SentCommit = 'committed' | 'lock_lost';
