// The end of a run: reports its outcome to the metrics, the schedule, the log and the notifications.
import type { ApplyDeps } from '../run/request.ts';
import type { RunResult } from '../run/run-result.ts';
import type { RunMode } from '../core/journal.ts';
import { outcomeOf, type RunOutcome } from '../core/run-outcome.ts';
import type { AccountRegistry } from './account-registry.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';
import type { Term } from './term.ts';

export interface RunEndingOptions {
  readonly registry: AccountRegistry;
  readonly reportEnd: Term['ended'];
  readonly deps: Pick<ApplyDeps, 'journal' | 'sha256'>;
  readonly log: Log;
  readonly metrics: Metrics;
  /** `mode` is that of the account as configured. Never rejects. */
  readonly notifier: { readonly runEnded: (outcome: RunOutcome, mode: RunMode) => Promise<void> };
}

export interface RunEnding {
  ended(result: Pick<RunResult, 'ended' | 'entryCounts'>, seconds: number): Promise<void>;
}

export function createRunEnding(options: RunEndingOptions): RunEnding {
  const { registry, reportEnd, deps, log, metrics, notifier } = options;
  return {
    async ended({ ended, entryCounts }, seconds) {
      const { account } = ended.run;
      const { pause, pending, consecutiveFailures } = await deps.journal.accountState(account);
      const pendingDigest = pending?.digest ?? null;
      const outcome = outcomeOf(ended, pendingDigest, deps.sha256);
      metrics.run(outcome, entryCounts, seconds);
      metrics.account(account, { isPaused: pause !== null, pending: pendingDigest });
      // Its file may have been removed while it ran.
      if (registry.account(account) === undefined) metrics.forget(account);
      if (outcome.run.status !== 'interrupted') reportEnd(account, consecutiveFailures);
      logEnd(log, outcome, seconds);
      await notifier.runEnded(outcome, registry.account(account)?.settings?.mode ?? outcome.run.mode);
    },
  };
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
