// The interface between the commands and the other rooms, which they do not import. wire/ implements it.
import type { AccountJournal } from '../app/read-account.ts';
import type { AccountRequest, ApplyDeps, DryRunDeps } from '../app/request.ts';
import type { Kind } from '../core/catalog.ts';
import type { ConfigIssue, SecretIssue } from '../core/errors.ts';
import type { Operator, OperatorCommands } from '../core/operator.ts';
import type { ReplicaRecord, TurnState } from '../core/turns.ts';
import type { JournalReader } from '../core/journal-reader.ts';
import type { PlanResult } from '../core/plan.ts';
import type { ReadableService, RunSignals } from '../core/ports.ts';
import type { RequestObserver } from '../core/progress.ts';
import type { Secret } from '../core/secret.ts';
import type { AccountSettings, ConfigCommit, Configuration, ServiceSettings } from '../core/settings.ts';
import type { ExitStatus } from './exit-status.ts';

/** What all runs of this process share. `close` closes connections and the store. */
export interface Session {
  readonly planning: DryRunDeps;
  readonly applying: ApplyDeps;
  readonly reader: JournalReader;
  readonly operator: OperatorCommands;
  /** The commit of the configuration when the session was opened. */
  readonly commit: ConfigCommit | null;
  readonly requestFor: (
    settings: AccountSettings,
    trigger: AccountRequest['trigger'],
    signals: RunSignals,
  ) => AccountRequest;
  /** Resolves when the store can be written. */
  checkStore(): Promise<void>;
  /** Checks every page of the store. Throws StoreError when it is damaged. */
  verifyStore(): Promise<void>;
  /** Deletes old runs and snapshots, by the settings of the session unless others are given. */
  prune(retention?: ServiceSettings['retention']): Promise<void>;
  close(): Promise<void>;
}

/** The current content of an account, for its file. */
export interface AccountContents {
  readonly accountId: string | null;
  readonly names: Readonly<Record<Kind, readonly string[]>>;
  readonly policy: AccountSettings['policy'];
}

/** An account file with the current content of the account. */
export interface DumpedAccount {
  readonly text: string;
  /** The text of the existing file. */
  readonly before: string;
  /** Changes beyond the lists, with their reasons. */
  readonly notes: readonly string[];
  /** The errors of the new text; empty when it is valid. */
  readonly errors: readonly ConfigIssue[];
}

/** Files of a configuration that are not written yet: their texts, by their paths relative to the service file. */
export interface DraftFiles {
  /** The absolute path of the service file. */
  readonly configFile: string;
  readonly texts: Readonly<Record<string, string>>;
}

/** Returns what is wrong with an answer and how to fix it, or undefined. */
type AnswerCheck = (text: string) => string | undefined;

export interface AnswerChecks {
  readonly baseUrl: AnswerCheck;
  readonly region: AnswerCheck;
  readonly account: AnswerCheck;
  readonly tokenVariable: AnswerCheck;
}

export interface SandboxCommand {
  readonly port: number;
  readonly dataFile: string | undefined;
  readonly accounts: number;
  readonly seedFile: string | undefined;
  readonly faultsFile: string | undefined;
}

export interface RunningSandbox {
  readonly url: string;
  readonly accounts: readonly { readonly name: string; readonly token: string; readonly region: string }[];
  close(): Promise<void>;
}

export interface ServeOptions extends RetryAfterOptions {
  /** Receives the address of the pages when the daemon has started. */
  readonly onListening?: (url: string) => void;
}

/** How a command connects to the service. */
export interface ConnectionOptions extends RetryAfterOptions {
  /** Receives the requests of an account. */
  readonly observer?: (account: string) => RequestObserver;
}

export interface RetryAfterOptions {
  /** Whether to send requests before the time that the service set with Retry-After. */
  readonly ignoreRetryAfter?: boolean;
}

/** Reads the lists of accounts, for commands that journal no run. */
export interface Readable {
  readonly service: ReadableService;
  /** Journals the Retry-After time of a failure, if it has one. */
  noteFailure(account: string, error: unknown): Promise<void>;
  close(): Promise<void>;
}

/** A path, an address, or `env:NAME`; a schema only for a database. */
export interface CopiedStore {
  /** The names of both stores in messages. */
  readonly from: string;
  readonly to: string;
  readonly tables: number;
  readonly rows: number;
  readonly runs: number;
  /** How many runs were in progress. */
  readonly locks: number;
  /** Whether other processes may have written to the source since. */
  readonly isInUse: boolean;
}

export interface Environment {
  readonly version: string;
  /** The SHA-256 digest of a text, as hex digits. */
  readonly sha256: (text: string) => string;
  /** The user of the machine that runs the command. */
  user(): Operator;
  loadConfiguration(file: string): Promise<Configuration>;
  /** Loads the configuration and returns the text of every file, by its path below their deepest common folder. */
  collectConfiguration(file: string): Promise<{
    readonly config: string;
    readonly files: Readonly<Record<string, string>>;
    readonly loaded: Configuration;
  }>;
  /** The absolute paths of the files of the configuration, and of the store if it is a file. */
  ownFiles(file: string): Promise<readonly string[]>;
  /** The commit of a configuration, or null outside of git. */
  commitOf(configuration: Configuration, service: ServiceSettings): Promise<ConfigCommit | null>;
  /** The daemon's token from the variable, otherwise from the reference in the service file; null when there is none. */
  httpToken(service: ServiceSettings, variable: string): Promise<Secret | null>;
  /** Sends JSON with a bearer token. Rejects when no complete response arrives. */
  postJson(
    url: URL,
    token: Secret,
    body: string,
    timeoutMs: number,
  ): Promise<{ readonly status: number; readonly text: string }>;
  /** The plans in a server's response, or the first place where it does not match the published schema. */
  checkPlans(
    value: unknown,
  ): Promise<{ readonly plans: readonly PlanResult[] } | { readonly problem: string }>;
  /** Problems with the referenced secrets; a secret that an account may not use is an error. */
  checkSecrets(configuration: Configuration): Promise<readonly SecretIssue[]>;
  /** Opens the store and the connections. Throws StoreError. */
  openSession(
    configuration: Configuration,
    service: ServiceSettings,
    options?: ConnectionOptions,
  ): Promise<Session>;
  /** Opens the journal of an existing store. With `mayBeNew` a missing store is created. */
  openJournal(
    service: ServiceSettings,
    options?: { readonly mayBeNew: boolean },
  ): Promise<{
    readonly reader: JournalReader;
    readonly operator: OperatorCommands;
    readonly memory: AccountJournal;
    /** Empty where the store is a file. */
    replicas(): Promise<readonly ReplicaRecord[]>;
    /** Of the accounts whose schedules are in the store. */
    turnStates(accounts: readonly string[]): Promise<ReadonlyMap<string, TurnState>>;
    close(): Promise<void>;
  }>;
  /** The name of the store in messages: a path, or a database and its schema. */
  storeName(service: ServiceSettings): Promise<string>;
  /** Copies the store; `onProgress` receives the copied pages. Throws StoreError. */
  backupStore(
    service: ServiceSettings,
    file: string,
    onProgress: (done: number, total: number) => void,
  ): Promise<{ bytes: number; runs: number }>;
  /**
   * Copies a complete store from a file to a database and verifies it; `warn` receives what the operator should know. Throws
   * UsageError or StoreError.
   */
  copyStore(
    file: string,
    to: { readonly address: string; readonly schema: string },
    observers: {
      readonly onProgress: (done: number, total: number) => void;
      readonly warn: (message: string) => void;
    },
  ): Promise<CopiedStore>;
  /** Opens connections to read without journaling a run. The store is used if it exists. */
  openReadable(service: ServiceSettings, options?: ConnectionOptions): Promise<Readable>;
  /** The account file with the given content. Throws ConfigError when the file cannot be read. */
  dumpAccount(
    configFile: string,
    service: ServiceSettings,
    account: { readonly name: string; readonly file: string },
    contents: AccountContents,
  ): Promise<DumpedAccount>;
  /** Replaces an account file atomically. Throws StoreError, also when the file changed meanwhile. */
  replaceAccountFile(file: string, before: string, text: string): Promise<void>;
  /** The checks of the answers to `init`. */
  answerChecks(): Promise<AnswerChecks>;
  /** Loads files that are not written yet. */
  loadDraft(draft: DraftFiles): Promise<Configuration>;
  /** The account file of a draft with the given content. */
  dumpDraft(
    draft: DraftFiles,
    account: { readonly name: string; readonly file: string },
    contents: AccountContents,
  ): Promise<DumpedAccount>;
  /** The next times of a schedule. */
  nextTimes(schedule: string, timezone: string, count: number): Promise<readonly Date[]>;
  /**
   * When a daemon starts the next run of an account, by its cron line and its failures in a row; null when never.
   * `lastStartedMs` is the start of its latest run.
   */
  nextRun(
    line: Pick<AccountSettings, 'schedule' | 'timezone' | 'jitterMs'>,
    journal: { readonly failures: number; readonly lastStartedMs: number },
    nowMs: number,
  ): Promise<{ readonly atMs: number; readonly jitterMs: number; readonly isBackingOff: boolean } | null>;
  startSandbox(options: SandboxCommand): Promise<RunningSandbox>;
  /** Starts a sandbox with one account, and returns the seed file with which `sandbox` starts the same. */
  startRehearsal(account: string): Promise<RunningSandbox & { readonly seed: string }>;
  /** Runs the daemon until it receives a signal. Resolves with the exit status. */
  serve(configFile: string, options?: ServeOptions): Promise<number>;
  /** Runs the demo, and with `serve` the daemon on it afterwards. */
  demo(options: { readonly serve: boolean }): Promise<ExitStatus>;
}
