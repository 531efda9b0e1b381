// What a run writes to the journal and reads from it. The adapter is in store/.
import type { Released } from '../allowed-deletes.ts';
import type { Action, Entry, Kind, ObservedCatalog, Warning } from '../catalog.ts';
import type { AccountHistory } from '../history.ts';
import type { EntryOwner, ListedEntries } from '../identity.ts';
import type { Lease, SentCommit } from './locks.ts';
import type { OperationStatus, RunMode, RunStatus, Trigger } from '../journal.ts';
import type { AgreedPlan, Approval, ApprovalTaking, Pause, PauseOfAll, PendingPlan } from '../operator.ts';
import type { Plan } from '../plan.ts';
import type { ConfigCommit } from '../settings.ts';
import type { EntryKey } from '../usage.ts';
import type { Traffic } from './service.ts';

export interface IdentityClaim {
  readonly runId: string;
  readonly account: string;
  readonly baseUrl: string;
  readonly remoteAccountId: string | null;
  /** Names of all configured accounts: an account that is no longer configured has no claim. */
  readonly configured: ReadonlySet<string>;
}

export interface NewRun {
  readonly id: string;
  readonly account: string;
  readonly trigger: Trigger;
  readonly actor?: string | null;
  readonly mode: RunMode;
  readonly startedAtMs: number;
  readonly configDigest: string | null;
  readonly configCommit: ConfigCommit | null;
}

/** An operation as it is first written, before anything is sent. Its place among the others, from 1, is its `seq`. */
export interface NewOperation {
  readonly kind: Kind;
  readonly action: Action;
  readonly name: string;
  readonly remoteId: string | null;
  readonly status: 'pending' | 'held';
  readonly rule: string | null;
  readonly reason: string | null;
}

/** The result of an operation. */
export interface OperationResult {
  readonly seq: number;
  readonly status: OperationStatus;
  readonly attempts: number;
  readonly httpStatus: number | null;
  readonly reason: string | null;
  readonly rule: string | null;
  readonly atMs: number;
  /**
   * The entry in the answer to a create, with the name that the service stored. `existed`: the entry is older, so nothing
   * was created. `accountId`: the account in the answer, when it is not the intended one.
   */
  readonly entry?: {
    readonly remoteId: string;
    readonly name: string;
    readonly existed?: boolean;
    readonly accountId?: string;
  };
}

/** An operation of an earlier run whose outcome is unknown. */
export interface UnsettledOperation extends Pick<NewOperation, 'action' | 'kind' | 'name' | 'remoteId'> {
  readonly runId: string;
  readonly seq: number;
  readonly attempts: number;
  /** When the answer arrived or timed out, by the clock of the store. */
  readonly sinceMs: number;
}

/** What the store contains of an account before a run. */
export interface AccountState {
  readonly remoteAccountId: string | null;
  /** null while scheduled runs are allowed. */
  readonly pause: Pause | null;
  readonly throttledUntilMs: number | null;
  readonly lastAppliedCommit: { readonly sha: string; readonly committedAt: string } | null;
  /** The lines of `allowedDeletes` that released a run, with its id. */
  readonly releasedRuns: ReadonlyMap<string, string>;
  readonly pending: PendingPlan | null;
  readonly approval: Approval | null;
  /** The number of latest runs in a row that failed or were partial. */
  readonly consecutiveFailures: number;
}

/** What the journal has of an account that runs newer commits first. */
export interface CanaryHistory {
  readonly account: string;
  /** The commit that was last applied to it. */
  readonly appliedCommit: string | null;
  /** The status of its latest run that ended and could write. */
  readonly latest: RunStatus | null;
  /** The commits on which a run ended `converged` or `held`, and when the first one did; not runs that a rollout held. */
  readonly good: readonly { readonly commit: string; readonly endedAtMs: number }[];
}

/** The last good lists, and what rolecall has changed since. */
export interface LastGood {
  readonly observed: ObservedCatalog;
  /** What any run of rolecall has deleted since. */
  readonly deletedSince: ReadonlySet<EntryKey>;
  /** What any run of rolecall has certainly created since, and not deleted, with the requested names. */
  readonly createdSince: ReadonlyMap<EntryKey, string>;
}

export interface JournaledHistory extends AccountHistory {
  /** null when the store has no good lists of this account. */
  readonly lastGood: LastGood | null;
  /** In the order in which they were sent. */
  readonly unsettled: readonly UnsettledOperation[];
}

export interface RunEnd {
  readonly status: RunStatus;
  readonly finishedAtMs: number;
  /** null: the store counts the journaled operations, since the run ended before it counted them. */
  readonly counts: {
    readonly created: number;
    readonly deleted: number;
    readonly held: number;
    readonly kept: number;
    readonly failed: number;
  } | null;
  readonly traffic: Traffic;
  readonly planDigest: string | null;
  readonly errorCode: string | null;
  readonly error: string | null;
  readonly warnings: readonly Warning[];
  /** The digest of the plan that waits for approval from now on; null: none waits; left out: unchanged. */
  readonly pending?: string | null;
  /** What a run that writes nothing has observed and planned, if it is not recorded yet. */
  readonly recorded?: { readonly observation: RecordedObservation; readonly plan: Plan };
}

/** The journal of runs, operations, snapshots and entries. All methods may throw StoreError. */
export interface Journal {
  accountState(account: string): Promise<AccountState>;
  /** What is journaled of an account when it was observed. Stored lists that equal `observed` are not read. */
  accountHistory(
    account: string,
    remoteAccountId: string | null,
    observed: ObservedCatalog,
    nowMs: number,
  ): Promise<JournaledHistory>;
  /**
   * How accounts that run first did on the commits since the account's last run on `appliedCommit`; null when that run had the
   * same `configDigest`. `commit` is the first one on which a daemon ran the account with that digest.
   */
  rolloutHistory(
    account: string,
    configDigest: string,
    appliedCommit: string | null,
    of: { readonly canaries: readonly string[]; readonly nowMs: number },
  ): Promise<{ readonly commit: string | null; readonly canaries: readonly CanaryHistory[] } | null>;
  /** Where else the store has one of these entries, or null: an entry belongs to one account. */
  foreignOwner(lists: ListedEntries): Promise<EntryOwner | null>;
  /** The entries that were known after a run's first observation, and all entries that rolecall created; null: of every run. */
  knownIds(
    account: string,
    remoteAccountId: string | null,
    upToRun: string | null,
  ): Promise<ReadonlySet<EntryKey>>;
  /** Records what the run found out: `entry` is the one that a create made. */
  settleOperation(
    operation: UnsettledOperation,
    outcome: { readonly hasHappened: boolean; readonly entry: Entry | null },
    runId: string,
    nowMs: number,
  ): Promise<void>;

  /** Throws StoreError `lock_lost` when another process holds the lease of its account. */
  beginRun(run: NewRun): Promise<void>;
  /** Journals a run that failed before it could begin. It needs no lease: another run of the account may hold it. */
  recordFailedRun(run: NewRun, failure: { readonly code: string; readonly message: string }): Promise<void>;
  /**
   * Detects that an account file was renamed, and moves the journal of the former account to the new name. The new account
   * has no claim yet; the former one claimed the same remote account at the same address, and is neither configured nor
   * running. Resolves with the former name, or null.
   */
  adoptRenamedAccount(claim: IdentityClaim): Promise<string | null>;
  /**
   * Claims the remote account of the run, and remembers the claim. Resolves with the account among `configured` that has
   * claimed it at the same address before, or null. Exactly one of two simultaneous runs succeeds.
   */
  claimRemoteAccount(claim: IdentityClaim): Promise<string | null>;
  /**
   * Claims the token of a run while its lock is held. Resolves with the account's state, or with the account that uses the
   * same token at this moment. Exactly one of two simultaneous runs succeeds. Throws StoreError `lock_lost`.
   */
  claimToken(
    lease: Lease,
    tokenKey: string,
  ): Promise<{ readonly state: AccountState } | { readonly usedBy: string }>;
  /** Records what was observed, and the plan before anything of it is written to the service. */
  recordObservation(observation: RecordedObservation, plan?: Plan | null): Promise<void>;
  addOperations(runId: string, operations: readonly NewOperation[]): Promise<void>;
  /** The pause of all accounts; null while there is none. */
  pauseOfAll(nowMs: number): Promise<PauseOfAll | null>;
  /**
   * Results and new `sent` rows in one transaction that checks the lease; `lock_lost`: nothing was written. A pause: the
   * rows were committed, and all accounts are paused.
   */
  commitOperations(
    runId: string,
    lease: Lease,
    sent: readonly { readonly seq: number; readonly atMs: number }[],
    results: readonly OperationResult[],
  ): Promise<SentCommit | PauseOfAll>;
  /** Records adoptions and the applied commit in one transaction that checks the lease; `lock_lost`: nothing was written. */
  rememberApplied(lease: Lease, applied: AppliedRun): Promise<SentCommit>;
  rememberThrottle(account: string, untilMs: number): Promise<void>;
  /**
   * Uses up the approval of the plan with this digest. An approval of another plan, or an expired one, lapses. During a
   * pause only a run that an operator requested (`byHand`) takes an approval.
   */
  takeApproval(
    run: { readonly id: string; readonly account: string; readonly byHand: boolean },
    digest: string,
    nowMs: number,
  ): Promise<ApprovalTaking>;
  /** The plan that an operator has approved, until the approval is used or lapses. */
  approvedPlan(account: string): Promise<AgreedPlan | null>;
  /**
   * False when another process has ended the run already, whose result is kept, or has taken its lock: then the run is
   * marked as interrupted.
   */
  endRun(runId: string, end: RunEnd): Promise<boolean>;
}

export interface AppliedRun {
  readonly runId: string;
  readonly remoteAccountId: string | null;
  /** Entries that the file names; the run adopts them. */
  readonly named: readonly EntryKey[];
  /** The lines of `allowedDeletes` that it uses up: they release nothing else from now on. */
  readonly released: Released;
  /** The commit that was applied, or null if the configuration has none: the recorded one is cleared. */
  readonly commit: { readonly sha: string; readonly committedAt: string } | null | 'unchanged';
}

export interface RecordedObservation {
  readonly runId: string;
  readonly account: string;
  readonly remoteAccountId: string | null;
  readonly phase: 'before' | 'after';
  readonly takenAtMs: number;
  readonly observed: ObservedCatalog;
  /** Whether this becomes the account's last good lists; not when a guard blocked the run. */
  readonly good: boolean;
  /** Entries that the last good lists showed with people who, or whose fields, are missing now: they count as used. */
  readonly missingUse: ReadonlySet<EntryKey>;
}
