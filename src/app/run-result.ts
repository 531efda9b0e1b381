// How a run ends, whatever happened: counted, journaled, and told to the caller as a value.
import type { Warning } from '../core/catalog.ts';
import { ConfigError, SecretError, ServiceError, StoreError, UsageError } from '../core/errors.ts';
import type { RunStatus } from '../core/journal.ts';
import type { Plan } from '../core/plan.ts';
import type { Clock, Journal, OperationResult, RunEnd, Traffic } from '../core/ports.ts';
import type { AccountRequest, DryRunDeps } from './request.ts';

export interface RunFailure {
  readonly code: string;
  readonly message: string;
}

/** Another process took the account over while this one was paused, and has said of the run what there is to say. */
export const LOCK_LOST = {
  code: 'lock_lost',
  message:
    'another process took the account over, so nothing more was sent; its run finds out what is in doubt',
} as const satisfies RunFailure;

/** What the caller gets; the journal holds the rest under `runId`. */
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
  /** The digest of the plan that waits for approval; null when none does, left out when that stays as it is. */
  readonly pending?: string | null;
  readonly results?: readonly (OperationResult & { readonly action: 'create' | 'delete' })[];
}

/** Journals the end of a run; one that another process has ended meanwhile is told as interrupted. */
export async function endRun(
  runId: string,
  { status, plan, traffic, error, warnings = [], results, pending }: Ending,
  { journal, clock }: DryRunDeps,
): Promise<RunResult> {
  const isOurs = await journal.endRun(runId, {
    status,
    finishedAtMs: clock.nowMs(),
    counts: plan === null ? null : countsOf(plan, results),
    traffic,
    planDigest: plan?.digest ?? null,
    errorCode: error?.code ?? null,
    error: error?.message ?? null,
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

/** Ends a run that could not observe or plan. A full store is told to the caller; any other failure is journaled. */
export async function failRun(
  runId: string,
  error: unknown,
  request: AccountRequest,
  deps: DryRunDeps,
  traffic: Traffic,
): Promise<RunResult> {
  if (error instanceof StoreError) {
    // The journal is what failed; a last try to close the run is made, and its outcome changes nothing.
    await endRun(runId, failed(error, traffic), deps).catch(() => undefined);
    throw error;
  }
  await rememberThrottle(request.settings.name, error, deps);
  const interrupted = request.signals.stop.aborted;
  return await endRun(
    runId,
    { ...failed(error, traffic), ...(interrupted ? { status: 'interrupted' } : {}) },
    deps,
  );
}

/** Journals when the service may be called again, if it answered with such a time; every command obeys it. */
export async function rememberThrottle(
  account: string,
  error: unknown,
  { journal, clock }: { readonly journal: Pick<Journal, 'rememberThrottle'>; readonly clock: Clock },
): Promise<void> {
  if (!(error instanceof ServiceError) || error.kind !== 'throttled' || error.retryAfterMs === undefined)
    return;
  await journal.rememberThrottle(account, clock.nowMs() + error.retryAfterMs);
}

function failed(error: unknown, traffic: Traffic): Ending & { error: RunFailure } {
  return { status: 'failed', plan: null, traffic, error: describeFailure(error) };
}

/** An error as a code and a sentence. What is no error of ours is a bug, and says so. */
export function describeFailure(error: unknown): RunFailure {
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
  return { code: 'internal', message: `a bug in rolecall: ${message}. Please report it` };
}
