// The configuration as the daemon knows it: what each file says now, and what it said when it was last sound.
import type { ConfigIssue } from '../core/errors.ts';
import { formatConfigIssue } from '../core/errors.ts';
import type { AccountSettings, ConfigCommit, ServiceSettings } from '../core/settings.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';
import type { Schedule } from './scheduler.ts';

/** An account file as it was found at one reading; `settings` is absent when it is broken. */
export interface AccountReading {
  readonly name: string;
  /** Absolute. */
  readonly file: string;
  readonly settings?: AccountSettings;
  readonly issues: readonly ConfigIssue[];
}

/** All files at one reading; `service` is absent when the service's file is broken, and then `issues` says why. */
export interface ConfigurationReading {
  readonly service?: ServiceSettings;
  readonly accounts: readonly AccountReading[];
  readonly issues: readonly ConfigIssue[];
}

/** Reads the configuration where it stands, as fresh as it is. */
export interface ConfigurationReader {
  read(): Promise<ConfigurationReading>;
  /** Looks only for changes that concern this account. */
  readFor(account: string): Promise<ConfigurationReading>;
  /** The commit that a reading, or else the newest one, stands in. */
  commit(reading?: ConfigurationReading): Promise<ConfigCommit | null>;
  /** Why the newest commit of the daemon's own checkout is not used; null when it is, or there is none. */
  sourceProblem(): string | null;
}

/** One account in the registry. */
export interface RegisteredAccount {
  readonly name: string;
  readonly file: string;
  /** What is wrong with its configuration now; empty when nothing is. */
  readonly errors: readonly ConfigIssue[];
  /** The last sound settings; null when there never were any. */
  readonly settings: AccountSettings | null;
}

export interface AccountRegistry {
  /**
   * Takes a reading over; false when it is the last one again. Sound parts count from now on; of what is broken the
   * last sound state goes on.
   */
  take(reading: ConfigurationReading): boolean;
  account(name: string): RegisteredAccount | undefined;
  accounts(): readonly RegisteredAccount[];
  names(): ReadonlySet<string>;
  service(): ServiceSettings;
  /** Errors of the service's file itself. */
  serviceErrors(): readonly ConfigIssue[];
  schedules(): readonly Schedule[];
}

export function createAccountRegistry(first: ServiceSettings, log: Log, metrics: Metrics): AccountRegistry {
  let service = first;
  let serviceErrors: readonly ConfigIssue[] = [];
  let last: ConfigurationReading | null = null;
  let registry = new Map<string, RegisteredAccount>();
  let names: ReadonlySet<string> = new Set();

  /** Says each broken state once, and each mend. */
  function tell(account: string | null, before: readonly ConfigIssue[], now: readonly ConfigIssue[]): void {
    const errors = now.map(formatConfigIssue);
    if (errors.join('\n') === before.map(formatConfigIssue).join('\n')) return;
    if (errors.length > 0)
      log.error({ event: 'config_invalid', account, errors }, 'the configuration is invalid');
    else log.info({ event: 'config_mended', account }, 'the configuration is valid again');
  }

  function takeAccounts(readings: readonly AccountReading[]): void {
    const next = new Map<string, RegisteredAccount>();
    for (const { name, file, settings, issues } of readings) {
      const before = registry.get(name);
      const errors = settings === undefined ? errorsOf(issues) : [];
      tell(name, before?.errors ?? [], errors);
      metrics.configValid(name, settings !== undefined);
      next.set(name, { name, file, errors, settings: settings ?? before?.settings ?? null });
    }
    for (const name of registry.keys()) if (!next.has(name)) metrics.forget(name);
    registry = next;
    names = new Set(next.keys());
  }

  return {
    take(reading) {
      if (reading === last) return false;
      last = reading;
      const isBroken = reading.service === undefined || reading.accounts.length === 0;
      const errors = isBroken ? errorsOf(reading.issues) : [];
      tell(null, serviceErrors, errors);
      serviceErrors = errors;
      metrics.configurationValid(errors.length === 0);
      if (reading.service === undefined || isBroken) {
        // Also when no account's file is there at all: a folder that is away for a moment unschedules nothing.
        for (const name of names) metrics.configValid(name, false);
        return true;
      }
      tellRestart(service, reading.service, log);
      service = reading.service;
      takeAccounts(reading.accounts);
      return true;
    },
    account(name) {
      const account = registry.get(name);
      if (account === undefined || serviceErrors.length === 0) return account;
      return { ...account, errors: [...serviceErrors, ...account.errors] };
    },
    accounts: () =>
      [...registry.values()].map((account) =>
        serviceErrors.length === 0 ? account : { ...account, errors: [...serviceErrors, ...account.errors] },
      ),
    names: () => names,
    service: () => service,
    serviceErrors: () => serviceErrors,
    schedules: () => [...registry.values()].map(toSchedule),
  };
}

/** When an account runs whose file was never sound: its failed runs are how people learn of it. */
const UNKNOWN_SCHEDULE = { schedule: '*/15 * * * *', timezone: 'Etc/UTC', jitterMs: 30_000 };

function toSchedule({ name, settings, errors }: RegisteredAccount): Schedule {
  const { schedule, timezone, jitterMs } = settings ?? UNKNOWN_SCHEDULE;
  // Settings are a new object whenever the files that they come from were read anew because they had changed.
  const revision = errors.length === 0 && settings !== null ? settings : errors.map(formatConfigIssue).join();
  return { name, schedule, timezone, jitterMs, revision };
}

function errorsOf(issues: readonly ConfigIssue[]): readonly ConfigIssue[] {
  return issues.filter(({ severity }) => severity === 'error');
}

/** Settings that connections, files and sockets were opened with. */
const FIXED = ['store', 'api', 'http', 'source', 'log'] as const satisfies readonly (keyof ServiceSettings)[];

function tellRestart(before: ServiceSettings, now: ServiceSettings, log: Log): void {
  const changed = FIXED.filter((key) => JSON.stringify(before[key]) !== JSON.stringify(now[key]));
  if (changed.length === 0) return;
  log.warn({ event: 'restart_needed', changed }, 'these settings hold from the next start on');
}
