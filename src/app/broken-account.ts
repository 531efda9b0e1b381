// Journals a failed run for an account whose file is invalid, so that history and notifications show the errors.
import { ConfigError, type ConfigIssue } from '../core/errors.ts';
import type { RunMode, Trigger } from '../core/journal.ts';
import type { ConfigCommit } from '../core/settings.ts';
import type { DryRunDeps } from './request.ts';
import { describeFailure, type RunResult } from './run-result.ts';

interface BrokenAccount {
  readonly account: string;
  /** The errors of its file. */
  readonly issues: readonly ConfigIssue[];
  readonly trigger: Trigger;
  readonly mode: RunMode;
  readonly commit: ConfigCommit | null;
}

/** Journals the failed run of an account whose configuration does not validate. */
export async function journalBrokenAccount(
  { account, issues, trigger, mode, commit }: BrokenAccount,
  deps: DryRunDeps,
): Promise<RunResult> {
  const runId = deps.newRunId();
  const failure = describeFailure(new ConfigError(issues));
  const run = { id: runId, account, trigger, mode, startedAtMs: deps.clock.nowMs() };
  await deps.journal.recordFailedRun({ ...run, configDigest: null, configCommit: commit }, failure);
  return { runId, status: 'failed', plan: null, failure };
}
