// The interface between the HTTP server and the daemon: the state of every account, the runs, and the commands of an
// operator.
import type { PlanResult } from '../core/plan.ts';
import type { PostedPlan } from '../run/posted-plan.ts';
import type { Operator, OperatorOutcome, OperatorRequest } from '../core/operator.ts';
import type { RunRecord } from '../core/journal.ts';
import type { JournalReader, RemainingCounts } from '../core/ports/journal-reader.ts';
import type { AccountSettings, ConfigCommit } from '../core/settings.ts';

/** One account as the daemon sees it now. Times are UTC ISO 8601. */
export interface AccountView {
  readonly name: string;
  /** Its file, as seen from the service file. */
  readonly file: string;
  /** Whether its file with its catalogs is valid now. */
  readonly valid: boolean;
  /** Whether the service file is valid now. Otherwise no account runs. */
  readonly serviceValid: boolean;
  /** The errors that every run fails with, as `file:line:column: …`: those of the service file first. */
  readonly issues: readonly string[];
  /** From the last valid configuration; null when there never was one. */
  readonly mode: AccountSettings['mode'] | null;
  readonly schedule: string | null;
  readonly timezone: string | null;
  readonly region: string | null;
  readonly remoteAccountId: string | null;
  /** null while scheduled runs are allowed. */
  readonly pause: {
    readonly since: string;
    readonly by: string;
    readonly reason: string | null;
  } | null;
  /** `queued`: waits for a free place. */
  readonly activity: 'running' | 'queued' | 'idle';
  /** null while the account is paused, because no scheduled run starts then. */
  readonly nextRunAt: string | null;
  readonly consecutiveFailures: number;
  /** The changes of the last plan that were not applied; null when there is none. */
  readonly drift: RemainingCounts | null;
  /** The plan that waits for approval; null while a run applies it. */
  readonly pending: { readonly digest: string; readonly runId: string; readonly since: string } | null;
  /** null when it has expired. */
  readonly approved: {
    readonly digest: string;
    readonly by: string;
    readonly expiresAt: string;
  } | null;
  readonly lastRun: RunRecord | null;
  readonly lastSuccessAt: string | null;
}

/** What decides the states of an account: a part of its view, which can be read for all accounts. */
export type AccountFacts = Pick<
  AccountView,
  | 'name'
  | 'region'
  | 'valid'
  | 'serviceValid'
  | 'activity'
  | 'pause'
  | 'pending'
  | 'approved'
  | 'drift'
  | 'lastSuccessAt'
> & {
  readonly lastRun: Pick<RunRecord, 'status' | 'startedAt' | 'held' | 'configCommit'> | null;
};

/** The daemon itself. */
export interface DaemonView {
  readonly version: string;
  readonly startedAt: string;
  /** Errors of the service file (no account runs), of the source (the last commit stays in use), and of the store. */
  readonly issues: readonly string[];
  /** How many of the issues are errors of the service file; the others are those of the source and of the store. */
  readonly configurationErrors: number;
  readonly commit: ConfigCommit | null;
}

/** `unknown`: there is no such account. `no_source`: the daemon fetches no configuration, as it has no `source.git`. */
export type ActionOutcome = OperatorOutcome | { readonly type: 'unknown' | 'stopping' | 'no_source' };

type History =
  'runs' | 'latestRuns' | 'run' | 'runReport' | 'runProgress' | 'operatorActions' | 'dailyCounts';

export interface DaemonApi extends Pick<JournalReader, History> {
  /** Whether the process ends: no run starts in it, and its other answers are the usual ones until its port closes. */
  isStopping(): boolean;
  overview(): Promise<DaemonView>;
  /** The names of all configured accounts, in order. */
  accountNames(): readonly string[];
  /** Those of the named accounts that are configured. */
  accounts(names: readonly string[]): Promise<readonly AccountView[]>;
  /** What decides the states of all configured accounts. Costs a tenth of `accounts`. */
  accountFacts(): Promise<readonly AccountFacts[]>;
  account(name: string): Promise<AccountView | null>;
  /** The pause of all accounts now; null while there is none. */
  pauseOfAll(): ReturnType<JournalReader['pauseOfAll']>;
  /** Stores what an operator requests, and acts on it at once. */
  operate(request: OperatorRequest, by: Operator): Promise<ActionOutcome>;
  /** Plans proposed changes of accounts. Writes neither to the service nor to the journal. */
  plan(posted: readonly PostedPlan[]): Promise<readonly PlanResult[]>;
}
