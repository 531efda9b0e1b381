// The turns of several replicas in the store: each method is one atomic step. All times are of the database's clock, as
// epoch milliseconds. All methods may throw StoreError.
import type { Trigger } from './journal.ts';
import type { AccountSchedule, ReplicaRecord, TurnState } from './turns.ts';

/** A turn that a replica holds. `epoch` differs in every claim of every account. */
export interface ClaimedTurn {
  readonly account: string;
  readonly lane: string;
  readonly epoch: string;
  /** The trigger that was requested; null: the tick is due. */
  readonly requested: Trigger | null;
  readonly tickMs: number | null;
  /** The latest tick that started a run: this one, when it is due. */
  readonly lastTickMs: number;
  /** The number of its latest runs in a row that failed. */
  readonly failures: number;
  readonly line: CronLine;
  readonly atMs: number;
}

export interface CronLine {
  readonly schedule: string;
  readonly timezone: string;
  readonly jitterMs: number;
}

/** The next tick of an account; `dueMs` includes its jitter. */
export interface NextTick {
  readonly dueMs: number | null;
  readonly tickMs: number | null;
  /** Set while ticks are skipped after failures. */
  readonly backoffUntilMs: number | null;
}

export type DueSchedule = AccountSchedule & NextTick;

/** The commits of the configuration, newest first. */
export interface ConfigGeneration {
  readonly gen: number;
  readonly commit: string;
  readonly committedAt: string;
}

export interface Beat {
  readonly nowMs: number;
  /** The number of replicas that may send requests, this one included. */
  readonly replicas: number;
  /** Whether no replica that is alive registered before this one. */
  readonly isFirst: boolean;
  /** Whether every other replica has beaten since this one registered, so that each knows of it. */
  readonly isKnown: boolean;
}

/** How many runs may start of the accounts of one base address. */
export interface LaneRoom {
  readonly lane: string;
  readonly room: number;
}

export interface Claims {
  readonly turns: readonly ClaimedTurn[];
  readonly nowMs: number;
  /** When the next account of these lanes is due that is not due yet. */
  readonly nextDueMs: number | null;
}

export interface ReplicaState {
  readonly generation: number;
  readonly commit: string | null;
}

export interface TurnListeners {
  /** Accounts may have become due. */
  readonly onTurn: () => void;
  /** A replica was added, and waits until this one knows of it. */
  readonly onReplica: () => void;
}

export interface TurnStore {
  /** Adds a replica. Replicas of this machine whose process has ended are dead from now on. */
  register(id: string, version: string, leaseMs: number): Promise<Beat>;
  /** Renews the lease of a replica; null when it is dead. */
  beat(id: string, leaseMs: number, state: ReplicaState): Promise<Beat | null>;
  /** Declares replicas with an expired lease dead and frees their turns. Resolves with the freed accounts. */
  reap(): Promise<readonly string[]>;
  /** Frees the turns of a replica and removes it. */
  retire(id: string): Promise<void>;
  generations(): Promise<readonly ConfigGeneration[]>;
  /** Whether all other live replicas have this commit. */
  isCommitOfAll(id: string, commit: string): Promise<boolean>;
  /** Adds a generation after `after`, the newest; false when there is a newer one already. */
  addGeneration(after: number, next: Omit<ConfigGeneration, 'gen'>): Promise<boolean>;
  /**
   * Stores changed schedules, and removes other accounts, unless a newer generation changed them. What was not committed
   * (`isDirty`) counts as changed by the next generation too, since it may contain it.
   */
  update(generation: number, isDirty: boolean, schedules: readonly DueSchedule[]): Promise<void>;
  /** How many accounts wait for a replica with a newer configuration. */
  waitingForNewer(generation: number): Promise<number>;
  /** Makes all accounts due, as at the start of the only daemon. */
  startAll(): Promise<void>;
  /** Claims what is due at these addresses, in their order, at most `most` accounts, the longest due of each first. */
  claim(
    id: string,
    generation: number,
    rooms: readonly LaneRoom[],
    limits: { readonly most: number; readonly except: readonly string[] },
  ): Promise<Claims>;
  /** Whether the replica still holds the turn, is alive, and has the configuration that the account needs. */
  isCurrent(id: string, turn: ClaimedTurn, generation: number): Promise<boolean>;
  /**
   * Ends a turn: the next run is at `next`, a tick of the turn's line, or at once when it was requested meanwhile. Resolves
   * with the line of the account when that has changed, so that nothing was written, and with null when the turn has ended
   * or is lost.
   */
  end(id: string, turn: ClaimedTurn, next: NextTick): Promise<CronLine | null>;
  /** Ends a turn whose run was interrupted, or is made later: the account is due again. */
  release(id: string, turn: ClaimedTurn, why: 'interrupted' | 'later'): Promise<void>;
  /** Frees the turns of a replica except these: the answer to a claim was lost with its connection. */
  releaseOthers(id: string, accounts: readonly string[]): Promise<void>;
  /** False when there is no such account. */
  sync(account: string): Promise<boolean>;
  /** Requests a run for an approval, once; false while the account runs, and afterwards. */
  approve(account: string, givenAt: string): Promise<boolean>;
  /** The accounts whose ticks are skipped although their last run succeeded. */
  recovered(): Promise<readonly { readonly account: string; readonly line: CronLine }[]>;
  /** Ends the backoff of an account. */
  endBackoff(account: string, line: CronLine, next: NextTick): Promise<void>;
  states(accounts: readonly string[]): Promise<ReadonlyMap<string, TurnState>>;
  active(): Promise<ReadonlyMap<string, 'running' | 'queued'>>;
  nextRuns(): Promise<ReadonlyMap<string, number>>;
  replicas(selfId: string | null): Promise<readonly ReplicaRecord[]>;
  /** Calls the listeners as soon as something changes, as long as the database is available. Resolves with what ends it. */
  listen(listeners: TurnListeners): Promise<() => Promise<void>>;
}
