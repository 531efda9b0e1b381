// Which accounts a command is about, and their configuration or the reason why there is none.
import type { ConfigIssue } from '../core/errors.ts';
import { ConfigError, formatConfigIssue, UsageError } from '../core/errors.ts';
import type { ServiceSettings } from '../core/settings.ts';
import { sayWarnings } from './console.ts';
import type { Configuration, ConfiguredAccount, Environment } from './environment.ts';

export interface Loaded {
  readonly configuration: Configuration;
  readonly service: ServiceSettings;
  readonly accounts: readonly ConfiguredAccount[];
}

/** Loads the configuration and picks the named accounts, or all. Throws ConfigError when there is no service file. */
export async function loadAccounts(
  environment: Environment,
  configFile: string,
  names: readonly string[],
): Promise<Loaded> {
  const configuration = await environment.loadConfiguration(configFile);
  const { service, accounts } = configuration;
  if (service === undefined || accounts.length === 0) throw new ConfigError(errorsOf(configuration.issues));
  warnOf(configuration.issues);
  return { configuration, service, accounts: pick(accounts, names) };
}

/** Says the warnings among the problems of a configuration. */
export function warnOf(issues: readonly ConfigIssue[]): void {
  sayWarnings(issues.filter(({ severity }) => severity === 'warning').map(formatConfigIssue));
}

export function errorsOf(issues: readonly ConfigIssue[]): ConfigIssue[] {
  return issues.filter((issue) => issue.severity === 'error');
}

/** Like loadAccounts, for the one account of `dump`. Throws ConfigError when its file is broken. */
export function settingsOf(account: ConfiguredAccount): NonNullable<ConfiguredAccount['settings']> {
  if (account.settings === undefined) throw new ConfigError(errorsOf(account.issues));
  return account.settings;
}

/** The named accounts, or all. Throws UsageError for a name that there is not. */
export function pick(accounts: readonly ConfiguredAccount[], names: readonly string[]): ConfiguredAccount[] {
  if (names.length === 0) return [...accounts];
  return [...new Set(names)].map((name) => {
    const account = accounts.find((candidate) => candidate.name === name);
    if (account !== undefined) return account;
    const known = accounts.map((candidate) => candidate.name).join(', ');
    throw new UsageError(`there is no account ${JSON.stringify(name)}; the accounts are: ${known || 'none'}`);
  });
}

/**
 * Works on several accounts at once, at most `limit` at a time; results stand in the order of the accounts. After a
 * failure nothing more is started, what runs is waited for, and then the failure is thrown.
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
