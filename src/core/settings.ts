// What the configuration says, after validation, inheritance and unit conversion. Made by config/, read by all rooms.
import type { DesiredCatalog, Policy } from './catalog.ts';
import type { ConfigIssue } from './errors.ts';

/** Where a secret is found; never the secret itself. */
export type SecretRef = { readonly env: string } | { readonly file: string };

/** What the machine's own file allows the token of an account to be. */
export interface TokenRules {
  /** Globs over the real paths of secret files; null: any file. */
  readonly files: readonly string[] | null;
  /** The real paths of the daemon's own secret files, which are never an account's token. */
  readonly ownFiles: readonly string[];
  /** The daemon's own secrets, which are never an account's token by their values either. */
  readonly own: readonly SecretRef[];
  /** The machine's own file, for messages. */
  readonly decidedBy: string;
  /** Where the account names its token. */
  readonly place: ConfigIssue;
}

/** An account with more objects in one list, or more names of one kind, is run by the daemon in a process of its own. */
export const LARGE_FROM = 2000;

export interface ApiSettings {
  readonly concurrency: number;
  readonly requestsPerSecond: number;
  readonly retries: number;
  readonly hostConcurrency: number;
  readonly timeoutMs: number;
  readonly settleMs: number;
  readonly recheckMs: number;
  readonly stalenessMs: number;
  readonly maxResponseBytes: number;
  /** Objects of one list. */
  readonly maxEntries: number;
  /** Absolute path of a PEM file with additional authorities. */
  readonly caFile?: string;
}

/** Globs over origins, variables and files (absolute). */
export interface TrustSettings {
  readonly origins?: readonly string[];
  readonly env?: readonly string[];
  readonly files?: readonly string[];
}

export interface NotifySettings {
  readonly url: string | SecretRef;
  readonly format: 'json' | 'slack' | 'teams';
  readonly events: readonly ('drift' | 'applied' | 'held' | 'failed' | 'recovered')[];
  readonly secret?: SecretRef;
  readonly remindEveryMs: number;
}

export interface GitSourceSettings {
  readonly url: string;
  readonly branch: string;
  readonly path: string;
  readonly intervalMs: number;
  readonly credentials?: SecretRef;
}

/** What the owner of a token may do over HTTP. `read`: look, and request plans. */
export type HttpRole = 'read' | 'operate';

export interface HttpSettings {
  readonly host: string;
  readonly port: number;
  /** The token of the operator named `http`. */
  readonly token?: SecretRef;
  readonly tokens: readonly { readonly name: string; readonly token: SecretRef; readonly role: HttpRole }[];
  /** Addresses and networks (CIDR) whose `X-Forwarded-For` is believed. */
  readonly trustedProxies: readonly string[];
  /** Absolute paths of PEM files. */
  readonly tls?: { readonly cert: string; readonly key: string };
}

/** `rolecall.yaml`, complete: every default is filled in. Paths are absolute. */
export interface ServiceSettings {
  /** The file that was read, absolute. */
  readonly file: string;
  /** Absolute path of the SQLite file. */
  readonly store: string;
  readonly api: ApiSettings;
  readonly daemon: {
    readonly maxRuns: number;
    readonly runOnStart: boolean;
    readonly shutdownGraceMs: number;
  };
  readonly http: HttpSettings;
  readonly notify: readonly NotifySettings[];
  readonly source?: { readonly git: GitSourceSettings };
  /** What account files may use; what is left out has the default of the configuration's source. */
  readonly trust?: TrustSettings;
  readonly retention: { readonly runsMs: number; readonly snapshotsMs: number; readonly keepAtLeast: number };
  readonly log: {
    readonly level: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'silent';
    readonly format: 'auto' | 'pretty' | 'json';
  };
}

/** One account's file merged with the defaults and its `extends`. */
export interface AccountSettings {
  /** The file's base name without `.yaml`/`.yml`. */
  readonly name: string;
  readonly file: string;
  /** Without a trailing slash. */
  readonly baseUrl: string;
  readonly region?: string;
  /** The pinned remote account id. */
  readonly accountId?: string;
  readonly token: SecretRef;
  /** Absent where nothing restricts it. */
  readonly tokenRules?: TokenRules;
  readonly mode: 'plan' | 'approve' | 'apply';
  readonly schedule: string;
  readonly timezone: string;
  readonly jitterMs: number;
  readonly policy: Policy;
  readonly desired: DesiredCatalog;
  /** `sha256:…` over what this account asks for, so that two equal configurations have equal digests. */
  readonly configDigest: string;
}

/** The commit that the configuration stands in, when it stands in git. */
export interface ConfigCommit {
  readonly sha: string;
  /** Whether the working tree differed from it in the configuration's own folder. */
  readonly dirty: boolean;
  readonly committedAt: string;
  readonly authoredAt: string;
  readonly subject: string;
}

/** Where tokens may be sent, and which references to secrets account files may use; null: any. */
export interface Trust {
  readonly origins: readonly string[] | null;
  readonly env: readonly string[] | null;
  /** Their beginnings without links, since real paths are compared with them. */
  readonly files: readonly string[] | null;
  readonly own: readonly SecretRef[];
  readonly ownFiles: readonly string[];
  /** The machine's own file, for messages. */
  readonly decidedBy: string;
}
