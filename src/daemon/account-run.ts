// One run of one account by the daemon: the configuration as it is now, then what its mode allows, then telling of it.
import { journalBrokenAccount } from '../app/broken-account.ts';
import { dryRun, reconcile } from '../app/reconcile.ts';
import type { AccountRequest, ApplyDeps } from '../app/request.ts';
import { ACCEPT_NOTHING } from '../app/request.ts';
import { describeFailure } from '../app/run-result.ts';
import { KINDS } from '../core/catalog.ts';
import { ConfigError, LargeAccount, SecretError, ServiceError } from '../core/errors.ts';
import type { RunMode, Trigger } from '../core/journal.ts';
import type { JournalReader } from '../core/journal-reader.ts';
import type { RunSignals } from '../core/ports.ts';
import type { RunOutcome } from '../core/run-outcome.ts';
import type { AccountSettings, ApiSettings } from '../core/settings.ts';
import { LARGE_FROM } from '../core/settings.ts';
import type { AccountRegistry, ConfigurationReader, ConfigurationReading } from './account-registry.ts';
import type { LargeRuns, PlanHeadline } from './large-runs.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';

/**
 * What a stored run came to; null when there is none. `pendingDigest` is that of the account's plan that waits. `signal`
 * ends the reading of a large run earlier than the end of the daemon does.
 */
export type ReadOutcome = (
  runId: string,
  pendingDigest: string | null,
  signal?: AbortSignal,
) => Promise<RunOutcome | null>;

export interface AccountRunOptions {
  readonly registry: AccountRegistry;
  readonly configuration: ConfigurationReader;
  /** Called when a reading changed the registry. */
  readonly onNewReading: () => void;
  readonly deps: ApplyDeps;
  /** Those that the connections were opened with. */
  readonly api: ApiSettings;
  readonly reader: Pick<JournalReader, 'accounts' | 'entryCounts'>;
  readonly outcomeOf: ReadOutcome;
  readonly signals: RunSignals;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Absent where every account is run in this process. */
  readonly large?: LargeRuns | undefined;
  /** Requests one more run of an account that runs now. */
  readonly runLater: (account: string, trigger: Trigger) => void;
  /** Tells others of the end of a run; never rejects. */
  readonly onRunEnded: (outcome: RunOutcome, mode: RunMode) => Promise<void>;
  /** The tick that a scheduled run is for. */
  readonly tickOf: (account: string) => number | null;
  /** Told why runs cannot be journaled, and null when they can again. */
  readonly onTrouble: (trouble: string | null) => void;
  readonly onFailures: (account: string, failures: number) => void;
}

/** Runs accounts; what goes wrong is journaled or logged, never thrown. */
export function createAccountRun(
  options: AccountRunOptions,
): (account: string, trigger: Trigger) => Promise<void> {
  const { registry, log, metrics, deps, signals } = options;
  const logged = new Map<string, string>();
  /** How often in a row the runs of an account could not even be journaled. */
  const troubles = new Map<string, number>();

  /** What is known of accounts that are configured no more says nothing any more. */
  function forgetOthers(known: Map<string, unknown>, configured: ReadonlySet<string>): void {
    for (const name of known.keys()) if (!configured.has(name)) known.delete(name);
  }

  async function run(name: string, trigger: Trigger): Promise<void> {
    const startedAt = performance.now();
    try {
      const reading = await options.configuration.readFor(name);
      if (registry.take(reading)) options.onNewReading();
      forgetOthers(troubles, registry.names());
      forgetOthers(logged, registry.names());
      const runId = await runBooked(name, trigger, reading);
      troubles.delete(name);
      if (troubles.size === 0) options.onTrouble(null);
      if (runId !== null) await tell(name, runId, (performance.now() - startedAt) / 1000);
    } catch (error) {
      // The store could not be used, or there is a bug: the daemon lives, and says so.
      const { code, message } = describeFailure(error);
      log.error({ event: 'run_failed', account: name, trigger, code, error: message }, 'the run failed');
      metrics.runFailed(name);
      troubles.set(name, (troubles.get(name) ?? 0) + 1);
      options.onFailures(name, troubles.get(name) ?? 0);
      options.onTrouble(message);
    }
  }

  /** Resolves with the run that was journaled, or null when there was none. */
  async function runBooked(name: string, trigger: Trigger, reading: ConfigurationReading): Promise<string | null> {
    const account = registry.account(name);
    if (account === undefined) return null;
    const state = await deps.journal.accountState(name);
    if (state.paused && trigger !== 'manual') {
      log.debug({ event: 'paused', account: name, trigger }, 'the account is paused');
      // Another process may have said so, as the command line does.
      metrics.account(name, { paused: true, pending: state.pending?.digest ?? null });
      return null;
    }
    const { settings, errors } = account;
    if (errors.length > 0 || settings === null) {
      const mode = settings?.mode ?? 'plan';
      const commit = await options.configuration.commit(reading);
      return (await journalBrokenAccount(name, errors, trigger, mode, commit, deps)).runId;
    }
    return await runSettings(settings, trigger, reading);
  }

  async function runSettings(
    settings: AccountSettings,
    trigger: Trigger,
    reading: ConfigurationReading,
  ): Promise<string | null> {
    const request: AccountRequest = {
      settings,
      api: options.api,
      commit: await options.configuration.commit(reading),
      configured: registry.names(),
      trigger,
      // A new object for each run: what a run was told by the service (a refused token) binds no other run.
      signals: { stop: signals.stop, kill: signals.kill },
    };
    const isMade = (): Promise<boolean> => isMadeElsewhere(settings.name, trigger);
    const result = await inRightProcess(request, isMade);
    if (result === 'later') {
      // It starts from the beginning, with the configuration and the pause as they are then.
      options.runLater(settings.name, trigger);
      return null;
    }
    if ('runId' in result) return result.runId;
    if (result.heldBy === null) return null;
    metrics.skippedTick(settings.name);
    log.info(
      { event: 'locked', account: settings.name, heldBy: result.heldBy },
      'another process runs the account, so this tick is skipped',
    );
    return null;
  }

  async function inRightProcess(request: AccountRequest, isMade: () => Promise<boolean>) {
    const { settings, trigger } = request;
    const onPlan = (plan: PlanHeadline, runId: string): void => logPlan(plan, runId, trigger);
    const { large } = options;
    if (large === undefined) return await inThisProcess(request, isMade, onPlan);
    const names = mostNames(settings);
    if (names > LARGE_FROM) large.note(settings.name, names);
    if (!large.isLarge(settings.name)) {
      try {
        return await inThisProcess(request, isMade, onPlan);
      } catch (error) {
        if (!(error instanceof LargeAccount)) throw error;
        large.note(settings.name, names);
        log.info(
          { event: 'large_account', account: settings.name },
          'the account runs in a process of its own',
        );
      }
    }
    if (await isMade()) return { heldBy: null };
    try {
      return await large.run(request, settings.mode, onPlan);
    } catch (error) {
      // A token that cannot be read, or that is another account's, fails the run here as it would there, and this run is journaled.
      if (error instanceof SecretError || error instanceof ConfigError || error instanceof ServiceError)
        return await inThisProcess(request, isMade, onPlan);
      throw error;
    }
  }

  async function inThisProcess(
    request: AccountRequest,
    isMade: () => Promise<boolean>,
    onPlan: (plan: PlanHeadline, runId: string) => void,
  ) {
    const { mode } = request.settings;
    if (mode === 'plan') return (await isMade()) ? { heldBy: null } : await dryRun(request, deps);
    return await reconcile(request, deps, {
      mode,
      approvals: true,
      accept: ACCEPT_NOTHING,
      lockTimeoutMs: 0,
      isMade,
      onPlan,
    });
  }

  /** Of several daemons on one store, one runs an account for each tick. */
  async function isMadeElsewhere(account: string, trigger: Trigger): Promise<boolean> {
    const tickMs = options.tickOf(account);
    if (tickMs === null || (trigger !== 'schedule' && trigger !== 'catch_up')) return false;
    const isMade = await deps.journal.hasScheduledRun(account, tickMs, deps.clock.nowMs());
    if (isMade) log.debug({ event: 'made_elsewhere', account }, 'another process ran it for this tick');
    return isMade;
  }

  /** Says a plan that does something, and one that waits once. */
  function logPlan(
    { account, summary, digest, status }: PlanHeadline,
    runId: string,
    trigger: Trigger,
  ): void {
    const isNew = logged.get(account) !== digest;
    logged.set(account, digest);
    if (!isNew || (summary.create + summary.delete === 0 && status === 'planned')) return;
    log.info(
      { event: 'planned', account, runId, trigger, status, ...summary, digest },
      'there is something to do',
    );
  }

  async function tell(account: string, runId: string, seconds: number): Promise<void> {
    const { state } = (await options.reader.accounts(account))[0] ?? {};
    const pendingDigest = state?.pending?.digest ?? null;
    const outcome = await options.outcomeOf(runId, pendingDigest);
    if (outcome === null) return;
    metrics.run(outcome, await options.reader.entryCounts(runId), seconds);
    metrics.account(account, { paused: state?.paused ?? false, pending: pendingDigest });
    // Its file may have gone while it ran.
    if (registry.account(account) === undefined) metrics.forget(account);
    options.onFailures(account, state?.consecutiveFailures ?? 0);
    logEnd(outcome, seconds);
    await options.onRunEnded(outcome, registry.account(account)?.settings?.mode ?? outcome.run.mode);
  }

  function logEnd({ run, failures, lapsed }: RunOutcome, seconds: number): void {
    const { id, account, trigger, mode, status } = run;
    for (const operation of failures) {
      const { kind, action, name, httpStatus, reason } = operation;
      const data = { account, runId: id, kind, action, name, status: operation.status, httpStatus, reason };
      log.warn({ event: 'operation_failed', ...data }, 'an operation failed');
    }
    for (const { code, message } of lapsed) {
      log.warn({ event: code, account, runId: id, detail: message }, 'the approval has lapsed');
    }
    const { created, deleted, held, kept, failed, requests, configCommit } = run;
    const data = {
      event: 'run_ended',
      account,
      runId: id,
      trigger,
      mode,
      status,
      created,
      deleted,
      held,
      kept,
      failed,
      requests,
      seconds: Math.round(seconds * 100) / 100,
      ...(configCommit === null ? {} : { commit: configCommit.slice(0, 12) }),
      ...(run.error === null ? {} : { code: run.errorCode, error: run.error }),
    };
    if (status === 'failed' || status === 'partial' || status === 'blocked') log.error(data, 'run ended');
    else log.info(data, 'run ended');
  }

  return run;
}

/** The names of the kind of which the account desires most. */
function mostNames({ desired }: AccountSettings): number {
  return Math.max(...KINDS.map((kind) => desired[kind]?.length ?? 0));
}
