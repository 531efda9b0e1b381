// Which accounts are due, and who may write: the row of each account has one lease, across all processes that share the store.
import type { Trigger } from '../journal.ts';

/** The lease of an account, which a run of this process holds. Every transaction of the run checks it. */
export interface Lease {
  readonly account: string;
  readonly runId: string;
  /** When it was taken, by the clock of the store. */
  readonly takenAtMs: number;
}

export type LockAttempt = { readonly lease: Lease } | { readonly heldBy: string };

/** Why an account is due, and which operator requested that. */
export interface DueReason {
  readonly trigger: Trigger;
  readonly by: string | null;
}

/** An account that is due, or whose holder has died. */
export interface DueAccount extends DueReason {
  readonly account: string;
  readonly isPaused: boolean;
  /** What the row contained; it is taken only if it still does. */
  readonly seen: {
    readonly dueAt: string | null;
    readonly run: string | null;
    readonly until: string | null;
  };
}

/** A moment at which an account becomes due by its schedule. Times are epoch milliseconds. */
export interface Tick {
  readonly account: string;
  readonly tickMs: number;
  /** The tick and its jitter. */
  readonly dueMs: number;
  readonly trigger: Trigger;
}

/** What a renewal reports. */
export interface Renewal {
  /** The runs whose leases this process still holds. */
  readonly held: ReadonlySet<string>;
  /** The clock of the store; null when nothing is held. */
  readonly nowMs: number | null;
}

/** All methods may throw StoreError. */
export interface Locks {
  /** How long a lease is valid after its last renewal, if its holder may be alive. */
  readonly leaseMs: number;
  /**
   * Takes the lease of an account for a run, also from a holder that died. Marks broken runs of the account as interrupted.
   */
  acquire(account: string, runId: string, nowMs: number): Promise<LockAttempt>;
  /** The same for an account that is due, which it is no longer then; null when it has changed since it was read. */
  take(due: DueAccount, runId: string, nowMs: number): Promise<Lease | null>;
  /** Gives the lease back. With `again` the account is due at once. */
  release(lease: Pick<Lease, 'account' | 'runId'>, again?: DueReason | null): Promise<void>;
  /** Renews the leases of these runs in one statement. */
  renew(runs: readonly string[], nowMs: number): Promise<Renewal>;
}

/** All methods may throw StoreError. Whoever of several processes calls them first sets the account due, once. */
export interface DueAccounts {
  /** The accounts that are due and that no process runs, those first that are due longest, and the clock of the store. */
  due(nowMs: number): Promise<{ readonly nowMs: number; readonly accounts: readonly DueAccount[] }>;
  /** The latest ticks of accounts that a daemon has known before. */
  ticked(): Promise<ReadonlyMap<string, number>>;
  /** Accounts that no daemon has known are due. */
  appear(accounts: readonly string[], nowMs: number): Promise<void>;
  /** Makes accounts due by their schedules, each tick once. Resolves with those that are running: their ticks are skipped. */
  tick(ticks: readonly Tick[], nowMs: number): Promise<readonly string[]>;
  /** The accounts whose last run had other files are due. */
  change(
    accounts: readonly { readonly account: string; readonly digest: string }[],
    nowMs: number,
  ): Promise<void>;
  /** After the end of a pause of all accounts, all are due. */
  endPause(nowMs: number): Promise<void>;
}

/** What a run needs of the leases. */
export type AccountLocks = Pick<Locks, 'acquire' | 'release'>;

/** The result of a commit that checks the lease; `lock_lost`: another process holds it, and nothing was committed. */
export type SentCommit = 'committed' | 'lock_lost';
