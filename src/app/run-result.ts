// Ends a run in every case: counts and journals the result, and returns it as a value.
import type { Action, Warning } from '../core/catalog.ts';
import { ConfigError, SecretError, ServiceError, StoreError, UsageError } from '../core/errors.ts';
import type { RunStatus } from '../core/journal.ts';
import type { Plan } from '../core/plan.ts';
import type { Clock, Journal, OperationResult, RunEnd, Traffic } from '../core/ports.ts';
import type { DryRunDeps, Run } from './request.ts';

export interface RunFailure {
  readonly code: string;
  readonly message: string;
}

/** Another process took over the account while this one was paused, and has journaled the end of this run. */
export const LOCK_LOST = {
  code: 'lock_lost',
  message:
    'another process took over the account, so nothing more was sent; the run of that process finds out whether the doubtful operations happened',
} as const satisfies RunFailure;

/** What the caller receives; the journal contains the rest under `runId`. */
export interface RunResult {
  readonly runId: string;
  readonly status: RunStatus;
  readonly plan: Plan | null;
  readonly failure: RunFailure | null;
}

interface Ending {
  readonly status: RunStatus;
  readonly plan: Plan | null;
  readonly traffic: Traffic;
  readonly error?: RunFailure;
  readonly warnings?: readonly Warning[];
  /** The digest of the plan that waits for approval; null: none waits; left out: unchanged. */
  readonly pending?: string | null;
  readonly results?: readonly (OperationResult & { readonly action: Action })[];
}

/** Journals the end of a run. A run that another process has ended meanwhile is returned as interrupted. */
export async function endRun(
  { runId, deps: { journal, clock } }: Pick<Run<DryRunDeps>, 'runId' | 'deps'>,
  { status, plan, traffic, error, warnings = [], results, pending }: Ending,
): Promise<RunResult> {
  // The guard that blocked a plan is its first warning.
  const [blocking] = status === 'blocked' ? (plan?.warnings ?? []) : [];
  const reason = error ?? blocking;
  const isOurs = await journal.endRun(runId, {
    status,
    finishedAtMs: clock.nowMs(),
    counts: plan === null ? null : countsOf(plan, results),
    traffic,
    planDigest: plan?.digest ?? null,
    errorCode: reason?.code ?? null,
    error: reason?.message ?? null,
    warnings: [...(plan?.warnings ?? []), ...warnings],
    ...(pending === undefined ? {} : { pending }),
  });
  return isOurs
    ? { runId, status, plan, failure: error ?? null }
    : { runId, status: 'interrupted', plan, failure: LOCK_LOST };
}

function countsOf(plan: Plan, results: Ending['results'] = []): RunEnd['counts'] {
  const done = results.filter((result) => result.status === 'done' && result.attempts > 0);
  const heldMeanwhile = results.filter((result) => result.status === 'held').length;
  return {
    created: done.filter((result) => result.action === 'create' && result.entry?.existed !== true).length,
    deleted: done.filter((result) => result.action === 'delete').length,
    held: plan.summary.hold + heldMeanwhile,
    kept: plan.summary.keep,
    failed: results.filter((result) => result.status === 'failed' || result.status === 'unknown').length,
  };
}

/**
 * Ends a run that could not observe or plan. Throws a StoreError on, unless another process has taken over the account;
 * journals any other failure.
 */
export async function failRun(run: Run<DryRunDeps>, error: unknown, traffic: Traffic): Promise<RunResult> {
  if (error instanceof StoreError && error.code === LOCK_LOST.code)
    return await endRun(run, { status: 'interrupted', plan: null, traffic, error: LOCK_LOST });
  if (error instanceof StoreError) {
    // The journal itself failed, so a failure to end the run is ignored.
    await endRun(run, failed(error, traffic)).catch(() => undefined);
    throw error;
  }
  const { settings, signals } = run.request;
  await rememberThrottle(settings.name, error, run.deps);
  const ending = failed(error, traffic, signals.stop);
  return await endRun(run, signals.stop.aborted ? { ...ending, status: 'interrupted' } : ending);
}

/** Journals when the service may be called again, if its answer contained a time. Every command waits for it. */
export async function rememberThrottle(
  account: string,
  error: unknown,
  { journal, clock }: { readonly journal: Pick<Journal, 'rememberThrottle'>; readonly clock: Clock },
): Promise<void> {
  if (!(error instanceof ServiceError) || error.kind !== 'throttled' || error.retryAfterMs === undefined)
    return;
  await journal.rememberThrottle(account, clock.nowMs() + error.retryAfterMs);
}

function failed(error: unknown, traffic: Traffic, stop?: AbortSignal): Ending & { error: RunFailure } {
  return { status: 'failed', plan: null, traffic, error: describeFailure(error, stop) };
}

/**
 * An error as a code and a sentence. Any error outside the known classes is a bug, and is reported as one. After `stop`
 * a request that was not sent or not answered is no outage of the service.
 */
export function describeFailure(error: unknown, stop?: AbortSignal): RunFailure {
  if (stop?.aborted === true && error instanceof ServiceError && error.kind === 'unavailable') {
    return { code: 'interrupted', message: 'interrupted before the account was read' };
  }
  if (
    error instanceof ServiceError ||
    error instanceof SecretError ||
    error instanceof ConfigError ||
    error instanceof StoreError ||
    error instanceof UsageError
  ) {
    return { code: error.code, message: error.message };
  }
  const message = error instanceof Error ? error.message : String(error);
  return { code: 'internal', message: `a bug in rolecall: ${message}. Report it with this message` };
}
