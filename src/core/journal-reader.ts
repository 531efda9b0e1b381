// The reading side of the journal: for commands that ask, and for the daemon's pages and gauges.
import type { Kind, Warning } from './catalog.ts';
import type { OperationRecord, RunRecord, RunStatus } from './journal.ts';
import type { Plan } from './plan.ts';
import type { AccountState, IdentityClaim } from './ports.ts';

/** An account as the journal knows it, for the status of all at once. */
export interface AccountRecord {
  readonly name: string;
  readonly state: AccountState;
  readonly lastRun: RunRecord | null;
  /** When a run last ended converged, held or planned. */
  readonly lastSuccessAt: string | null;
}

/** The reading side of the journal, for `history`, `show` and the daemon's pages. */
export interface JournalReader {
  runs(filter: {
    account?: string;
    limit: number;
    sinceMs?: number;
    status?: RunStatus;
  }): Promise<readonly RunRecord[]>;
  /** The runs whose id begins so, newest first, at most so many. */
  runsBeginning(prefix: string, limit: number): Promise<readonly RunRecord[]>;
  /** A run by its id or by an unambiguous beginning of it, read in one step, which takes seconds when it is large. */
  run(id: string): Promise<RunDetail | null>;
  /** The same run without its lists, and whether those are large. */
  runHead(id: string): Promise<RunHead | null>;
  /** The same run's warnings and plan as JSON texts, to be passed on without being parsed, and how many operations it has. */
  runTexts(id: string): Promise<RunTexts | null>;
  /** A piece of the operations of the run with this complete id: those behind `seq`; empty when there are no more. */
  operationsAfter(runId: string, seq: number): Promise<readonly OperationRecord[]>;
  /** Every account that ever ran or was paused; one when a name is given. */
  accounts(name?: string): Promise<readonly AccountRecord[]>;
  /** Approvals that no run has used yet, of accounts that are not paused. */
  approvals(): Promise<readonly { readonly account: string; readonly givenAtMs: number }[]>;
  /** Which account among `configured` has claimed the remote account; as Journal.identify, and claims nothing. */
  claimant(claim: IdentityClaim): Promise<string | null>;
  /** How many entries of each kind the last lists of a run showed. */
  entryCounts(runId: string): Promise<ReadonlyMap<Kind, number>>;
}

/** Reading a large run in one step would keep the process from everything else. */
export interface RunHead {
  readonly run: RunRecord;
  readonly isLarge: boolean;
}

export interface RunTexts {
  readonly warnings: string;
  /** Piece by piece; null when the run never came to a plan. */
  readonly plan: AsyncIterable<Uint8Array> | null;
  readonly operationCount: number;
}

export interface RunDetail {
  readonly run: RunRecord;
  readonly operations: readonly OperationRecord[];
  readonly warnings: readonly Warning[];
  readonly plan: Plan | null;
}
