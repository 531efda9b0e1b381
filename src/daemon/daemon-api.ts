// What the HTTP side may ask of the daemon: the state of every account, the journal, and the operator's few words.
import type { ApproveOutcome } from '../core/operator.ts';
import type { RunRecord } from '../core/journal.ts';
import type { PlanResult } from '../core/plan.ts';
import type { JournalReader } from '../core/journal-reader.ts';
import type { AccountSettings, ConfigCommit } from '../core/settings.ts';
import type { ActionOutcome } from './http/actions.ts';
import type { Visitor } from './http/context.ts';

/** One account as the daemon sees it now. Times are UTC ISO 8601. */
export interface AccountView {
  readonly name: string;
  /** Whether its configuration is valid now; what is wrong with it stands in `issues`, as `file:line:column: …`. */
  readonly valid: boolean;
  readonly issues: readonly string[];
  /** From the last good configuration; null when there never was one. */
  readonly mode: AccountSettings['mode'] | null;
  readonly schedule: string | null;
  readonly timezone: string | null;
  readonly region: string | null;
  readonly remoteAccountId: string | null;
  readonly paused: boolean;
  /** `running`, `queued` (waits for room) or `idle`. */
  readonly activity: 'running' | 'queued' | 'idle';
  /** null while the account is paused: no scheduled run starts then. */
  readonly nextRunAt: string | null;
  /** While failures keep it back: before then no scheduled run starts. */
  readonly backoffUntil: string | null;
  readonly consecutiveFailures: number;
  /** What a plan would do now, as the last one found; left out when there is none. */
  readonly drift?: { readonly create: number; readonly delete: number };
  /** The plan that waits for approval; null while a run carries it out. */
  readonly pending: { readonly digest: string; readonly runId: string; readonly since: string } | null;
  readonly approved: { readonly digest: string; readonly expiresAt: string } | null;
  readonly lastRun: RunRecord | null;
  readonly lastSuccessAt: string | null;
}

/** The daemon as a whole. */
export interface DaemonView {
  readonly version: string;
  readonly startedAt: string;
  /** Errors of the service's file or of the source (the last good configuration goes on), and of the store. */
  readonly issues: readonly string[];
  readonly commit: ConfigCommit | null;
  /** Notifications that could not be delivered in the last 24 hours. */
  readonly undelivered: number;
}

/** The configuration files of somebody's working tree, to be planned with this daemon's history. */
export interface PostedConfiguration {
  /** The service's file among `files`. */
  readonly config: string;
  /** Text by relative path, with slashes, below one root. */
  readonly files: Readonly<Record<string, string>>;
  /** Which accounts to plan; none means all. */
  readonly accounts: readonly string[];
  /** The commit of that working tree, when it stands in git. */
  readonly commit: { readonly sha: string; readonly committedAt: string } | null;
}

/** `problem`: the body is no posted configuration. */
export type PostedOutcome = { readonly plans: readonly PlanResult[] } | { readonly problem: string };

/** A page that shows the plan or the operations of a run. */
export type RunView =
  | { readonly type: 'run'; readonly id: string; readonly visitor: Visitor | undefined }
  | {
      readonly type: 'account';
      readonly account: AccountView;
      /** The last ones. */
      readonly runs: readonly RunRecord[];
      /** What came of the button that led here. */
      readonly said: ActionOutcome['type'] | null;
      readonly visitor: Visitor | undefined;
    };

/** `busy`: too many pages of large runs are being made. `failed`: the large run could not be read. */
export type RunViewOutcome =
  | { readonly type: 'page'; readonly html: string }
  | { readonly type: 'unknown' | 'busy' }
  | { readonly type: 'failed'; readonly runId: string; readonly reason: string };

export interface DaemonApi {
  overview(): Promise<DaemonView>;
  /** All configured accounts, by name. */
  accounts(): Promise<readonly AccountView[]>;
  account(name: string): Promise<AccountView | null>;
  /** Newest first. */
  readonly runs: JournalReader['runs'];
  /** The page of a run or of an account; `signal` aborts when nobody waits for it any more. */
  view(view: RunView, signal: AbortSignal): Promise<RunViewOutcome>;
  /** A run as JSON, complete, as a text or, of a large run, in pieces; null when there is no such run. */
  runJson(id: string): Promise<string | AsyncIterable<string | Uint8Array> | null>;
  /** Runs the account as soon as there is room; while it runs, exactly one more run follows. */
  sync(account: string): 'queued' | 'unknown' | 'stopping';
  approve(account: string, digest: string | null): Promise<ApproveOutcome | { readonly type: 'unknown' }>;
  /** False when there is no such account. */
  setPaused(account: string, paused: boolean): Promise<boolean>;
  /**
   * The plans that this daemon would make of the files in the body of a request: a PostedConfiguration as JSON. Writes
   * nothing, neither to the service nor to the journal.
   */
  plan(body: Uint8Array): Promise<PostedOutcome>;
}
