// The reading side of the journal: for commands and for the daemon's pages and gauges. A snapshot is what one run read in one
// phase.
import type { Action, Entry, Kind, Resource, Warning } from '../catalog.ts';
import type { OperationStatus, RunStatus } from '../journal.ts';
import type { EarlierHolders, OperationRecord, RunRecord } from '../schemas.ts';
import type { OperatorActionRecord, SnapshotRecord } from '../command-schemas.ts';
import type { Plan } from '../plan.ts';
import type { AccountState, IdentityClaim, Journal } from './journal.ts';

/** An account with its state and latest run. */
export interface AccountRecord {
  readonly name: string;
  readonly state: AccountState;
  readonly lastRun: RunRecord | null;
  /** When a run last ended converged, held or planned. */
  readonly lastSuccessAt: string | null;
  readonly remaining: RemainingCounts | null;
  /** Since when, or from when, it is due; null while it is not. */
  readonly dueMs: number | null;
  /** The latest tick of its schedule that a daemon noticed. */
  readonly tickedMs: number | null;
}

/** How many operations of the last plan of an account were not done. */
export type RemainingCounts = Readonly<Record<Action, number>>;

/** What the plan and the operations of a run add to the totals of its record. */
export interface RunTally {
  /** How many operations the journal has in each status. */
  readonly statuses: Readonly<Partial<Record<OperationStatus, number>>>;
  /** The operations of the plan; null when there is none. */
  readonly planned: Readonly<Record<Action, number>> | null;
}

/** What a small mark shows of a run. */
export interface RunMark extends Pick<RunRecord, 'id' | 'account' | 'status' | 'startedAt'> {
  /** How many entries it created and deleted. */
  readonly written: number;
}

/** How many entries, or people, the last list of a day had. */
export interface DailyCount {
  /** When the list was read. UTC ISO 8601. */
  readonly takenAt: string;
  readonly kind: Kind | 'resource';
  readonly entries: number;
}

/** Reads the journal. All methods may throw StoreError. */
export interface JournalReader extends SnapshotReader {
  runs(filter: {
    /** One account, or several. */
    account?: string | readonly string[];
    limit: number;
    sinceMs?: number;
    status?: RunStatus;
    /** Only runs that follow the run with this id in the order of the list; none when there is no such run. */
    after?: string;
    /** Only runs that deleted something. */
    hasDeletes?: true;
    /** Only runs that created or deleted something. */
    changed?: true;
  }): Promise<readonly RunRecord[]>;
  /** The tallies of these runs by their ids, in one step, which takes a second for a million operations. */
  runTallies(ids: readonly string[]): Promise<ReadonlyMap<string, RunTally>>;
  /** The latest runs of each of these accounts, newest first, at most `limit` of each. */
  latestRuns(accounts: readonly string[], limit: number): Promise<readonly RunMark[]>;
  /** The runs whose id has this prefix, newest first, at most `limit`. */
  runsBeginning(prefix: string, limit: number): Promise<readonly RunRecord[]>;
  /** A run by its id or by an unambiguous prefix. */
  run(id: string): Promise<RunDetail | null>;
  /**
   * The same run with the people who had its deleted entries by the lists of earlier runs. Takes longer where the journal
   * has many different lists of people.
   */
  runReport(id: string): Promise<RunDetail | null>;
  /** The deletes of entries with this name that were sent, of all accounts, those of the newest run first. */
  deletesNamed(name: string): Promise<readonly SentDelete[]>;
  /** How far the run with this complete id is; null when there is no such run. */
  runProgress(runId: string): Promise<RunProgress | null>;
  /** Every account that ever ran or was paused, or only the named ones. */
  accounts(names?: string | readonly string[]): Promise<readonly AccountRecord[]>;
  /** The latest commands of operators, newest first. */
  operatorActions(filter: {
    limit: number;
    account?: string | readonly string[];
    sinceMs?: number;
    /** Only those that were given before the one with this `seq`. */
    before?: number;
    /** Only those that were given after the one with this `seq`. */
    after?: number;
  }): Promise<readonly OperatorActionRecord[]>;
  readonly pauseOfAll: Journal['pauseOfAll'];
  /** The account among `configured` that has claimed the remote account, or null. Claims nothing. */
  claimant(claim: IdentityClaim): Promise<string | null>;
  /** How many entries of each kind the last lists of a run showed. */
  entryCounts(runId: string): Promise<ReadonlyMap<Kind, number>>;
  /** The sizes of an account's lists since this time, of the last run of each day that planned, in the order of time. */
  dailyCounts(account: string, sinceMs: number): Promise<readonly DailyCount[]>;
}

/** The journaled operations of a run, counted. Held ones are not among them. */
export interface RunProgress {
  readonly status: RunStatus;
  readonly total: number;
  readonly done: number;
  readonly failed: number;
  /** Sent, and not answered yet. */
  readonly sent: number;
  /** Sent, and the outcome is unknown until a list shows it. */
  readonly unknown: number;
  /** When the first of them was sent. UTC ISO 8601. */
  readonly firstSentAt: string | null;
}

export interface RunDetail {
  readonly run: RunRecord;
  readonly operations: readonly OperationRecord[];
  readonly warnings: readonly Warning[];
  readonly plan: Plan | null;
  /** Of the deletes, by `seq`; absent where it was not read, and without deletes. */
  readonly earlierHolders?: readonly (EarlierHolders & Pick<OperationRecord, 'seq'>)[];
}

/** An operation of an ended run, without its times. */
export type EndedOperation = Omit<OperationRecord, 'startedAt' | 'finishedAt'>;

/** A run that has ended: as it ended in this process, or as the journal has it. */
export interface EndedRun extends Pick<RunDetail, 'run' | 'warnings' | 'plan'> {
  readonly operations: readonly EndedOperation[];
}

export type SentDelete = Pick<OperationRecord, 'runId' | 'seq' | 'kind'> &
  Pick<RunRecord, 'account' | 'startedAt'>;

export interface SnapshotFilter {
  /** One account, or several. */
  readonly account?: string | readonly string[];
  readonly runId?: string;
  /** The snapshot that contains the list with this id. */
  readonly id?: number;
  /** Only snapshots that were taken at this moment or before. */
  readonly untilMs?: number;
  /** Leaves out lists that a guard found implausible, and lists that did not show what the run had changed. */
  readonly isGood?: true;
  readonly limit: number;
}

/** Reads stored lists. All methods may throw StoreError. */
export interface SnapshotReader {
  /** The snapshots, those of the newest run first. */
  snapshots(filter: SnapshotFilter): Promise<readonly SnapshotRecord[]>;
  /** The skills and roles of a snapshot; null when a list of them is no longer stored. */
  snapshotEntries(snapshot: SnapshotRecord): Promise<Readonly<Record<Kind, readonly Entry[]>> | null>;
  /** The people of a snapshot; null when their list is no longer stored. */
  snapshotPeople(snapshot: SnapshotRecord): Promise<readonly Resource[] | null>;
}

/** The number of objects in one list of a snapshot. */
export function listSize({ lists }: SnapshotRecord, wanted: Kind | 'resource'): number {
  return lists.find(({ kind }) => kind === wanted)?.entries ?? 0;
}
