// Who may write: one lock for each account, and one for the daemon that leads, across all processes that share the store.

/** The name of the lock of the daemon that leads. No account has an empty name. */
export const LEADER = '';

/** The lock of an account, which a run of this process holds. Every transaction of the run checks it. */
export interface Lease {
  readonly account: string;
  readonly runId: string;
  /** How long ago the database was replaced by another one, which may lack its last commits; null when it never was. */
  readonly sinceFailoverMs: number | null;
  /** When it was taken, by the clock of the store. */
  readonly takenAtMs: number;
}

export type LockAttempt = { readonly lease: Lease } | { readonly heldBy: string };

/** What a renewal reports. Times are epoch milliseconds. */
export interface Renewal {
  /** The accounts whose locks this process still holds, and LEADER if it leads. */
  readonly held: ReadonlySet<string>;
  /** The clock of the store; null when nothing is held. */
  readonly nowMs: number | null;
}

/** The daemon that leads, or led last. */
export interface Leader {
  /** As in a message; null when none leads. */
  readonly heldBy: string | null;
  /** Differs after each renewal. */
  readonly renewal: string | null;
  /** The newest commit of the configuration that a leader had. */
  readonly commit: LedCommit | null;
  readonly nowMs: number;
}

export interface LedCommit {
  readonly sha: string;
  readonly committedAt: string;
}

/** All methods may throw StoreError. */
export interface Locks {
  /** How long a lock is valid after its last renewal, if its holder may be alive. */
  readonly leaseMs: number;
  /**
   * Takes the lock of an account for a run, also from a holder that died. Marks broken runs of the account as interrupted.
   * `epoch` is that of the daemon that leads; null for a command. Throws `lock_lost` when another daemon leads.
   */
  acquire(account: string, runId: string, epoch: string | null, nowMs: number): Promise<LockAttempt>;
  release(lease: Pick<Lease, 'account' | 'runId'>): Promise<void>;
  /** Renews every lock of this process in one statement. */
  renew(nowMs: number): Promise<Renewal>;
  leader(nowMs: number): Promise<Leader>;
  /**
   * Leads from now on under this epoch, unless another process does: false then. Ends the runs of earlier leaders, which can
   * commit nothing any more.
   */
  lead(epoch: string, nowMs: number): Promise<boolean>;
  /** Remembers the commit of the configuration that the leader has now. */
  rememberCommit(commit: LedCommit): Promise<void>;
  resign(epoch: string): Promise<void>;
}

/** What a run needs of the locks. */
export type AccountLocks = Pick<Locks, 'acquire' | 'release'>;

/** The result of a commit that checks the lock; `lock_lost`: another process holds it, and nothing was committed. */
export type SentCommit = 'committed' | 'lock_lost';
