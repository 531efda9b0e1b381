// Journals a failed run for an account whose file is invalid, so that history and notifications show the errors.
import type { ConfigIssue } from '../core/errors.ts';
import { ConfigError } from '../core/errors.ts';
import type { RunMode, Trigger } from '../core/journal.ts';
import type { ConfigCommit } from '../core/settings.ts';
import type { DryRunDeps } from './request.ts';
import type { RunResult } from './run-result.ts';
import { describeFailure, endRun } from './run-result.ts';

/** Journals the failed run of an account whose configuration does not validate. */
export async function journalBrokenAccount(
  account: string,
  issues: readonly ConfigIssue[],
  trigger: Trigger,
  mode: RunMode,
  commit: ConfigCommit | null,
  deps: DryRunDeps,
): Promise<RunResult> {
  const runId = deps.newRunId();
  await deps.journal.beginRun({
    id: runId,
    account,
    trigger,
    mode,
    startedAtMs: deps.clock.nowMs(),
    configDigest: null,
    configCommit: commit,
  });
  const error = describeFailure(new ConfigError(issues));
  const traffic = { requests: 0, retries: 0 };
  return await endRun(runId, { status: 'failed', plan: null, traffic, error }, deps);
}
