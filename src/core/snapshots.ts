// Snapshots of the lists, as commands and pages read them. A snapshot is what one run read in one phase.
import type { Entry, Kind, Resource } from './catalog.ts';
import type { RunStatus } from './journal.ts';

export interface SnapshotRecord {
  /** Of its lists, which have an id each, the smallest. */
  readonly id: number;
  readonly account: string;
  readonly remoteAccountId: string | null;
  readonly runId: string;
  readonly runStatus: RunStatus;
  /** `before` the run wrote, or `after`. */
  readonly phase: 'before' | 'after';
  /** UTC ISO 8601. */
  readonly takenAt: string;
  /** In the order skills, roles, people. Equal lists have equal digests. */
  readonly lists: readonly {
    readonly kind: Kind | 'resource';
    readonly entries: number;
    readonly digest: string;
  }[];
}

export interface SnapshotFilter {
  readonly account?: string;
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
