// The configuration in the daemon: the current state of each file, and its last valid content.
import { describeFailure } from '../run/run-result.ts';
import { type ConfigIssue, formatConfigIssue, errorsOf } from '../core/errors.ts';
import type {
  AccountSettings,
  ConfigCommit,
  Configuration,
  ConfiguredAccount,
  ServiceSettings,
} from '../core/settings.ts';
import type { Schedule } from './cron.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';

/** Reads the configuration. Returns the same object again while nothing has changed. */
export interface ConfigurationReader {
  read(): Promise<Configuration>;
  /** Checks only the files that concern this account. Waits at most `waitMs` for the end of changes. */
  readFor(account: string, waitMs?: number): Promise<Configuration>;
  /** The commit of a reading; without one, that of the newest. */
  commit(reading?: Configuration): Promise<ConfigCommit | null>;
  /** Why the newest commit of the daemon's own checkout is not used; null when it is used or there is no checkout. */
  sourceProblem(): string | null;
}

export interface RegisteredAccount extends Pick<ConfiguredAccount, 'name' | 'file' | 'files'> {
  /** Whether its file with its catalogs is valid now. */
  readonly isValid: boolean;
  /** The errors that its runs fail with: those of the service file, and its own. */
  readonly errors: readonly ConfigIssue[];
  /** The last valid settings; null when there never were any. */
  readonly settings: AccountSettings | null;
}

export type AccountRegistry = ReturnType<typeof createAccountRegistry>;

export interface AccountRegistryOptions {
  /** The settings that the daemon started with. */
  readonly service: ServiceSettings;
  readonly configuration: ConfigurationReader;
  readonly log: Log;
  readonly metrics: Metrics;
}

export function createAccountRegistry(options: AccountRegistryOptions) {
  const { configuration, log, metrics } = options;
  const listeners: (() => void)[] = [];
  let service = options.service;
  let serviceErrors: readonly ConfigIssue[] = [];
  let last: Configuration | null = null;
  let accounts: ReadonlyMap<string, RegisteredAccount> = new Map();
  let names: ReadonlySet<string> = new Set();
  let addressCount = 0;
  let isClosed = false;

  /** Logs each new set of errors once, and when they are fixed. */
  function logErrors(
    account: string | null,
    before: readonly ConfigIssue[],
    now: readonly ConfigIssue[],
  ): void {
    const errors = now.map(formatConfigIssue);
    if (errors.join('\n') === before.map(formatConfigIssue).join('\n')) return;
    if (errors.length > 0)
      log.error({ event: 'config_invalid', account, errors }, 'the configuration is invalid');
    else log.info({ event: 'config_fixed', account }, 'the configuration is valid again');
  }

  function takeAccounts(readings: readonly ConfiguredAccount[]): void {
    const next = new Map<string, RegisteredAccount>();
    for (const { settings, issues, ...own } of readings) {
      const { name } = own;
      const before = accounts.get(name);
      const errors = settings === undefined ? errorsOf(issues) : [];
      logErrors(name, before?.errors ?? [], errors);
      metrics.account(name, { isValid: settings !== undefined });
      next.set(name, {
        ...own,
        isValid: settings !== undefined,
        errors,
        settings: settings ?? before?.settings ?? null,
      });
    }
    for (const name of accounts.keys()) if (!next.has(name)) metrics.forget(name);
    accounts = next;
    names = new Set(next.keys());
    addressCount = new Set([...next.values()].map(({ settings }) => settings?.baseUrl)).size;
  }

  /** Valid parts count from now on; for the invalid ones the last valid state stays in use. */
  function take(reading: Configuration): void {
    if (reading === last) return;
    last = reading;
    // A folder without any account file may only be unmounted for a moment, so it removes no account.
    const isUnusable = reading.service === undefined || reading.accounts.length === 0;
    const errors = isUnusable ? errorsOf(reading.issues) : [];
    logErrors(null, serviceErrors, errors);
    serviceErrors = errors;
    metrics.configurationValid(errors.length === 0);
    if (reading.service === undefined || isUnusable) {
      for (const name of names) metrics.account(name, { isValid: false });
    } else {
      logRestart(service, reading.service, log);
      service = reading.service;
      takeAccounts(reading.accounts);
    }
    if (!isClosed) for (const listener of listeners) listener();
  }

  function withServiceErrors(account: RegisteredAccount): RegisteredAccount {
    return serviceErrors.length === 0
      ? account
      : { ...account, errors: [...serviceErrors, ...account.errors] };
  }

  return {
    /** Reads the configuration again. A failure is logged. */
    async reload(): Promise<void> {
      try {
        const reading = await configuration.read();
        if (!isClosed) take(reading);
      } catch (error) {
        const { code, message } = describeFailure(error);
        log.error({ event: 'reload_failed', code, error: message }, 'the configuration could not be read');
      }
    },
    /** Reads the configuration again as far as it concerns the account. Waits at most `waitMs` for the end of changes. */
    async refresh(account: string, waitMs?: number): Promise<void> {
      take(await configuration.readFor(account, waitMs));
    },
    /** The commit of the accounts as they are now. */
    commit: () => configuration.commit(last ?? undefined),
    sourceProblem: () => configuration.sourceProblem(),
    /** Calls the listener after each change. */
    onChange(listener: () => void): void {
      listeners.push(listener);
    },
    account(name: string): RegisteredAccount | undefined {
      const account = accounts.get(name);
      return account === undefined ? undefined : withServiceErrors(account);
    },
    accounts: () => [...accounts.values()].map(withServiceErrors),
    names: () => names,
    service: () => service,
    /** The errors of the service file itself. */
    serviceErrors: () => serviceErrors,
    schedules: () => [...accounts.values()].map(toSchedule),
    /** The base address of the account; empty when its file was never valid. */
    addressOf: (account: string) => accounts.get(account)?.settings?.baseUrl ?? '',
    /** The number of different base addresses. */
    addressCount: () => addressCount,
    /** Ends reloads; no listener is called any more. */
    close(): void {
      isClosed = true;
    },
  };
}

/** When an account whose file was never valid runs: its failed runs report the errors. */
const DEFAULT_SCHEDULE = { schedule: '*/15 * * * *', timezone: 'Etc/UTC' };

function toSchedule({ name, settings }: RegisteredAccount): Schedule {
  const { schedule, timezone } = settings ?? DEFAULT_SCHEDULE;
  return { name, schedule, timezone };
}

/** Settings that connections, files and sockets were opened with. */
const FIXED = ['store', 'api', 'http', 'source', 'log'] as const satisfies readonly (keyof ServiceSettings)[];

function logRestart(before: ServiceSettings, now: ServiceSettings, log: Log): void {
  const changed = FIXED.filter((key) => JSON.stringify(before[key]) !== JSON.stringify(now[key]));
  if (changed.length === 0) return;
  log.warn({ event: 'restart_needed', changed }, 'these settings change only when the daemon is restarted');
}
