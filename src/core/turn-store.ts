// The turns of several replicas in the store: each method is one atomic step. All times are of the database's clock, as
// epoch milliseconds. All methods may throw StoreError.
import type { Trigger } from './journal.ts';
import type { ConfigCommit } from './settings.ts';
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

/** The files of a configuration as the store knows them. */
export interface StoredFiles {
  /** Empty when they have no commit. */
  readonly commit: string;
  /** Of the settings of all accounts; null when a program of an earlier version has stored them. */
  readonly digest: string | null;
}

/** Files that were the newest, and their place among all of them. */
export interface ConfigGeneration extends StoredFiles {
  readonly gen: number;
  readonly flaws: number;
  /** Empty without a commit. */
  readonly committedAt: string;
}

/** The files of this replica. */
export interface ConfigFiles {
  readonly commit: ConfigCommit | null;
  readonly digest: string;
  /** 1: all are invalid. 2: they differ from their commit, or have none. 3: both. */
  readonly flaws: number;
}

/**
 * The distance between two generations. An account that one of them changes gets the number before it, and so do other files of
 * the same commit, which may therefore run that account too. An account in which they differ gets the generation itself.
 */
export const GENERATION = 2;

/** What decides whether the configuration of a replica is the newest. */
export interface ConfigSituation {
  /** The latest, and the latest with a commit; newest first. */
  readonly generations: readonly ConfigGeneration[];
  /** The other replicas that are alive; their files are null before they have stored them. */
  readonly others: readonly { readonly id: string; readonly files: StoredFiles | null }[];
}

/** The place of a configuration among those of all replicas. */
export interface ConfigRank {
  /** The latest generation that it contains. */
  readonly generation: number;
  /** Whether its schedules replace those that are stored. */
  readonly isNewest: boolean;
}

/** The accounts that wait because of their configuration, also those that were removed. */
export interface WaitingAccounts {
  /** How many accounts were changed by files that are newer than those of this replica. */
  readonly newer: number;
  /** The first of their names. */
  readonly names: readonly string[];
  /** How many accounts wait for a commit that no live replica has, and the latest such commit. */
  readonly unavailable: number;
  readonly commit: string | null;
}

/** What is stored of all accounts. */
export interface StoredTurns {
  /** In the order of their names. */
  readonly accounts: readonly string[];
  readonly nextRuns: ReadonlyMap<string, number>;
  readonly lanes: ReadonlySet<string>;
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
  beat(id: string, leaseMs: number): Promise<Beat | null>;
  /** Declares replicas with an expired lease dead and frees their turns. Resolves with the freed accounts. */
  reap(): Promise<readonly string[]>;
  /** Frees the turns of a replica and removes it. */
  retire(id: string): Promise<void>;
  /** The situation of a replica, which decides about the rank of its configuration. */
  situation(id: string): Promise<ConfigSituation>;
  /**
   * Stores the configuration of a replica. The newest one stores changed schedules, and removes other accounts. Any other
   * stores nothing, and leaves accounts that differ to replicas with the newest, so that no account has two different files
   * that may run. False when the situation has changed, so nothing was stored.
   */
  update(
    id: string,
    situation: ConfigSituation,
    own: ConfigRank & ConfigFiles,
    schedules: readonly DueSchedule[],
  ): Promise<boolean>;
  /** `accounts`: those of this replica's files, so that no other removed ones count. */
  waiting(generation: number, accounts: readonly string[]): Promise<WaitingAccounts>;
  /** Whether a replica that is alive, and registered before this one, has stored its configuration. */
  hasPredecessor(id: string): Promise<boolean>;
  /** Makes all accounts due, as at the start of the only daemon. */
  startAll(): Promise<void>;
  /** Claims what is due at these addresses, in their order, at most `most` accounts, the longest due of each first. */
  claim(
    id: string,
    generation: number,
    rooms: readonly LaneRoom[],
    limits: { readonly most: number; readonly except: readonly string[] },
  ): Promise<Claims>;
  /**
   * Whether the replica still holds the turn, is alive, and has the configuration that the account needs. False for an
   * account that was removed.
   */
  isCurrent(id: string, turn: ClaimedTurn, generation: number): Promise<boolean>;
  /**
   * Ends a turn: the next run is at `next`, a tick of the turn's line, or at once when it was requested meanwhile. Resolves
   * with the line of the account when that has changed, so that nothing was written, and with null when the turn has ended
   * or is lost.
   */
  end(id: string, turn: ClaimedTurn, next: NextTick): Promise<CronLine | null>;
  /**
   * Ends a turn whose run was interrupted, or is made later: the account is due again since it was due for this turn.
   * `locked`: it is due again soon, because another process runs the account.
   */
  release(id: string, turn: ClaimedTurn, why: 'interrupted' | 'later' | 'locked'): Promise<void>;
  /** Frees the turns of a replica except these: the answer to a claim was lost, or came too late. */
  releaseOthers(id: string, accounts: readonly string[]): Promise<void>;
  /** False when there is no such account. */
  sync(account: string): Promise<boolean>;
  /** Requests a run for an approval, once; false while the account runs, and afterwards. */
  approve(account: string, givenAt: string): Promise<boolean>;
  /** The accounts whose ticks are skipped although a run since the last tick succeeded. */
  recovered(): Promise<readonly { readonly account: string; readonly line: CronLine }[]>;
  /** Ends the backoff of an account. */
  endBackoff(account: string, line: CronLine, next: NextTick): Promise<void>;
  states(accounts: readonly string[]): Promise<ReadonlyMap<string, TurnState>>;
  active(): Promise<ReadonlyMap<string, 'running' | 'queued'>>;
  stored(): Promise<StoredTurns>;
  replicas(selfId: string | null): Promise<readonly ReplicaRecord[]>;
  /** Opens another connection and writes. Throws StoreError when the database refuses that. */
  probe(): Promise<void>;
  /** Calls the listeners as soon as something changes, as long as the database is available. Resolves with what ends it. */
  listen(listeners: TurnListeners): Promise<() => Promise<void>>;
}
