// What the commands are given. wire.ts makes it; a command knows core, app and report, and nothing of the rest.
import type { AccountMemory } from '../app/read-account.ts';
import type { AccountRequest, ApplyDeps, DryRunDeps } from '../app/request.ts';
import type { Kind } from '../core/catalog.ts';
import type { ConfigIssue, SecretIssue } from '../core/errors.ts';
import type { OperatorDesk } from '../core/operator.ts';
import type { JournalReader } from '../core/journal-reader.ts';
import type { PlanResult } from '../core/plan.ts';
import type { ReadableService, RunSignals } from '../core/ports.ts';
import type { Secret } from '../core/secret.ts';
import type { AccountSettings, ConfigCommit, SecretRef, ServiceSettings } from '../core/settings.ts';

/** An account file as it was found; `settings` is absent when it is broken. */
export interface ConfiguredAccount {
  readonly name: string;
  readonly file: string;
  readonly settings?: AccountSettings;
  readonly issues: readonly ConfigIssue[];
}

/** All configuration; `service` is absent when rolecall.yaml itself is broken. */
export interface Configuration {
  readonly service?: ServiceSettings;
  readonly accounts: readonly ConfiguredAccount[];
  readonly issues: readonly ConfigIssue[];
  /** Where the sound parts refer to secrets. */
  readonly secrets: readonly SecretUse[];
}

/** A reference to a secret, with its place. */
export interface SecretUse {
  readonly ref: SecretRef;
  readonly what: string;
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** Everything that a run of this process shares. Closing it lets go of connections and of the store. */
export interface Session {
  readonly planning: DryRunDeps;
  readonly applying: ApplyDeps;
  readonly reader: JournalReader;
  readonly desk: OperatorDesk;
  /** The commit that the configuration stood in when the session was opened. */
  readonly commit: ConfigCommit | null;
  readonly requestFor: (
    settings: AccountSettings,
    trigger: AccountRequest['trigger'],
    signals: RunSignals,
  ) => AccountRequest;
  /** Says which accounts are configured now; a token belongs to one of them only. */
  setConfigured(names: ReadonlySet<string>): void;
  /** Resolves when the store can be written. */
  checkStore(): Promise<void>;
  /** Resolves when every page of the store is sound; throws StoreError when it is damaged or cannot be checked. */
  verifyStore(signal?: AbortSignal): Promise<void>;
  /** Prunes by the settings that it was opened with, unless others are given. */
  prune(retention?: ServiceSettings['retention']): Promise<void>;
  close(): Promise<void>;
}

/** What an account contains, for its file. */
export interface AccountContents {
  readonly accountId: string | null;
  readonly names: Readonly<Record<Kind, readonly string[]>>;
  readonly policy: AccountSettings['policy'];
}

/** An account's file with what the account contains now. */
export interface DumpedAccount {
  readonly text: string;
  /** The text that it was made from. */
  readonly before: string;
  /** What changed besides the lists, and why. */
  readonly notes: readonly string[];
  /** Why the loader refuses the text; none when it does not. */
  readonly errors: readonly ConfigIssue[];
}

export interface SandboxCommand {
  readonly port: number;
  readonly dataFile?: string;
  readonly accounts: number;
  readonly seedFile?: string;
  readonly faultsFile?: string;
}

export interface RunningSandbox {
  readonly url: string;
  readonly accounts: readonly { readonly name: string; readonly token: string; readonly region: string }[];
  close(): Promise<void>;
}

export interface RetryAfterOptions {
  /** Sends requests also before the time that the service requested in an earlier answer. */
  readonly ignoreRetryAfter?: boolean;
}

/** Lists of accounts, for commands that journal no run. */
export interface Readable {
  readonly service: ReadableService;
  /** Journals when the service may be called again, if the failure of an account says so. */
  noteFailure(account: string, error: unknown): Promise<void>;
  close(): Promise<void>;
}

export interface Environment {
  readonly version: string;
  loadConfiguration(file: string): Promise<Configuration>;
  /** Loads it, with the text of every file that was read, by its path below their deepest common folder. */
  collectConfiguration(file: string): Promise<{
    readonly config: string;
    readonly files: Readonly<Record<string, string>>;
    readonly loaded: Configuration;
  }>;
  /** The commit that a configuration stands in, or null. */
  commitOf(configuration: Configuration, service: ServiceSettings): Promise<ConfigCommit | null>;
  /** The daemon's token: from the variable, else from where the service's file says; null when there is none. */
  httpToken(service: ServiceSettings, variable: string): Promise<Secret | null>;
  /** Sends JSON with a bearer token. Rejects when no whole answer came. */
  postJson(
    url: URL,
    token: Secret,
    body: string,
    timeoutMs: number,
  ): Promise<{ readonly status: number; readonly text: string }>;
  /** The plans in what a server answered, or where the answer does not keep to the published schema. */
  checkPlans(
    value: unknown,
  ): Promise<{ readonly plans: readonly PlanResult[] } | { readonly problem: string }>;
  /** Problems with the secrets that the configuration refers to; errors where an account may not use one. */
  checkSecrets(configuration: Configuration): Promise<readonly SecretIssue[]>;
  /** Opens the store and the connections. Throws StoreError. */
  openSession(
    configuration: Configuration,
    service: ServiceSettings,
    options?: RetryAfterOptions,
  ): Promise<Session>;
  /** The journal alone, of a store that is there already unless it may be new. */
  openJournal(
    service: ServiceSettings,
    options?: { readonly mayBeNew: boolean },
  ): Promise<{
    readonly reader: JournalReader;
    readonly desk: OperatorDesk;
    readonly memory: AccountMemory;
    close(): Promise<void>;
  }>;
  /** Copies the store. Throws StoreError. */
  backupStore(service: ServiceSettings, file: string): Promise<{ bytes: number; runs: number }>;
  /** Reading without journaling a run, for commands that only ask. A store is used if there is one. */
  openReadable(service: ServiceSettings, options?: RetryAfterOptions): Promise<Readable>;
  /** The account's file with what the account contains. Throws ConfigError when the file cannot be read. */
  dumpAccount(
    configFile: string,
    service: ServiceSettings,
    account: { readonly name: string; readonly file: string },
    contents: AccountContents,
  ): Promise<DumpedAccount>;
  /** Replaces an account's file in one step, unless it is no longer what it was. Throws StoreError. */
  replaceAccountFile(file: string, before: string, text: string): Promise<void>;
  /** The next times at which a schedule ticks. */
  nextTimes(schedule: string, timezone: string, count: number): Promise<readonly Date[]>;
  startSandbox(options: SandboxCommand): Promise<RunningSandbox>;
  /** Runs the daemon until it is told to stop; resolves with the exit status. */
  serve(configFile: string, options?: RetryAfterOptions): Promise<number>;
  /** Plays the demonstration; resolves with the exit status. */
  demo(): Promise<number>;
}
