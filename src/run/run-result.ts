// Ends a run in every case: counts and journals the result, and returns it as a value.
import { type Kind, KINDS, type Warning } from '../core/catalog.ts';
import { ConfigError, type ConfigIssue, KnownError, ServiceError, StoreError } from '../core/errors.ts';
import {
  cutSubject,
  type OperationStatus,
  type RunMode,
  type RunStatus,
  type Trigger,
} from '../core/journal.ts';
import type { RunRecord } from '../core/schemas.ts';
import type { Plan } from '../core/plan.ts';
import type { Clock } from '../core/ports/clock.ts';
import type { Lease } from '../core/ports/locks.ts';
import type { Journal, NewOperation, NewRun, OperationResult, RunEnd } from '../core/ports/journal.ts';
import type { Traffic } from '../core/ports/service.ts';
import type { EndedOperation, EndedRun } from '../core/ports/journal-reader.ts';
import type { Observation } from './observe.ts';
import type { DryRunDeps, JournaledRun } from './request.ts';
import type { ConfigCommit } from '../core/settings.ts';

export interface RunFailure {
  readonly code: string;
  readonly message: string;
}

/** This process was paused, or could not renew its lock: another one may have taken over, and have journaled the end of this run. */
export const LOCK_LOST = {
  code: 'lock_lost',
  message:
    'the lock of the account was not renewed in time, so another process may have taken over, and nothing more was sent; the next run finds out which operations happened',
} as const satisfies RunFailure;

const INTERRUPTED = {
  code: 'interrupted',
  message: 'the run was interrupted and started no further operation',
} as const satisfies RunFailure;

/** Why a run starts nothing more, whatever it has done; null while it may continue. */
export function stopReason(stop: AbortSignal): typeof LOCK_LOST | typeof INTERRUPTED | null {
  if (!stop.aborted) return null;
  const reason: unknown = stop.reason;
  return reason instanceof StoreError && reason.code === LOCK_LOST.code ? LOCK_LOST : INTERRUPTED;
}

/** The result of a run: what the caller reports, and what the journal has under `runId`. */
export interface RunResult {
  readonly runId: string;
  readonly status: RunStatus;
  readonly plan: Plan | null;
  readonly failure: RunFailure | null;
  readonly ended: EndedRun;
  /** How many entries of each kind its last lists showed; empty when it read none. */
  readonly entryCounts: ReadonlyMap<Kind, number>;
  /** Whether the outcome of a create is unknown: the next run settles it, and is due at once. */
  readonly isDoubtful: boolean;
}

export interface Ending {
  readonly status: RunStatus;
  readonly plan: Plan | null;
  readonly traffic: Traffic;
  readonly error?: RunFailure;
  readonly warnings?: readonly Warning[];
  /** The digest of the plan that waits for approval; null: none waits; left out: unchanged. */
  readonly pending?: string | null;
  /** What was observed and planned, if it is not journaled yet. */
  readonly recorded?: RunEnd['recorded'];
  /** The last lists that the run read. */
  readonly lists?: Pick<Observation, 'observed' | 'remoteAccountId'>;
  /** The journaled operations in their order, and the results by `seq` of those that were tried. */
  readonly operations?: readonly NewOperation[];
  readonly results?: ReadonlyMap<number, OperationResult>;
}

export const NO_TRAFFIC: Traffic = { requests: 0, retries: 0 };

/** Journals the end of a run. A run that another process has ended meanwhile is returned as interrupted. */
export async function endRun(
  { begun, request, deps: { journal, clock } }: Pick<JournaledRun<DryRunDeps>, 'begun' | 'request' | 'deps'>,
  end: Ending,
): Promise<RunResult> {
  const reason = end.status === 'interrupted' ? stopReason(request.signals.stop) : null;
  const ending = reason === null ? end : { error: reason, ...end };
  const finishedAtMs = clock.nowMs();
  const result = resultOf(begun, ending, finishedAtMs);
  const { run, operations, warnings } = result.ended;
  const { created, deleted, held, kept, failed } = run;
  const isOurs = await journal.endRun(begun.id, {
    status: ending.status,
    finishedAtMs,
    counts: ending.plan === null ? null : { created, deleted, held, kept, failed },
    traffic: ending.traffic,
    planDigest: run.planDigest,
    errorCode: run.errorCode,
    error: run.error,
    warnings,
    ...(ending.pending === undefined ? {} : { pending: ending.pending }),
    ...(ending.recorded === undefined ? {} : { recorded: ending.recorded }),
  });
  if (isOurs) return result;
  const lost = { errorCode: LOCK_LOST.code, error: LOCK_LOST.message };
  return {
    ...result,
    status: 'interrupted',
    failure: LOCK_LOST,
    ended: { ...result.ended, operations, run: { ...run, status: 'interrupted', ...lost } },
  };
}

/** The result of a run that ended at this time. */
export function resultOf(begun: NewRun, ending: Ending, finishedAtMs: number): RunResult {
  const { status, plan, traffic, error, lists } = ending;
  // The guard that blocked a plan is its first warning.
  const [blocking] = status === 'blocked' ? (plan?.warnings ?? []) : [];
  const reason = error ?? blocking;
  const operations = operationsOf(begun.id, ending);
  const { configCommit: commit } = begun;
  const run: RunRecord = {
    id: begun.id,
    account: begun.account,
    remoteAccountId: lists?.remoteAccountId ?? null,
    trigger: begun.trigger,
    actor: begun.actor ?? null,
    mode: begun.mode,
    status,
    startedAt: new Date(begun.startedAtMs).toISOString(),
    finishedAt: new Date(finishedAtMs).toISOString(),
    configDigest: begun.configDigest,
    configCommit: commit?.sha ?? null,
    configDirty: commit?.dirty ?? null,
    configAuthoredAt: commit?.authoredAt ?? null,
    configAuthor: commit?.author ?? null,
    configSubject: commit === null ? null : cutSubject(commit.subject),
    planDigest: plan?.digest ?? null,
    plannedCreates: plan?.summary.create ?? null,
    plannedDeletes: plan?.summary.delete ?? null,
    ...countsOf(plan, operations, ending.results),
    ...traffic,
    errorCode: reason?.code ?? null,
    error: reason?.message ?? null,
  };
  const warnings = [...(plan?.warnings ?? []), ...(ending.warnings ?? [])];
  const entryCounts = new Map(
    lists === undefined ? [] : KINDS.map((kind) => [kind, lists.observed[kind].length]),
  );
  return {
    runId: begun.id,
    status,
    plan,
    failure: error ?? null,
    ended: { run, operations, warnings, plan },
    entryCounts,
    // A delete is simply sent again by the next run of the schedule; one at once could go on for ever.
    isDoubtful:
      status === 'partial' &&
      operations.some((each) => each.action === 'create' && each.status === 'unknown'),
  };
}

/** The operations with their results. One without a result was planned and not tried. */
function operationsOf(runId: string, { operations = [], results = new Map() }: Ending): EndedOperation[] {
  return operations.map((row, index): EndedOperation => {
    const seq = index + 1;
    const result = results.get(seq);
    if (result === undefined) {
      const status = row.status === 'held' ? 'held' : 'skipped';
      return { ...row, runId, seq, status, attempts: 0, httpStatus: null };
    }
    const { status, rule, reason, attempts, httpStatus, entry } = result;
    const remoteId = entry?.remoteId ?? row.remoteId;
    return { ...row, runId, seq, remoteId, status, rule, reason, attempts, httpStatus };
  });
}

function countsOf(
  plan: Plan | null,
  operations: readonly EndedOperation[],
  results: Ending['results'],
): NonNullable<RunEnd['counts']> {
  const done = operations.filter(({ status, attempts }) => status === 'done' && attempts > 0);
  const existed = ({ seq }: EndedOperation): boolean => results?.get(seq)?.entry?.existed === true;
  const count = (...wanted: readonly OperationStatus[]): number =>
    operations.filter(({ seq, status }) => results?.has(seq) === true && wanted.includes(status)).length;
  return {
    created: done.filter((operation) => operation.action === 'create' && !existed(operation)).length,
    deleted: done.filter(({ action }) => action === 'delete').length,
    held: (plan?.summary.hold ?? 0) + count('held'),
    kept: plan?.summary.keep ?? 0,
    failed: count('failed', 'unknown'),
  };
}

/**
 * Ends a run that could not observe or plan. Throws a StoreError on, unless another process has taken over the account;
 * journals any other failure.
 */
export async function failRun(
  run: JournaledRun<DryRunDeps>,
  error: unknown,
  traffic: Traffic,
): Promise<RunResult> {
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
    const reason = stopReason(stop);
    if (reason?.code === LOCK_LOST.code) return reason;
    return { code: INTERRUPTED.code, message: 'interrupted before the account was read' };
  }
  if (error instanceof KnownError) return { code: error.code, message: error.message };
  const message = error instanceof Error ? error.message : String(error);
  return { code: 'internal', message: `a bug in rolecall: ${message}. Report it with this message` };
}

/**
 * `converged` only when nothing remains. Failed, unknown and untried operations outweigh held ones. `unverified`: the last
 * lists do not show a confirmed change or a desired entry.
 */
export function runStatus(of: {
  readonly statuses: readonly OperationStatus[];
  readonly interrupted: boolean;
  readonly unverified: boolean;
}): RunStatus {
  const { statuses, interrupted, unverified } = of;
  if (interrupted) return 'interrupted';
  const bad: readonly OperationStatus[] = ['failed', 'unknown', 'skipped', 'pending', 'sent'];
  if (unverified || statuses.some((status) => bad.includes(status))) return 'partial';
  return statuses.includes('held') ? 'held' : 'converged';
}

interface BrokenAccount {
  readonly account: string;
  /** The errors of its file. */
  readonly issues: readonly ConfigIssue[];
  readonly trigger: Trigger;
  readonly actor?: string | null;
  readonly mode: RunMode;
  readonly commit: ConfigCommit | null;
  readonly lease?: Lease;
}

/** Journals the failed run of an account whose configuration does not validate. */
export async function journalBrokenAccount(
  { account, issues, trigger, actor = null, mode, commit, lease }: BrokenAccount,
  deps: DryRunDeps,
): Promise<RunResult> {
  const runId = lease?.runId ?? deps.newRunId();
  const failure = describeFailure(new ConfigError(issues));
  const startedAtMs = deps.clock.nowMs();
  const about = { id: runId, account, trigger, actor, mode, startedAtMs, configDigest: null };
  const run = { ...about, configCommit: commit };
  await deps.journal.recordFailedRun(run, failure);
  return resultOf(run, { status: 'failed', plan: null, traffic: NO_TRAFFIC, error: failure }, startedAtMs);
}
