// Loads the configuration and selects the accounts that a command works on.
import type { ConfigIssue } from '../core/errors.ts';
import { ConfigError, formatConfigIssue } from '../core/errors.ts';
import type { Configuration, ConfiguredAccount, ServiceSettings } from '../core/settings.ts';
import { showWarnings } from './console.ts';
import type { Environment } from './environment.ts';
import { selectAccounts } from './select-accounts.ts';

export interface Loaded {
  readonly configuration: Configuration;
  readonly service: ServiceSettings;
  readonly accounts: readonly ConfiguredAccount[];
}

/** Loads the configuration for a command that only reads the store: what it warns of does not concern the command. */
export async function loadForStore(environment: Environment, configFile: string): Promise<Loaded> {
  const configuration = await environment.loadConfiguration(configFile);
  const { service, accounts } = configuration;
  if (service === undefined || accounts.length === 0) throw withoutAccounts(configuration);
  return { configuration, service, accounts };
}

/** The same for `status`, whose reader wants to know what the errors of the service file stop. */
export async function loadForStatus(environment: Environment, configFile: string): Promise<Loaded> {
  try {
    return await loadForStore(environment, configFile);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const message = 'no account runs until the errors of the service file are fixed';
    const last = error.issues.slice(-1).map((issue) => ({ ...issue, message }));
    throw new ConfigError([...error.issues, ...last]);
  }
}

/**
 * Loads the configuration, shows its warnings, and selects accounts by names, globs and exclusions; without any, all of them. Throws
 * ConfigError when there is no service file.
 */
export async function loadAccounts(
  environment: Environment,
  configFile: string,
  names: readonly string[],
): Promise<Loaded> {
  const loaded = await loadForStore(environment, configFile);
  showConfigWarnings(loaded.configuration.issues);
  return { ...loaded, accounts: selectAccounts(loaded.accounts, names) };
}

/** Shows the warnings among the issues of a configuration. */
export function showConfigWarnings(issues: readonly ConfigIssue[]): void {
  showWarnings(issues.filter(({ severity }) => severity === 'warning').map(formatConfigIssue));
}

export function errorsOf(issues: readonly ConfigIssue[]): ConfigIssue[] {
  return issues.filter((issue) => issue.severity === 'error');
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

/**
 * Calls `work` for each account, at most `limit` at a time. Results are in the order of the accounts. After a failure
 * no further call starts; the running ones are awaited, then the first failure is thrown.
 */
export async function mapAccounts<T, R>(
  accounts: readonly T[],
  limit: number,
  work: (account: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  const failures: unknown[] = [];
  const queue = accounts.entries();
  async function worker(): Promise<void> {
    for (const [index, account] of queue) {
      if (failures.length > 0) return;
      try {
        results[index] = await work(account);
      } catch (error) {
        failures.push(error);
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(limit, accounts.length) }, worker));
  if (failures.length > 0) throw failures[0];
  return results;
}
