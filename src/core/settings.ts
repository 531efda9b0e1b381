// The settings after validation, inheritance and unit conversion. config/ makes them, all rooms read them.
import { type DesiredCatalog, type DesiredEntry, KINDS, type Policy } from './catalog.ts';
import type { ConfigIssue } from './errors.ts';
import type { RunMode } from './journal.ts';

/** Where a secret is stored; never the secret itself. */
export type SecretRef = { readonly env: string } | { readonly file: string };

export interface ApiSettings {
  readonly concurrency: number;
  readonly requestsPerSecond: number;
  readonly retries: number;
  readonly hostConcurrency: number;
  readonly timeoutMs: number;
  readonly settleMs: number;
  /** The wait before a list with missing entries is read again. */
  readonly recheckMs: number;
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
  /** `github` and `gitlab` set the status of commits; of the others each request is a message. */
  readonly format: 'json' | 'slack' | 'teams' | 'github' | 'gitlab';
  /** Where the commits are, for the formats that set their status. */
  readonly repository?: string;
  readonly events: readonly ('drift' | 'applied' | 'held' | 'failed' | 'recovered')[];
  /** How long notices of one commit are collected for one message, in chat formats; 0: each is sent by itself. */
  readonly collectMs: number;
  /** The base of links, without a slash at its end. */
  readonly publicUrl?: string;
  /** The key that signs messages, or the token of `github` and `gitlab`. */
  readonly secret?: SecretRef;
}

/** What addresses begin with: those of pages, without a slash at the end; and those of commits on the web, with one. */
export interface Links {
  readonly publicUrl?: string | undefined;
  readonly commitsAt?: string | undefined;
}

export interface GitSourceSettings {
  readonly url: string;
  readonly branch: string;
  readonly path: string;
  readonly intervalMs: number;
  readonly credentials?: SecretRef;
}

/** What a token allows over HTTP. `read`: view, and request plans. `operate`: also approve, pause, resume and sync. */
export type HttpRole = 'read' | 'operate';

export interface HttpSettings extends Pick<Links, 'publicUrl'> {
  /** The name of the installation on the pages. */
  readonly title?: string | undefined;
  readonly host: string;
  readonly port: number;
  /** The token of the operator named `http`. */
  readonly token?: SecretRef;
  readonly tokens: readonly { readonly name: string; readonly token: SecretRef; readonly role: HttpRole }[];
  /** Addresses and networks (CIDR) whose `X-Forwarded-For` is trusted. */
  readonly trustedProxies: readonly string[];
  /** The header in which these proxies name who sent a request, and globs of the names that may operate. */
  readonly identity?: { readonly header: string; readonly operators: readonly string[] } | undefined;
}

/** A store on PostgreSQL, which several replicas share. */
export interface PostgresSettings {
  /** The address of the database, without a password if it is written in the file. */
  readonly url: SecretRef | string;
  readonly schema: string;
}

/** Where the store is, as the service file names it. `file` is the absolute path of a SQLite file. */
export type StoreLocation = { readonly file: string } | { readonly postgres: PostgresSettings };

/** Where the store is, for opening it. The address can contain a password, so it is never shown, stored or an argument. */
export type OpenLocation = (
  { readonly file: string } | { readonly url: string; readonly schema: string; readonly pool: number }
) & {
  /** How long the lease of an account is valid after its last renewal. */
  readonly leaseMs: number;
};

/** `rolecall.yaml` with every default filled in. Paths are absolute. */
export interface ServiceSettings {
  /** The file that was read, absolute. */
  readonly file: string;
  readonly store: StoreLocation;
  readonly api: ApiSettings;
  readonly http: HttpSettings;
  readonly notify: readonly NotifySettings[];
  readonly source?: { readonly git: GitSourceSettings };
  /** What account files may use; a field that is left out has the default of the configuration's source. */
  readonly trust?: TrustSettings;
  /** How long runs and snapshots are kept. */
  readonly retentionMs: number;
  readonly log: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'silent';
}

/** Which accounts run a newer commit first, as globs of their names, and how long ago they must have converged on it. */
export interface RolloutSettings {
  readonly after: readonly string[];
  readonly waitMs: number;
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
  /** Absent where the token is not restricted. */
  readonly tokenRules?: TokenRules;
  readonly mode: RunMode;
  readonly schedule: string;
  readonly timezone: string;
  readonly policy: Policy;
  readonly rollout?: RolloutSettings;
  readonly desired: DesiredCatalog;
  /** `sha256:…` over the account's settings, so that equal configurations have equal digests. */
  readonly configDigest: string;
}

/** The commit of a configuration that is in git. */
export interface ConfigCommit {
  readonly sha: string;
  /** Whether files of the configuration differed from it; in a run, those of its account. */
  readonly dirty: boolean;
  /** These files, with their paths in the repository; left out where they are not known. */
  readonly changed?: ReadonlyMap<string, string> | undefined;
  readonly committedAt: string;
  readonly authoredAt: string;
  /** The name of its author; null where it is not known. */
  readonly author: string | null;
  readonly subject: string;
}

/** Where tokens may be sent, and which references to secrets account files may use; null: any. */
export interface Trust {
  readonly origins: readonly string[] | null;
  readonly env: readonly string[] | null;
  /** Globs over the real paths of secret files. */
  readonly files: readonly string[] | null;
  /** The daemon's own secrets, which are never an account's token: neither by name, nor by file, nor by value. */
  readonly own: readonly SecretRef[];
  /** The real paths of these. */
  readonly ownFiles: readonly string[];
  /** The machine's own file, for messages. */
  readonly decidedBy: string;
}

/** The restrictions that the machine's own service file puts on the token of an account. */
export interface TokenRules extends Trust {
  /** The position of the token reference in the account file. */
  readonly place: ConfigIssue;
}

/** A secret that the configuration refers to, with the position of the reference. */
export interface SecretUse {
  readonly ref: SecretRef;
  /** What it is for, such as `token of acme-eu`. */
  readonly what: string;
  /** The account that it belongs to; absent for secrets of the daemon. */
  readonly account?: string;
  /** The reference is the file of a private key: ssh reads it, it has several lines, and it is never sent. */
  readonly isKeyFile?: boolean;
  /** The file with the reference, as issues name it. */
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** One account file, valid or not. */
export interface ConfiguredAccount {
  readonly name: string;
  /** Absolute. */
  readonly file: string;
  /** Absent when the account file, one of its catalogs, or the service file has an error. */
  readonly settings?: AccountSettings;
  /** The sorted problems of this account file and of its catalogs. */
  readonly issues: readonly ConfigIssue[];
  /** All files that decide its settings: its own, its catalogs and the service files. */
  readonly files?: readonly string[];
}

/** All files of a configuration as they were read at one moment. */
export interface Configuration {
  /** Absent when the service file is missing or has an error. */
  readonly service?: ServiceSettings;
  /** Sorted by code points of the name. */
  readonly accounts: readonly ConfiguredAccount[];
  /** Every problem of all files, errors and warnings, sorted by file, line and column. */
  readonly issues: readonly ConfigIssue[];
  /** Every secret to which the valid parts refer. */
  readonly secrets: readonly SecretUse[];
  /** What the service file of this machine allows account files to use. */
  readonly trust: Trust;
}

/** The settings that determine a plan. */
type DigestedSettings = Pick<AccountSettings, 'baseUrl' | 'accountId' | 'policy' | 'desired'>;

/** `sha256:…` over the settings that determine a plan; the order of keys and of lists does not change it. */
export function configDigest(
  { baseUrl, accountId, policy, desired }: DigestedSettings,
  sha256: (text: string) => string,
): string {
  const kinds = KINDS.map((kind) => [kind, desired[kind]?.map(entryText)]);
  const { allowedDeletes, absent } = desired;
  const subject = {
    baseUrl,
    accountId,
    policy,
    desired: { ...Object.fromEntries(kinds), allowedDeletes, absent },
  };
  return `sha256:${sha256(canonicalJson(subject))}`;
}

/** An entry as one text. Faster than `canonicalJson`, since an account may have ten thousand entries. */
function entryText({ name, formerly }: DesiredEntry): string {
  return JSON.stringify([name, ...formerly.toSorted()]);
}

/** JSON with sorted keys and lists, without undefined members; lists of the configuration are sets. */
function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).toSorted().join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member)}`);
  return `{${members.toSorted().join(',')}}`;
}
