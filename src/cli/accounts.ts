// Which accounts a command is about, and their configuration or the reason why there is none.
import type { ConfigIssue } from '../core/errors.ts';
import { ConfigError, formatConfigIssue } from '../core/errors.ts';
import type { ServiceSettings } from '../core/settings.ts';
import { showWarnings } from './console.ts';
import type { Configuration, ConfiguredAccount, Environment } from './environment.ts';
import { selectAccounts } from './select-accounts.ts';

export interface Loaded {
  readonly configuration: Configuration;
  readonly service: ServiceSettings;
  readonly accounts: readonly ConfiguredAccount[];
}

/**
 * Loads the configuration and selects accounts by names, globs and exclusions; without any, all of them. Throws
 * ConfigError when there is no service file.
 */
export async function loadAccounts(
  environment: Environment,
  configFile: string,
  names: readonly string[],
): Promise<Loaded> {
  const configuration = await environment.loadConfiguration(configFile);
  const { service, accounts } = configuration;
  if (service === undefined || accounts.length === 0) throw new ConfigError(errorsOf(configuration.issues));
  showConfigWarnings(configuration.issues);
  return { configuration, service, accounts: selectAccounts(accounts, names) };
}

/** Says the warnings among the problems of a configuration. */
export function showConfigWarnings(issues: readonly ConfigIssue[]): void {
  showWarnings(issues.filter(({ severity }) => severity === 'warning').map(formatConfigIssue));
}

export function errorsOf(issues: readonly ConfigIssue[]): ConfigIssue[] {
  return issues.filter((issue) => issue.severity === 'error');
}

/** Like loadAccounts, for the one account of `dump`. Throws ConfigError when its file is broken. */
export function settingsOf(account: ConfiguredAccount): NonNullable<ConfiguredAccount['settings']> {
  if (account.settings === undefined) throw new ConfigError(errorsOf(account.issues));
  return account.settings;
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
