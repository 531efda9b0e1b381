// Loads the configuration and selects the accounts that a command works on: names, globs, and exclusions that begin with `!`.
import path from 'node:path';
import { type ConfigIssue, ConfigError, formatConfigIssue, UsageError, errorsOf } from '../core/errors.ts';
import type { RecordedConfiguration } from '../config/load-configuration.ts';
import { nearestWord } from '../core/did-you-mean.ts';
import { globMatcher } from '../core/names.ts';
import type { AccountRecord, JournalReader } from '../core/ports/journal-reader.ts';
import type { Configuration, ConfiguredAccount, ServiceSettings } from '../core/settings.ts';
import { checkoutOf } from '../git/checkout.ts';
import { keepHeapSmall } from '../system/runtime.ts';
import { showWarnings } from './console.ts';

export interface Loaded {
  readonly configuration: Configuration;
  readonly service: ServiceSettings;
  readonly accounts: readonly ConfiguredAccount[];
}

/** Loads the configuration, with `source.git` from the checkout that the daemon of this machine keeps. */
export async function loadConfiguration(file: string): Promise<Configuration> {
  const { loadConfiguration: load } = await import('../config/load-configuration.ts');
  const loaded = await load(file);
  const checkout = await checkoutOf(loaded.service);
  return checkout === undefined ? loaded : await load(file, { checkout });
}

/** The absolute paths of the files of the configuration, of those that it names, and of the store if it is a file. */
export async function ownFiles(file: string): Promise<readonly string[]> {
  const { own, used } = await readWithTexts(file);
  const { yamlBelow } = await import('../config/path-glob.ts');
  const { api, store } = own.loaded.service ?? {};
  const secrets = [...own.loaded.secrets, ...used.loaded.secrets].map(({ ref }) => ref);
  const named = [store, ...secrets].flatMap((each) =>
    each !== undefined && 'file' in each ? [each.file, `${each.file}-wal`, `${each.file}-shm`] : [],
  );
  const certificates = [api?.caFile].filter((each) => each !== undefined);
  // If the service file is not valid, nobody knows which of the YAML files are accounts.
  const below = yamlBelow(path.dirname(path.resolve(file)), own.files);
  const texts = [...own.files.texts.keys(), ...used.files.texts.keys()];
  return [path.resolve(file), ...texts, ...below, ...named, ...certificates];
}

/** The configuration beside the service file, and the one in use: with `source.git`, that of the checkout. */
export async function readWithTexts(
  file: string,
): Promise<{ readonly own: RecordedConfiguration; readonly used: RecordedConfiguration }> {
  const { recordConfiguration } = await import('../config/load-configuration.ts');
  const own = await recordConfiguration(file);
  const checkout = await checkoutOf(own.loaded.service);
  return { own, used: checkout === undefined ? own : await recordConfiguration(file, checkout) };
}

/** Loads the configuration for a command that only reads the store: what it warns of does not concern the command. */
export async function loadForStore(configFile: string): Promise<Loaded> {
  keepHeapSmall(true);
  const configuration = await loadConfiguration(configFile);
  const { service, accounts } = configuration;
  if (service === undefined || accounts.length === 0) throw withoutAccounts(configuration);
  return { configuration, service, accounts };
}

/**
 * Loads the configuration, shows its warnings, and selects accounts by names, globs and exclusions; without a name, all of them.
 * Throws ConfigError when there is no service file, or with `names` that select all when some may be missing.
 */
export async function loadAccounts(configFile: string, names?: readonly string[]): Promise<Loaded> {
  const loaded = await loadForStore(configFile);
  showConfigWarnings(loaded.configuration.issues);
  if (names?.every(isExclusion) === true) requireAll(loaded.configuration);
  return { ...loaded, accounts: selectAccounts(loaded.accounts, names ?? []) };
}

/** Throws ConfigError when a folder cannot be searched for accounts, since accounts may be missing then. */
export function requireAll({ accounts, issues }: Pick<Configuration, 'accounts' | 'issues'>): void {
  const own = new Set(accounts.flatMap((account) => account.issues));
  const errors = errorsOf(issues).filter((issue) => !own.has(issue));
  if (errors.length > 0) throw new ConfigError(errors);
}

/** Shows the warnings among the issues of a configuration. */
export function showConfigWarnings(issues: readonly ConfigIssue[]): void {
  showWarnings(issues.filter(({ severity }) => severity === 'warning').map(formatConfigIssue));
}

/** Why no account is configured. With `source.git` that is no error of the files: perhaps nothing was fetched yet. */
export function withoutAccounts(
  { issues }: Pick<Configuration, 'issues'>,
  message = NOTHING_FETCHED,
): ConfigError {
  const errors = errorsOf(issues);
  // The only issue then is the warning that the files here contain no account.
  return new ConfigError(
    errors.length > 0
      ? errors
      : issues.slice(0, 1).map((issue) => ({ ...issue, message, severity: 'error' })),
  );
}

const NOTHING_FETCHED =
  'no commit of `source.git` is checked out on this machine yet, so there is no account; start the daemon here (`rolecall serve`), or look for `source_failed` in its log';

/** The settings of an account. Throws ConfigError when its file is invalid. */
export function settingsOf(account: ConfiguredAccount): NonNullable<ConfiguredAccount['settings']> {
  if (account.settings === undefined) throw new ConfigError(errorsOf(account.issues));
  return account.settings;
}

interface Named {
  readonly name: string;
}

/**
 * The accounts that the arguments select, each once, in the order of the arguments. Without a name or a glob: all
 * accounts, in their own order. The position of an exclusion does not matter. Throws UsageError for an argument that
 * matches no account, since a mistyped exclusion would include the account that it must exclude.
 */
export function selectAccounts<T extends Named>(accounts: readonly T[], args: readonly string[]): T[] {
  const wanted = args.filter((arg) => !isExclusion(arg));
  const included =
    wanted.length === 0 ? [...accounts] : wanted.flatMap((arg) => matching(accounts, arg, arg));
  const excluded = new Set(args.filter(isExclusion).flatMap((arg) => matching(accounts, arg.slice(1), arg)));
  const selected = [...new Set(included)].filter((account) => !excluded.has(account));
  if (selected.length === 0 && args.length > 0) {
    throw new UsageError(
      `${args.map((arg) => JSON.stringify(arg)).join(' ')} selects no account; ${accountList(accounts)}`,
    );
  }
  return selected;
}

/** The one account with this name. Throws UsageError. */
export function accountNamed<T extends Named>(accounts: readonly T[], name: string): T {
  const account = accounts.find((candidate) => candidate.name === name);
  if (account === undefined) throw noAccount(accounts, name);
  return account;
}

export function isExclusion(arg: string): boolean {
  return arg.startsWith('!');
}

function isPattern(arg: string): boolean {
  return /^!|[*?\\]/u.test(arg);
}

/** `the accounts are: a, b`, for a message. */
export function accountList(accounts: readonly Named[]): string {
  return `the accounts are: ${accounts.map(({ name }) => name).join(', ') || 'none'}`;
}

function matching<T extends Named>(accounts: readonly T[], pattern: string, arg: string): T[] {
  const named = accounts.filter(({ name }) => name === pattern);
  if (named.length > 0) return named;
  const matches = globMatcher(pattern);
  const found = accounts.filter(({ name }) => matches(name));
  if (found.length === 0) throw noAccount(accounts, arg);
  return found;
}

function noAccount(accounts: readonly Named[], arg: string): UsageError {
  if (isPattern(arg))
    return new UsageError(`no account matches ${JSON.stringify(arg)}; ${accountList(accounts)}`);
  const names = accounts.map(({ name }) => name);
  const near = nearestWord(arg, names);
  const hint = near === undefined ? '' : ` (did you mean ${JSON.stringify(near)}?)`;
  return new UsageError(`there is no account ${JSON.stringify(arg)}${hint}; ${accountList(accounts)}`);
}

/** An account that is configured, known to the journal, or both: a removed one keeps its history. */
export interface KnownAccount extends Named {
  readonly configured: ConfiguredAccount | undefined;
  readonly record: AccountRecord | undefined;
}

/**
 * The configured accounts, and those that only the journal knows: removed ones, and with `source.git` those whose files are
 * in the daemon's checkout on another machine.
 */
export async function knownAccounts(
  reader: Pick<JournalReader, 'accounts'>,
  configured: readonly ConfiguredAccount[],
): Promise<readonly KnownAccount[]> {
  const known = new Map<string, KnownAccount>(
    configured.map((each) => [each.name, { name: each.name, configured: each, record: undefined }]),
  );
  for (const record of await reader.accounts()) {
    const { name } = record;
    known.set(name, { name, configured: known.get(name)?.configured, record });
  }
  return [...known.values()];
}
