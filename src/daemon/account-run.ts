// Runs one account: reads its current configuration, runs what its mode allows, and reports the end of the run to the metrics,
// the log and the notifications.
import { dryRun, reconcileLeased } from '../run/reconcile.ts';
import type { AccountRequest, ApplyDeps } from '../run/request.ts';
import { describeFailure, journalBrokenAccount, type RunResult } from '../run/run-result.ts';
import { StoreError } from '../core/errors.ts';
import type { RunMode, Trigger } from '../core/journal.ts';
import type { DueReason } from '../core/ports/locks.ts';
import { globMatcher } from '../core/names.ts';
import type { Plan } from '../core/plan.ts';
import { outcomeOf, type RunOutcome } from '../core/run-outcome.ts';
import type { AccountSettings, ApiSettings, ConfigCommit } from '../core/settings.ts';
import type { AccountRegistry } from './account-registry.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';
import type { DueRun } from './run-loop.ts';

export interface AccountRunsOptions {
  readonly registry: AccountRegistry;
  readonly deps: ApplyDeps;
  /** The settings that the connections were opened with. */
  readonly api: ApiSettings;
  readonly log: Log;
  readonly metrics: Metrics;
  /** `mode` is that of the account as configured. Never rejects. */
  readonly notifier: {
    readonly runEnded: (outcome: RunOutcome, mode: RunMode, followers: number) => Promise<void>;
  };
}

/** Who requests a run right after a change of the files means the new content, so the run waits until it is used. */
const MOST_CHANGING_MS = 10_000;

function isByOperator(trigger: Trigger): boolean {
  return trigger === 'manual' || trigger === 'approval';
}

export function createAccountRuns(options: AccountRunsOptions) {
  const { registry, log, metrics, deps } = options;
  /** The digest of the plan of each account that was logged last. */
  const loggedPlans = new Map<string, string>();
  /** Accounts whose latest run could not even be journaled. */
  const unjournaled = new Set<string>();
  let problem: string | null = null;
  registry.onChange(() => {
    for (const name of [...unjournaled, ...loggedPlans.keys()]) {
      if (registry.names().has(name)) continue;
      unjournaled.delete(name);
      loggedPlans.delete(name);
    }
  });

  /** Runs the account. A failure is journaled or logged, never thrown. Resolves with the reason if it is due again at once. */
  async function run(due: DueRun): Promise<DueReason | null> {
    const { account: name, trigger, by } = due;
    // A tick was made; what was interrupted is only continued.
    const again: DueReason = { trigger: isByOperator(trigger) ? trigger : 'start', by };
    const startedAt = performance.now();
    try {
      await registry.refresh(name, isByOperator(trigger) ? MOST_CHANGING_MS : 0);
      const result = await runCurrent(due);
      unjournaled.delete(name);
      if (unjournaled.size === 0) problem = null;
      if (result === null) return null;
      await reportEnd(result, (performance.now() - startedAt) / 1000);
      if (result.status === 'interrupted') return again;
      return result.isDoubtful ? { trigger: 'doubt', by: null } : null;
    } catch (error) {
      // The tick is not lost: it is made when the store answers, or by another process.
      if (error instanceof StoreError && ['lock_lost', 'store_unavailable'].includes(error.code))
        return again;
      // The store cannot be used, or there is a bug. The daemon logs it and continues.
      const { code, message } = describeFailure(error);
      log.error({ event: 'run_failed', account: name, trigger, code, error: message }, 'the run failed');
      metrics.runFailed(name);
      // An account that was removed meanwhile is not run again, so it could never report that the problem has gone.
      if (registry.account(name) === undefined) return null;
      // The stop may be the reason.
      if (due.signals.stop.aborted) return again;
      unjournaled.add(name);
      problem = message;
      return null;
    }
  }

  async function reportEnd({ ended, entryCounts }: RunResult, seconds: number): Promise<void> {
    const { account } = ended.run;
    // What was applied is reported also while the store does not answer.
    const state = await deps.journal.accountState(account).catch(() => null);
    const pendingDigest = state?.pending?.digest ?? null;
    const outcome = outcomeOf(ended, pendingDigest, deps.sha256);
    metrics.run(outcome, entryCounts, seconds);
    if (state !== null) metrics.account(account, { isPaused: state.pause !== null, pending: pendingDigest });
    const current = registry.account(account);
    // Its file may have been removed while it ran.
    if (current === undefined) metrics.forget(account);
    logEnd(log, outcome, seconds);
    await options.notifier.runEnded(
      outcome,
      current?.settings?.mode ?? outcome.run.mode,
      followersOf(account),
    );
  }

  /** How many accounts run newer commits after this one. */
  function followersOf(account: string): number {
    const follows = ({ settings }: { readonly settings: AccountSettings | null }): boolean =>
      settings?.rollout?.after.some((glob) => globMatcher(glob)(account)) === true;
    return registry.accounts().filter(follows).length;
  }

  /** Resolves with null when no run was made. */
  async function runCurrent(due: DueRun): Promise<RunResult | null> {
    const { account: name, trigger, by: actor, lease } = due;
    const account = registry.account(name);
    const commit = changesIn(await registry.commit(), account?.files);
    if (account === undefined) return null;
    // The lease of a process that died has been taken from it, which is all that a paused account needs.
    if (due.isPaused && trigger !== 'manual') return null;
    const { settings, errors } = account;
    if (errors.length > 0 || settings === null) {
      const mode = settings?.mode ?? 'plan';
      const broken = { account: name, issues: errors, trigger, actor, mode, commit, lease };
      return await journalBrokenAccount(broken, deps);
    }
    const request: AccountRequest = {
      settings,
      api: options.api,
      commit,
      configured: registry.names(),
      trigger,
      actor,
      lease,
      signals: due.signals,
    };
    const { mode } = settings;
    if (mode === 'plan') return await dryRun(request, deps);
    return await reconcileLeased(request, lease, deps, {
      mode,
      approvals: true,
      onPlan: (plan, runId) => logPlan(plan, runId, trigger),
    });
  }

  /** Logs a plan that changes something, and one that waits only once. */
  function logPlan({ account, summary, digest, status }: Plan, runId: string, trigger: Trigger): void {
    const isNew = loggedPlans.get(account) !== digest;
    loggedPlans.set(account, digest);
    if (!isNew || (summary.create + summary.delete === 0 && status === 'planned')) return;
    log.info(
      { event: 'planned', account, runId, trigger, status, ...summary, digest },
      'the plan has changes',
    );
  }

  return {
    run,
    /** Why runs cannot be journaled; null while they can. */
    problem: () => problem,
  };
}

/** The commit with those of its changes that are in these files. */
function changesIn(commit: ConfigCommit | null, files: readonly string[] | undefined): ConfigCommit | null {
  if (commit?.changed === undefined || files === undefined) return commit;
  const changed = new Map([...commit.changed].filter(([file]) => files.includes(file)));
  return { ...commit, dirty: changed.size > 0, changed };
}

function logEnd(log: Log, { run, failures, logged }: RunOutcome, seconds: number): void {
  const { id, account, trigger, mode, status } = run;
  for (const operation of failures) {
    const { kind, action, name, httpStatus, reason } = operation;
    const data = { account, runId: id, kind, action, name, status: operation.status, httpStatus, reason };
    log.warn({ event: 'operation_failed', ...data }, 'an operation failed');
  }
  for (const { code, message } of logged) {
    log.warn({ event: code, account, runId: id, detail: message }, 'the run has a warning');
  }
  const { created, deleted, held, kept, failed, requests, configCommit, actor } = run;
  const data = {
    event: 'run_ended',
    account,
    runId: id,
    trigger,
    ...(actor === null ? {} : { actor }),
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
