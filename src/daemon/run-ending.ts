// The end of a run: reports its outcome to the metrics, the turns, the log and the notifications.
import type { RunMode } from '../core/journal.ts';
import type { JournalReader } from '../core/journal-reader.ts';
import type { RunOutcome } from '../core/run-outcome.ts';
import type { Turns } from '../core/turns.ts';
import type { AccountRegistry } from './account-registry.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';

/**
 * The outcome of a stored run; null when there is no such run. `pendingDigest` is that of the account's plan that waits
 * for approval. `signal` ends the reading of a large run.
 */
export type ReadOutcome = (
  runId: string,
  pendingDigest: string | null,
  signal?: AbortSignal,
) => Promise<RunOutcome | null>;

export interface RunEndingOptions {
  readonly registry: AccountRegistry;
  readonly turns: Pick<Turns, 'ended'>;
  readonly reader: Pick<JournalReader, 'accounts' | 'entryCounts'>;
  readonly outcomeOf: ReadOutcome;
  readonly log: Log;
  readonly metrics: Metrics;
  /** `mode` is that of the account as configured. Never rejects. */
  readonly notifier: { readonly runEnded: (outcome: RunOutcome, mode: RunMode) => Promise<void> };
}

export interface RunEnding {
  ended(account: string, runId: string, seconds: number): Promise<void>;
}

export function createRunEnding(options: RunEndingOptions): RunEnding {
  const { registry, turns, reader, log, metrics, notifier } = options;
  return {
    async ended(account, runId, seconds) {
      const { state } = (await reader.accounts(account))[0] ?? {};
      const pendingDigest = state?.pending?.digest ?? null;
      const outcome = await options.outcomeOf(runId, pendingDigest);
      if (outcome === null) return;
      metrics.run(outcome, await reader.entryCounts(runId), seconds);
      metrics.account(account, { isPaused: (state?.pause ?? null) !== null, pending: pendingDigest });
      // Its file may have been removed while it ran.
      if (registry.account(account) === undefined) metrics.forget(account);
      if (outcome.run.status !== 'interrupted') turns.ended(account, state?.consecutiveFailures ?? 0);
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
