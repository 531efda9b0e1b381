// Loads a complete configuration, the service file and all accounts, and keeps the result, so that the next load parses
// only the files that changed: a daemon loads it again for each run, and parsing a thousand files takes seconds.
import type { Configuration, SecretUse } from '../core/settings.ts';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { ConfigIssue } from '../core/errors.ts';
import { type ConfigurationFiles, recordingFiles, type RecordedFiles } from './configuration-files.ts';
import { filesOnDisk, LEADS_OUT } from './files-on-disk.ts';
import { matchPaths, MAX_FOLDERS, yamlBelow } from './path-glob.ts';
import { type ServiceLayers, readServiceLayers } from './service-file.ts';
import { type AccountContext, readAccount } from './account-file.ts';
import { sortedIssues } from '../core/issue-limit.ts';
import { type AccountRead, joinAccounts } from './join-accounts.ts';
import { withoutToken } from './secrets.ts';
import { type Catalogs, openCatalogs, listMerger } from './merge-lists.ts';
import { checkTrust, trustOf } from './trust.ts';
import type { CheckoutPlace } from '../core/ports/repository.ts';

export interface LoadTarget {
  /** The service file, absolute. */
  readonly file: string;
  /** The source of the files. */
  readonly files: ConfigurationFiles;
  /** `YYYY-MM-DD` in UTC, for lines of `allowedDeletes` that have expired. */
  readonly today: string;
  /**
   * The daemon's checkout, whose accounts are loaded instead of those beside the service file; null before the first fetch,
   * undefined without `source.git`.
   */
  readonly checkout?: CheckoutPlace | null | undefined;
}

const UNREADABLE = 'it cannot be listed; check its permissions';

/** The current day for the expiry of lines in `allowedDeletes`: `YYYY-MM-DD` in UTC. */
export function currentDay(): string {
  return new Date().toISOString().slice(0, 10);
}

export interface CollectedConfiguration {
  /** The key of the service file in `files`. */
  readonly config: string;
  /** The text of each file that was read, by its path below the common folder, with slashes. */
  readonly files: Readonly<Record<string, string>>;
  readonly loaded: Configuration;
}

/**
 * Reads the service file (relative to the working directory, or absolute) and all account files of its glob. Does not use
 * the network, and reads a token only to remove it from messages about its account's file. Never throws because of the
 * content of a file: problems are issues, and an invalid account does not affect the others.
 */
export async function loadConfiguration(
  file: string,
  options: Partial<Omit<LoadTarget, 'file'>> = {},
): Promise<Configuration> {
  const machineFile = path.resolve(file);
  const files = filesOnDisk(options.checkout ?? undefined, machineFile);
  return (await loadFiles({ files, today: currentDay(), ...options, file: machineFile })).loaded;
}

/**
 * Loads the configuration and collects exactly the files that it consists of. A file that could not be read is missing,
 * and `loaded` has the issue. Loaded with `filesFromMemory`, the files give the same settings, except for absolute
 * paths in them.
 */
export async function collectConfiguration(file: string): Promise<CollectedConfiguration> {
  const { files: recorded, loaded } = await recordConfiguration(file);
  const config = path.resolve(file);
  const root = commonFolder([config, ...recorded.texts.keys()]);
  const relative = (found: string): string => path.relative(root, found).split(path.sep).join('/');
  const files = Object.fromEntries([...recorded.texts].map(([found, text]) => [relative(found), text]));
  return { config: relative(config), files, loaded };
}

export interface RecordedConfiguration {
  /** With the texts of all files that the configuration consists of, also of those that are invalid. */
  readonly files: RecordedFiles;
  readonly loaded: Configuration;
}

/** Loads the configuration, and keeps the texts of its files. */
export async function recordConfiguration(
  file: string,
  checkout?: CheckoutPlace,
): Promise<RecordedConfiguration> {
  const files = recordingFiles(filesOnDisk(checkout, path.resolve(file)));
  return { files, loaded: await loadConfiguration(file, { files, checkout }) };
}

/** The deepest folder that contains all of these files. */
function commonFolder(files: readonly string[]): string {
  let [common = path.sep, ...others] = files.map((file) => path.dirname(file));
  for (const folder of others) {
    while (folder !== common && !folder.startsWith(common.endsWith(path.sep) ? common : common + path.sep)) {
      common = path.dirname(common);
    }
  }
  return common;
}

/** One account as read. No texts and no syntax trees, since a thousand of these are kept. */
interface KeptAccount {
  readonly read: AccountRead;
  /** Its file and the catalogs that it extends, with their digests. */
  readonly digests: ReadonlyMap<string, string>;
  readonly today: string;
}

/** The result of a load, for the next load. */
export interface KeptLoad {
  readonly loaded: Configuration;
  readonly service: ServiceLayers;
  /** The settings that all accounts inherit, as text, to detect a change. */
  readonly inherited: string;
  readonly checkout: string | undefined;
  /** All that the result depends on. */
  readonly parts: readonly unknown[];
  /** By the path of the file. */
  readonly accounts: ReadonlyMap<string, KeptAccount>;
}

/**
 * Reads all files, and parses those that changed since the load `before`. Returns `before` itself if nothing has changed.
 */
export async function loadFiles(target: LoadTarget, before?: KeptLoad): Promise<KeptLoad> {
  const { files, today } = target;
  const service = readServiceLayers(target.file, files, target.checkout);
  const { read, folder } = service;
  const hasCheckout = target.checkout !== undefined;
  const { matched, issues: globIssues } = matchAccounts(service, files, hasCheckout);
  const inherited = JSON.stringify([read.defaults, read.defaultRollout, read.regions]);
  const known = before?.inherited === inherited ? before.accounts : undefined;
  const catalogs = openCatalogs(files, today);
  const accounts = new Map<string, KeptAccount>();
  const context = { files, today, mergeLists: listMerger(), service: read };
  for (const file of matched) {
    const account = keepAccount(file, context, catalogs, known?.get(file));
    accounts.set(file, account);
    // A daemon keeps answering while it reads hundreds of files.
    await setImmediate();
  }
  const checkout = target.checkout?.folder;
  const used = new Set([...accounts.values()].flatMap(({ digests }) => [...digests.keys()]));
  const unusedIssues = unusedFiles(service, files, { matched, used });
  const unused = unusedIssues.map((issue) => issue.file);
  const parts = [...unused, ...[...service.digests].flat(), ...accounts.values()];
  const isSame =
    parts.length === before?.parts.length && parts.every((part, at) => part === before.parts[at]);
  if (before !== undefined && isSame) return checkout === before.checkout ? before : { ...before, checkout };
  const trust = trustOf(service.machine, target.file, files);
  const reads = [...accounts.values()].map((account) => checkTrust(account.read, trust, files));
  const shown = (file: string): string => files.shown(file) ?? folder;
  const tokens = reads.flatMap(tokenUse);
  const refs = new Map(tokens.map(({ account, ref }) => [account, ref]));
  const joined = joinAccounts(reads, read.settings !== undefined, shown, read.defaultRollout).map((account) =>
    withoutToken(account, refs.get(account.name)),
  );
  const issues = [
    ...read.issues,
    ...globIssues,
    ...unusedIssues,
    ...joined.flatMap((account) => account.issues),
  ];
  const filesOf = (file: string): string[] =>
    [service, accounts.get(file)].flatMap((each) => [...(each?.digests.keys() ?? [])]);
  const loaded = {
    ...(read.settings === undefined ? {} : { service: read.settings }),
    accounts: joined.map((account) => ({ ...account, files: filesOf(account.file) })),
    issues: sortedIssues(issues),
    secrets: [...read.secrets, ...tokens],
    trust,
  };
  return { loaded, service, inherited, checkout, accounts, parts };
}

/**
 * Whether the files of this account are unchanged since `kept`: the service files, the account file and its catalogs.
 * Other files are not checked.
 */
export function isUpToDate(kept: KeptLoad, account: string, { files, today, checkout }: LoadTarget): boolean {
  if (kept.checkout !== checkout?.folder) return false;
  const digestOf = (file: string): string => files.read(file).digest;
  if (!holds(kept.service.digests, digestOf)) return false;
  const own = [...kept.accounts.values()].filter(({ read }) => read.name === account);
  return own.length > 0 && own.every((known) => isOfDay(known, today) && holds(known.digests, digestOf));
}

function isOfDay({ today, read }: KeptAccount, day: string): boolean {
  return today === day || !read.isDated;
}

function holds(
  digests: ReadonlyMap<string, string>,
  digestOf: (file: string) => string | undefined,
): boolean {
  return [...digests].every(([file, digest]) => digestOf(file) === digest);
}

/**
 * The account files. With `hasCheckout` they are those of the repository, otherwise those beside the service file.
 */
function matchAccounts(
  { read, folder, digests }: ServiceLayers,
  files: ConfigurationFiles,
  hasCheckout: boolean,
): { matched: readonly string[]; issues: readonly ConfigIssue[] } {
  if (read.accounts === undefined) return { matched: [], issues: [] };
  const { pattern, place } = read.accounts;
  const { files: found, search } = matchPaths(pattern, folder, files);
  // A wide glob matches the service file too.
  const matched = found.filter((account) => !digests.has(account));
  const notSearched =
    (why: string) =>
    (way: string): ConfigIssue => {
      const shown = files.shown(way) ?? 'a folder';
      return { ...place, message: `${shown} is not searched for accounts: ${why}` };
    };
  const outside = [
    ...[...search.leadingOut].map(notSearched(LEADS_OUT)),
    ...[...search.unreadable].map(notSearched(UNREADABLE)),
  ];
  if (search.isIncomplete) {
    const message = `the glob \`accounts\` matches more than ${MAX_FOLDERS} folders, and not all were searched; write the folder of the accounts into it`;
    return { matched, issues: [...outside, { ...place, message }] };
  }
  if (matched.length > 0 || outside.length > 0) return { matched, issues: outside };
  if (!hasCheckout && read.settings?.source !== undefined) {
    const message = 'no file matches `accounts` here; the daemon reads the accounts from `source.git`';
    return { matched, issues: [{ ...place, message, severity: 'warning' }] };
  }
  const shown = files.shown(folder) ?? 'the files that were sent';
  const message = `no file matches \`accounts\` below ${shown}; add an account file or correct the glob`;
  return { matched, issues: [{ ...place, message }] };
}

/** Warnings for YAML files beside or below the accounts that nothing uses: an account may be missing by mistake. */
function unusedFiles(
  service: ServiceLayers,
  files: ConfigurationFiles,
  { matched, used }: { readonly matched: readonly string[]; readonly used: ReadonlySet<string> },
): readonly ConfigIssue[] {
  const found = new Set(accountFolders(service, matched).flatMap((folder) => yamlBelow(folder, files)));
  const message =
    'this file is not used: the glob `accounts` does not match it, and no account extends it; rename it, move it, or change the glob';
  return [...found]
    .filter((file) => !used.has(file) && !service.digests.has(file))
    .map((file) => ({ file: files.shown(file) ?? file, line: 1, column: 1, message, severity: 'warning' }));
}

function keepAccount(
  file: string,
  context: Omit<AccountContext, 'readCatalog'>,
  catalogs: Catalogs,
  known: KeptAccount | undefined,
): KeptAccount {
  const source = context.files.read(file);
  const digestOf = (other: string): string => (other === file ? source.digest : catalogs.digest(other));
  if (known !== undefined && isOfDay(known, context.today) && holds(known.digests, digestOf)) return known;
  const digests = new Map([[file, source.digest]]);
  const read = readAccount(file, source, {
    ...context,
    readCatalog(catalog) {
      digests.set(catalog, catalogs.digest(catalog));
      return catalogs.read(catalog);
    },
  });
  return { read, digests, today: context.today };
}

function tokenUse({ name, token, issues }: AccountRead): SecretUse[] {
  if (token === undefined) return [];
  const { file, line, column } = token.place;
  // A reference with an issue is not resolved.
  if (issues.some((issue) => issue.file === file && issue.line === line && issue.column === column))
    return [];
  return [{ ref: token.ref, what: `token of ${name}`, account: name, file, line, column }];
}

/** The folders of the accounts; without accounts, the folder that the glob names before its first `*` or `?`. */
function accountFolders({ read, folder }: ServiceLayers, matched: readonly string[]): readonly string[] {
  if (matched.length > 0) return outermost(new Set(matched.map((file) => path.dirname(file))));
  if (read.accounts === undefined) return [];
  const segments = read.accounts.pattern.split('/').slice(0, -1);
  const wild = segments.findIndex((segment) => /[*?]/u.test(segment));
  return [path.resolve(folder, segments.slice(0, wild === -1 ? undefined : wild).join('/') || '.')];
}

/** The folders without those below another one, which would be searched twice. */
function outermost(folders: ReadonlySet<string>): readonly string[] {
  return [...folders].filter((folder) => {
    for (let above = path.dirname(folder); above !== path.dirname(above); above = path.dirname(above)) {
      if (folders.has(above)) return false;
    }
    return true;
  });
}
