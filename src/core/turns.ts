// Turns: which account runs when, and in which process. One process keeps its turns in memory, several replicas keep
// theirs in the store.
import type { Trigger } from './journal.ts';
import type { StoreError } from './errors.ts';
import type { RunPermit } from './locks.ts';
import type { RunSignals } from './ports.ts';

export interface Schedule {
  readonly name: string;
  readonly schedule: string;
  readonly timezone: string;
  readonly jitterMs: number;
  /** Another value when the account's file has changed, which ends the backoff. */
  readonly revision: object | string;
}

export interface AccountSchedule extends Schedule {
  /** The base address: the accounts of one address can be slow together. */
  readonly lane: string;
  /** Equal in all replicas for equal settings of the account. */
  readonly digest: string;
  /** Whether the file is invalid now, so that the schedule is the last good one of this process, or a default. */
  readonly isBroken: boolean;
}

/** One run that is to be made now. */
export interface Turn {
  readonly account: string;
  readonly trigger: Trigger;
  /** An object of this run only. */
  readonly signals: RunSignals;
  /** Of a run that another process may make instead; checked when it is journaled. */
  readonly permit: RunPermit | undefined;
  /** Whether another process has made the run, or makes it now. Then this one is skipped. */
  isMade(): Promise<boolean>;
  /** Makes the run once more from the beginning, when a place of its size is free. */
  later(): void;
  /** Makes the run once more from the beginning, soon: another process runs the account now. */
  whenUnlocked(): void;
  /**
   * The store could not be used. True when the run is made once more from the beginning, perhaps by another process;
   * otherwise the next tick tries again.
   */
  storeFailed(error: StoreError): boolean;
}

export interface TurnState {
  /** `queued`: waits for a free place. An account that waits for a commit is `idle`. */
  readonly activity: 'running' | 'queued' | 'idle';
  /** null while it runs and nothing follows, and while it waits for a commit. */
  readonly nextRunMs: number | null;
  /** Before then no tick starts a run, because the runs of the account failed. */
  readonly backoffUntilMs: number | null;
  /**
   * The commit that changed the account last, when every replica that is alive has an older configuration, so that the
   * account does not run. null otherwise, and where only one process runs accounts.
   */
  readonly waitsForCommit: string | null;
  /** Whether the newest configuration of the replicas has no such account, so that it does not run. */
  readonly isLeftOut: boolean;
  /** The process that runs the account; null while none does, and where only one process runs accounts. */
  readonly replica: Pick<ReplicaRecord, 'id' | 'host' | 'pid'> | null;
}

/** What the journal shows of an account when the daemon starts. */
export interface EarlierRun {
  readonly account: string;
  readonly failures: number;
  /** The start of the latest run; null when there is none. */
  readonly startedMs: number | null;
}

/** A process that runs accounts. Times are epoch milliseconds of the database. */
export interface ReplicaRecord {
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  readonly version: string;
  readonly startedMs: number;
  readonly beatMs: number;
  /** Whether it runs accounts; otherwise it has ended or has no connection, and its accounts are given to others. */
  readonly isAlive: boolean;
  readonly runs: number;
  readonly commit: string | null;
  /** Whether its configuration is the newest, or not known yet. Another one runs only accounts that are equal in both. */
  readonly hasNewest: boolean;
  /** Whether it is the replica that answers. */
  readonly isSelf: boolean;
}

/** How soon a run starts again that found its account locked. */
export const LOCKED_MS = 1000;

/** The turns of all accounts. Methods that return a promise may throw StoreError. */
export interface Turns {
  /** Replaces the schedules by these. Unchanged ones keep their next tick. */
  update(schedules: readonly AccountSchedule[]): void;
  /** Runs accounts from now on. `run` never rejects. */
  start(run: (turn: Turn) => Promise<void>): void;
  /** Requests the first runs: of each account, or only of those that missed a tick while no daemon ran. */
  startFirst(earlier: readonly EarlierRun[], isEach: boolean): void;
  /**
   * Runs the account as soon as a place is free; during a run, exactly one more run follows. `unknown`: a newer
   * configuration, which this process has not read yet, has no such account.
   */
  sync(account: string): Promise<'queued' | 'stopping' | 'unknown'>;
  /** Runs the account because of the approval of this time, once for each approval. False when it cannot run yet. */
  approve(account: string, givenAtMs: number): Promise<boolean>;
  /**
   * Reports the end of a run that was not interrupted, with the number of failures in a row, 0 after a success. After
   * failures ticks are skipped.
   */
  ended(account: string, failures: number): void;
  /** Ends the backoff of accounts that another process has run successfully. */
  endBackoffs(): Promise<void>;
  /** Starts what can start, after a process for large accounts has become free. */
  startNext(): void;
  states(accounts: readonly string[]): Promise<ReadonlyMap<string, TurnState>>;
  /** The accounts that are not idle. */
  active(): Promise<ReadonlyMap<string, 'running' | 'queued'>>;
  /**
   * The accounts that replicas run, in the order of their names, as far as this process knows; empty where only one process
   * runs accounts.
   */
  accounts(): readonly string[];
  /** As far as this process knows. */
  nextRunMs(account: string): number | null;
  /** The longest time between two of the next ticks, which for a line of working days includes the weekend. */
  longestGapMs(account: string): number | null;
  /** Empty where only one process runs accounts. */
  replicas(): Promise<readonly ReplicaRecord[]>;
  /** Why accounts cannot run here; empty when they can. */
  problems(): readonly string[];
  /** When the turns were last checked, for the watchdog. */
  lastBeatMs(): number;
  isStopped(): boolean;
  /** Starts no more runs, and resolves when the running ones have ended. */
  stop(): Promise<void>;
}
