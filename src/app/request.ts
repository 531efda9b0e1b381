// What a run is asked to do, and with what.
import type { Locks } from '../core/locks.ts';
import type { Clock, Journal, ReadableService, RunSignals, WritableService } from '../core/ports.ts';
import type { CommitRelation } from '../core/repository.ts';
import type { Plan } from '../core/plan.ts';
import type { RunMode, Trigger } from '../core/journal.ts';
import type { AgreedPlan } from '../core/operator.ts';
import type { AccountSettings, ApiSettings, ConfigCommit } from '../core/settings.ts';

/** One account, as its file says, with what surrounds it. */
export interface AccountRequest {
  readonly settings: AccountSettings;
  readonly api: ApiSettings;
  readonly commit: ConfigCommit | null;
  /** Names of all configured accounts: only among these a copied token is looked for. */
  readonly configured: ReadonlySet<string>;
  readonly trigger: Trigger;
  readonly signals: RunSignals;
}

/** What an operator accepts for this one run. */
export interface Acceptance {
  readonly shrink: boolean;
  readonly olderSource: boolean;
  /** Deletes although the store holds no earlier lists of the account. */
  readonly noHistory: boolean;
}

export const ACCEPT_NOTHING: Acceptance = { shrink: false, olderSource: false, noHistory: false };

/** What a plan asks of the journal. */
export type PlanningMemory = Pick<
  Journal,
  'accountState' | 'adoptRenamedAccount' | 'claimRemoteAccount' | 'foreignAccount' | 'lastGood' | 'memory'
>;

/** What observing and planning needs: nothing here can write to the service, nor journal a run. */
export interface PlanningDeps {
  readonly service: ReadableService;
  readonly journal: PlanningMemory;
  readonly clock: Clock;
  readonly sha256: (text: string) => string;
  /** How commit `a` stands to commit `b` in the history of the configuration. */
  readonly compareCommits: (a: string, b: string) => Promise<CommitRelation>;
  /** Loads what says whether a cron line ticked between two moments (epoch ms, the first exclusive). */
  readonly loadCron: () => Promise<
    (cron: string, timezone: string, afterMs: number, upToMs: number) => boolean
  >;
}

/** What a dry run needs: it is journaled. */
export interface DryRunDeps extends PlanningDeps {
  readonly journal: Journal;
  readonly newRunId: () => string;
}

export interface ApplyDeps extends DryRunDeps {
  readonly service: WritableService;
  readonly locks: Locks;
}

export interface ReconcileOptions {
  readonly mode: RunMode;
  readonly accept: Acceptance;
  readonly agreed?: AgreedPlan | undefined;
  /** The daemon's: a plan that needs a person's word is carried out once it was given, and waits until then. */
  readonly approvals?: boolean;
  /** Asked once the lock is held: whether another process has made this run meanwhile. Then there is none. */
  readonly isMade?: () => Promise<boolean>;
  /** Called with the plan before anything is written. */
  readonly onPlan?: (plan: Plan, runId: string) => void | Promise<void>;
  /** Called as operations end. */
  readonly onProgress?: (progress: { readonly done: number; readonly total: number }) => void;
}
