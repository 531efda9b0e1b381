// What the outside must offer to the use cases in app/. Adapters live in config/, service/ and store/; wire.ts joins them.
import type { CreateOutcome, DeleteOutcome } from './write-outcome.ts';
import type { Entry, Kind, ObservedCatalog, Resource, Warning } from './catalog.ts';
import type { Memory } from './history.ts';
import type { Lease, SentCommit } from './locks.ts';
import type { OperationStatus, RunMode, RunStatus, Trigger } from './journal.ts';
import type { AgreedPlan, Approval, ApprovalTaking, PendingPlan } from './operator.ts';
import type { Plan } from './plan.ts';
import type { AccountSettings, ConfigCommit } from './settings.ts';
import type { MissingHolding } from './list-plausibility.ts';
import type { EntryKey } from './usage.ts';

declare global {
  // core/ compiles without the platform's types; there the signal is only passed through.
  interface AbortSignal {
    readonly aborted: boolean;
  }
}

/** Time and chance, as arguments, so that a test can be master of both. */
export interface Clock {
  nowMs(): number;
  /** Counts how long things take: nobody sets it back or forward, and it stands still while the machine sleeps. */
  steadyMs(): number;
  /** Resolves after `ms`, or at once when the signal aborts; never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** How a run is asked to end: `stop` starts nothing new, `kill` also gives up what is in flight. */
export interface RunSignals {
  readonly stop: AbortSignal;
  readonly kill: AbortSignal;
}

export interface Traffic {
  readonly requests: number;
  readonly retries: number;
}

export interface Listing<T> {
  readonly items: readonly T[];
  readonly warnings: readonly Warning[];
}

/** The lists of one account; has no way to write. All methods retry and throw ServiceError in the end. */
export interface ServiceReader {
  listEntries(kind: Kind): Promise<Listing<Entry>>;
  listResources(): Promise<Listing<Resource>>;
  traffic(): Traffic;
}

/** Creates and deletes of one account; only app/apply is ever handed one. Never rejects. */
export interface ServiceWriter {
  /** `mayStart` is asked before each attempt; without it none is made. */
  create(kind: Kind, name: string, mayStart: () => boolean): Promise<CreateOutcome>;
  /** `isFresh` is asked before each attempt: whether what the delete was decided on is still recent enough. */
  delete(kind: Kind, remoteId: string, isFresh: () => boolean): Promise<DeleteOutcome>;
}

/** Opens an account for reading. A planner knows nothing but this. */
export interface ReadableService {
  reader(account: AccountSettings, signals: RunSignals): Promise<ServiceReader>;
}

/** Opens an account for writing as well. */
export interface WritableService extends ReadableService {
  /** A digest that is the same for two accounts of one address with the same token; tells nothing of the token. */
  tokenKey(account: AccountSettings, signals: RunSignals): Promise<string>;
  writer(account: AccountSettings, signals: RunSignals): Promise<ServiceWriter>;
}

export interface IdentityClaim {
  readonly runId: string;
  readonly account: string;
  readonly baseUrl: string;
  readonly remoteAccountId: string | null;
  /** Names of all configured accounts: what is configured no more has given up its claim. */
  readonly configured: ReadonlySet<string>;
}

export interface NewRun {
  readonly id: string;
  readonly account: string;
  readonly trigger: Trigger;
  readonly mode: RunMode;
  readonly startedAtMs: number;
  readonly configDigest: string | null;
  readonly configCommit: ConfigCommit | null;
}

/** An operation as it is first written, before anything is sent. `seq` is its place, from 1. */
export interface NewOperation {
  readonly kind: Kind;
  readonly action: 'create' | 'delete';
  readonly name: string;
  readonly remoteId: string | null;
  readonly status: 'pending' | 'held';
  readonly rule: string | null;
  readonly reason: string | null;
}

/** What became of an operation. */
export interface OperationResult {
  readonly seq: number;
  readonly status: OperationStatus;
  readonly attempts: number;
  readonly httpStatus: number | null;
  readonly reason: string | null;
  readonly rule: string | null;
  readonly atMs: number;
  /**
   * The entry that a create was answered with, under the name that the service gave it. `existed`: it had been there
   * before, so that nothing was created. `accountId`: the account that the answer named, when it is not the one meant.
   */
  readonly entry?: {
    readonly remoteId: string;
    readonly name: string;
    readonly existed?: boolean;
    readonly accountId?: string;
  };
}

/** A create of an earlier run of which nobody knows whether it happened. */
export interface OutstandingCreate {
  readonly runId: string;
  readonly seq: number;
  readonly kind: Kind;
  readonly name: string;
  /** When the answer came or was given up. */
  readonly sinceMs: number;
}

/** What the store knows of an account before a run. */
export interface AccountState {
  readonly remoteAccountId: string | null;
  readonly paused: boolean;
  readonly throttledUntilMs: number | null;
  readonly lastAppliedCommit: { readonly sha: string; readonly committedAt: string } | null;
  readonly pending: PendingPlan | null;
  readonly approval: Approval | null;
  /** Runs in a row that failed or did only a part. */
  readonly consecutiveFailures: number;
}

/** The last lists that were found good, with when they were read. */
export interface LastGood {
  readonly observed: ObservedCatalog;
  readonly missing: readonly MissingHolding[];
  /** What rolecall deleted since, by any run. */
  readonly deletedSince: ReadonlySet<EntryKey>;
  /** What rolecall certainly created since, by any run, and did not delete. */
  readonly createdSince: ReadonlySet<EntryKey>;
}

export interface RunEnd {
  readonly status: RunStatus;
  readonly finishedAtMs: number;
  /** null: those of the operations that were journaled, since the run did not come to count them. */
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
  /** The digest of the plan that waits for approval from now on; null: none does; left out: as it was. */
  readonly pending?: string | null;
}

/** The journal of runs, operations, snapshots and entries (contract, section 6). All methods may throw StoreError. */
export interface Journal {
  accountState(account: string): Promise<AccountState>;
  memory(account: string, remoteAccountId: string | null, nowMs: number): Promise<Memory>;
  /** `observed` spares reading the stored lists when they are the same. */
  lastGood(
    account: string,
    remoteAccountId: string | null,
    observed: ObservedCatalog,
  ): Promise<LastGood | null>;
  /** Another remote account in which this one's runs made or saw one of these entries; null when there is none. */
  foreignAccount(
    account: string,
    remoteAccountId: string | null,
    listed: ReadonlySet<EntryKey>,
  ): Promise<string | null>;
  /** The entries that were known by the end of a run's first observation, and all that rolecall created. */
  knownIds(account: string, remoteAccountId: string | null, upToRun: string): Promise<ReadonlySet<EntryKey>>;
  outstandingCreates(account: string, remoteAccountId: string | null): Promise<readonly OutstandingCreate[]>;
  /** Says what became of an outstanding create: the entry that it made, or that no list showed one. */
  settleOutstanding(
    create: OutstandingCreate,
    entry: Entry | null,
    runId: string,
    nowMs: number,
  ): Promise<void>;
  /**
   * Finds out about deletes of earlier runs whose answer was lost: done when the entry is not listed any more. What is
   * listed and was sent after `openSinceMs` stays open, since a list may be stale. Resolves with how many do.
   */
  settleDeletes(
    account: string,
    remoteAccountId: string | null,
    listed: ReadonlySet<EntryKey>,
    runId: string,
    at: { readonly nowMs: number; readonly openSinceMs: number },
  ): Promise<number>;

  beginRun(run: NewRun): Promise<void>;
  /** Removes a run that has begun and journaled nothing, since another process makes it from the beginning. */
  forgetRun(runId: string): Promise<void>;
  /**
   * Carries on, under the name of an account that has never claimed a remote account, what is journaled of one that has
   * claimed this one at the same address and is neither configured nor under way any more: its file was renamed.
   * Resolves with the former name, or null.
   */
  adoptRenamedAccount(claim: IdentityClaim): Promise<string | null>;
  /**
   * Claims the remote account that the run found out, and remembers it from now on. Resolves with the name of the
   * account among `configured` that has claimed it at the same address before, or null. Exactly one of two that run
   * at once gets it.
   */
  claimRemoteAccount(claim: IdentityClaim): Promise<string | null>;
  /**
   * Claims the token of a run for as long as its lock is held. Resolves with the account that uses the same one at this
   * moment, or null. Exactly one of two that run at once gets it.
   */
  claimToken(lease: Lease, tokenKey: string): Promise<string | null>;
  recordObservation(observation: RecordedObservation): Promise<void>;
  recordPlan(runId: string, plan: Plan): Promise<void>;
  addOperations(runId: string, operations: readonly NewOperation[]): Promise<void>;
  /** Results and new `sent` rows in one transaction that checks the lease; with `lock_lost` nothing was written. */
  commitOperations(
    runId: string,
    lease: Lease,
    sent: readonly { readonly seq: number; readonly atMs: number }[],
    results: readonly OperationResult[],
  ): Promise<SentCommit>;
  /** What an applied run leaves behind, in one transaction that checks the lease; with `lock_lost` nothing. */
  rememberApplied(lease: Lease, applied: AppliedRun): Promise<SentCommit>;
  rememberThrottle(account: string, untilMs: number): Promise<void>;
  /**
   * Whether the latest run of the account that a daemon's schedule has begun began between two moments, both
   * inclusive. Earlier ones tell nothing: when the clock was set back they were made for ticks that come again.
   */
  hasScheduledRun(account: string, fromMs: number, toMs: number): Promise<boolean>;
  /**
   * Uses up the approval of the plan with this digest. An approval of another plan, or an old one, lapses. In a pause
   * only a run that somebody asked for by hand takes any.
   */
  takeApproval(account: string, digest: string, byHand: boolean, nowMs: number): Promise<ApprovalTaking>;
  /** The plan that an operator has approved, while the approval is open. */
  approvedPlan(account: string): Promise<AgreedPlan | null>;
  /** False when another process had ended the run before: what it said of it stands. */
  endRun(runId: string, end: RunEnd): Promise<boolean>;
}

export interface AppliedRun {
  readonly runId: string;
  readonly remoteAccountId: string | null;
  /** Entries that the file names: they are rolecall's from then on. */
  readonly named: readonly EntryKey[];
  /** What the account stands at from then on; null leaves that as it is. */
  readonly commit: { readonly sha: string; readonly committedAt: string } | null;
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
  readonly missing: readonly MissingHolding[];
}
