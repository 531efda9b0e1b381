// The request of a run and its dependencies.
import type { AccountLocks, Lease } from '../core/ports/locks.ts';
import type { Clock, RunSignals } from '../core/ports/clock.ts';
import type { Journal, NewRun } from '../core/ports/journal.ts';
import type { ReadableService, ServiceReader, WritableService } from '../core/ports/service.ts';
import type { ProgressObserver } from '../core/ports/progress.ts';
import type { CommitRelation } from '../core/ports/repository.ts';
import type { Plan, ReviewedPlan } from '../core/plan.ts';
import type { RunMode, Trigger } from '../core/journal.ts';
import type { AgreedPlan } from '../core/operator.ts';
import type { AccountSettings, ApiSettings, ConfigCommit } from '../core/settings.ts';

/** One account with its settings, its trigger and its signals. */
export interface AccountRequest {
  readonly settings: AccountSettings;
  readonly api: ApiSettings;
  readonly commit: ConfigCommit | null;
  /** Names of all configured accounts: only their claims of a remote account count. */
  readonly configured: ReadonlySet<string>;
  readonly trigger: Trigger;
  /** Who requested the run; left out for the schedule. */
  readonly actor?: string | null;
  /** Of a run of the daemon, which has taken it; left out by commands. */
  readonly lease?: Lease;
  readonly signals: RunSignals;
  /** What the operator overrides for this run; left out: nothing. */
  readonly accept?: Acceptance;
  /** Learns what the run does, for people who wait for it. */
  readonly progress?: ProgressObserver;
}

/** What every step of a run needs. Each step declares how much of the dependencies it may use. */
export interface Run<Deps extends PlanningDeps = ApplyDeps> {
  readonly runId: string;
  readonly request: AccountRequest;
  readonly deps: Deps;
}

/** A run whose account is open for reading. */
export interface ReadingRun<Deps extends PlanningDeps = ApplyDeps> extends Run<Deps> {
  readonly reader: ServiceReader;
}

/** A run that has begun in the journal. */
export interface JournaledRun<Deps extends DryRunDeps = ApplyDeps> extends Run<Deps> {
  readonly begun: NewRun;
}

/** The guards that `--accept` overrides. */
export const GUARDS = ['no_evidence', 'suspicious_list', 'source', 'pause', 'retry_after'] as const;
export type Guard = (typeof GUARDS)[number];
export type Acceptance = ReadonlySet<Guard>;

export const ACCEPT_NOTHING: Acceptance = new Set();

/** What planning needs from the journal. */
export type PlanningJournal = Pick<
  Journal,
  | 'accountHistory'
  | 'accountState'
  | 'adoptRenamedAccount'
  | 'claimRemoteAccount'
  | 'foreignOwner'
  | 'rolloutHistory'
>;

/** What observing and planning need. Nothing here can write to the service or journal a run. */
export interface PlanningDeps {
  readonly service: ReadableService;
  readonly journal: PlanningJournal;
  readonly clock: Clock;
  readonly sha256: (text: string) => string;
  /** The relation of commit `a` to commit `b` in the history of the configuration. */
  readonly compareCommits: (a: string, b: string) => Promise<CommitRelation>;
  /** Loads the function that reports whether a cron line ticked between two moments (epoch ms, the first exclusive). */
  readonly loadCron: () => Promise<
    (cron: string, timezone: string, afterMs: number, upToMs: number) => boolean
  >;
}

/** What a dry run needs, including the journal that it is recorded in. */
export interface DryRunDeps extends PlanningDeps {
  readonly journal: Journal;
  readonly newRunId: () => string;
}

export interface ApplyDeps extends DryRunDeps {
  readonly service: WritableService;
  readonly locks: AccountLocks;
  /** The `settingsDigest` of the account by its files now; null when they are invalid or cannot be read. */
  readonly currentDigest: (account: AccountSettings) => Promise<string | null>;
}

export interface ReconcileOptions {
  readonly mode: RunMode;
  readonly agreed?: AgreedPlan | undefined;
  /** The plan of a run that left operations in doubt: this one applies the rest of it, and nothing else. */
  readonly continued?: ReviewedPlan | null;
  /** For the daemon: a plan that needs an approval waits for it, and is applied in the run after it was given. */
  readonly approvals?: boolean;
  /** Leaves the deletes of the plan out. */
  readonly noDelete?: boolean;
  /** Called with the plan before anything is written. */
  readonly onPlan?: (plan: Plan, runId: string) => void | Promise<void>;
}
