// Journals a failed run for an account whose file is invalid, so that history and notifications show the errors.
import { ConfigError, type ConfigIssue } from '../core/errors.ts';
import type { RunMode, Trigger } from '../core/journal.ts';
import type { RunPermit } from '../core/locks.ts';
import type { ConfigCommit } from '../core/settings.ts';
import type { DryRunDeps } from './request.ts';
import { describeFailure, NO_TRAFFIC, resultOf, type RunResult } from './run-result.ts';

interface BrokenAccount {
  readonly account: string;
  /** The errors of its file. */
  readonly issues: readonly ConfigIssue[];
  readonly trigger: Trigger;
  readonly mode: RunMode;
  readonly commit: ConfigCommit | null;
  readonly permit?: RunPermit | undefined;
}

/** Journals the failed run of an account whose configuration does not validate. */
export async function journalBrokenAccount(
  { account, issues, trigger, mode, commit, permit }: BrokenAccount,
  deps: DryRunDeps,
): Promise<RunResult> {
  const runId = deps.newRunId();
  const failure = describeFailure(new ConfigError(issues));
  const startedAtMs = deps.clock.nowMs();
  const run = { id: runId, account, trigger, mode, startedAtMs, configDigest: null, configCommit: commit };
  const fence = permit && { permit, lease: undefined, nowMs: () => deps.clock.nowMs() };
  await deps.journal.recordFailedRun(run, failure, fence);
  return resultOf(run, { status: 'failed', plan: null, traffic: NO_TRAFFIC, error: failure }, startedAtMs);
}
