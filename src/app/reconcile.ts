// One run of one account: observe → check → plan → journal → apply → verify → journal. Each step has its own file.
import type { Warning } from '../core/catalog.ts';
import { sharedToken } from '../core/identity.ts';
import type { AgreedPlan } from '../core/operator.ts';
import { LargeAccount } from '../core/errors.ts';
import type { Plan } from '../core/plan.ts';
import type { Lease, SentCommit } from '../core/locks.ts';
import type { ServiceReader, Traffic } from '../core/ports.ts';
import type { ApprovalVerdict } from './approval.ts';
import { takeApproval } from './approval.ts';
import { executePlan } from './execute-plan.ts';
import { keepLock, takeLock } from './lease.ts';
import type { Observation } from './observe.ts';
import { observe } from './observe.ts';
import { settleEarlierOperations } from './unsettled-operations.ts';
import type { Planned } from './plan-account.ts';
import { planAccount } from './plan-account.ts';
import type {
  Acceptance,
  AccountRequest,
  ApplyDeps,
  DryRunDeps,
  PlanningDeps,
  ReconcileOptions,
} from './request.ts';
import { ACCEPT_NOTHING } from './request.ts';
import type { RunResult } from './run-result.ts';
import { endRun, failRun, LOCK_LOST } from './run-result.ts';

const FREE: ApprovalVerdict = { verdict: 'free', warnings: [] };
const NO_TRAFFIC: Traffic = { requests: 0, retries: 0 };

/**
 * The dry run: observes, plans, journals the run as `planned`, and writes nothing to the service. Takes no lock.
 * `accept` is what the apply accepts that this run is a preview of. Throws LargeAccount where the reader is limited.
 */
export async function dryRun(
  request: AccountRequest,
  deps: DryRunDeps,
  accept: Acceptance = ACCEPT_NOTHING,
): Promise<RunResult> {
  const runId = deps.newRunId();
  await beginRun(runId, request, deps, 'plan');
  let reader: ServiceReader | null = null;
  try {
    reader = await deps.service.reader(request.settings, request.signals);
    const observation = await observe(reader, runId, request, deps);
    const { plan } = await planAccount(observation, accept, request, deps);
    // Lists that shrank become the good ones only in a run that writes: the operator may still reject this preview.
    const good = observation.implausible === null && plan.status !== 'blocked';
    await recordPlan(runId, { observation, plan, good }, request, deps);
    // Only the daemon's own dry run ends a pending approval; a dry run of a command leaves it unchanged.
    const pending = request.trigger === 'cli' ? {} : { pending: null };
    return await endRun(runId, { status: plan.status, plan, traffic: reader.traffic(), ...pending }, deps);
  } catch (error) {
    if (error instanceof LargeAccount) return await leaveToRunProcess(runId, error, deps);
    return await failRun(runId, error, request, deps, reader?.traffic() ?? NO_TRAFFIC);
  }
}

/** Without a run, `heldBy` is the holder of the lock, or null when another process has made the run already. */
export type ReconcileResult = RunResult | { readonly heldBy: string | null };

export interface LockOptions {
  readonly lockTimeoutMs: number;
  readonly onWait?: (heldBy: string) => void;
  /** Reads the account's files again after a wait for the lock: they may have changed, and been applied, meanwhile. */
  readonly reread?: () => Promise<AccountRequest>;
}

/** A run that applies its plan. Waits for the account's lock, and resolves with its holder when the wait fails. */
export async function reconcile(
  request: AccountRequest,
  deps: ApplyDeps,
  options: ReconcileOptions & LockOptions,
): Promise<ReconcileResult> {
  const runId = deps.newRunId();
  let waited = false;
  const lock = await takeLock(request.settings.name, runId, deps.locks, deps.clock, {
    timeoutMs: options.lockTimeoutMs,
    stop: request.signals.stop,
    onWait(heldBy) {
      waited = true;
      options.onWait?.(heldBy);
    },
  });
  if ('heldBy' in lock) return lock;
  const release = keepLock(lock.lease, deps.locks, deps.clock, () => undefined);
  try {
    if ((await options.isMade?.()) === true) return { heldBy: null };
    const current = waited && options.reread !== undefined ? await options.reread() : request;
    await beginRun(runId, current, deps, options.mode);
    return await runLocked(runId, lock.lease, current, deps, options);
  } finally {
    await release();
  }
}

async function runLocked(
  runId: string,
  lease: Lease,
  request: AccountRequest,
  deps: ApplyDeps,
  options: ReconcileOptions,
): Promise<RunResult> {
  const { settings, signals } = request;
  let reader: ServiceReader | null = null;
  try {
    reader = await deps.service.reader(settings, signals);
    // The lists of an empty account carry no id, so two accounts with one token would both write to it.
    const other = await deps.journal.claimToken(lease, await deps.service.tokenKey(settings, signals));
    if (other !== null) throw sharedToken(other);
    let observation = await observe(reader, runId, request, deps);
    const agreed =
      options.approvals === true ? await deps.journal.approvedPlan(settings.name) : options.agreed;
    const isOld = await settleEarlierOperations(reader, runId, observation, request, deps);
    if (isOld) {
      // Only the observation that adopted the renamed account reports its former name.
      const { formerName } = observation;
      observation = { ...(await observe(reader, runId, request, deps)), formerName };
    }
    let planned = await planAgreed(agreed ?? null, observation, options.accept, request, deps);
    const approval =
      options.approvals === true ? await takeApproval(planned.plan, options.mode, request, deps) : FREE;
    if (planned.plan.status === 'blocked' && approval.verdict === 'approved') {
      planned = await planAccount(observation, { ...options.accept, shrink: true }, request, deps);
    }
    const { plan } = planned;
    await recordPlan(runId, { observation, plan, good: plan.status !== 'blocked' }, request, deps);
    await options.onPlan?.(plan, runId);

    const pause = await inheritedPause(observation, request, deps);
    if (plan.status === 'blocked' || approval.verdict === 'waits' || pause.length > 0) {
      const waits = approval.verdict === 'waits' ? { pending: plan.digest } : {};
      const warnings = [...approval.warnings, ...pause];
      return await endRun(
        runId,
        { status: plan.status, plan, traffic: reader.traffic(), warnings, ...waits },
        deps,
      );
    }
    if (options.agreed !== undefined && options.agreed.digest !== plan.digest) {
      const error = {
        code: 'plan_stale',
        message:
          'the account changed since this plan was made, so it no longer matches; nothing was written. Run `rolecall plan` again and review the new plan',
      };
      return await endRun(runId, { status: 'failed', plan, traffic: reader.traffic(), error }, deps);
    }
    if ((await recordApplied(runId, lease, observation, planned, request, deps)) === 'lock_lost') {
      const ending = { status: 'interrupted', plan, traffic: reader.traffic(), error: LOCK_LOST } as const;
      return await endRun(runId, ending, deps);
    }
    return await executePlan({
      runId,
      lease,
      reader,
      observation,
      planned,
      request,
      deps,
      onProgress: options.onProgress,
      warnings: approval.warnings,
    });
  } catch (error) {
    if (error instanceof LargeAccount) return await leaveToRunProcess(runId, error, deps);
    return await failRun(runId, error, request, deps, reader?.traffic() ?? NO_TRAFFIC);
  }
}

/** Plans the account. Returns the agreed plan where it was the account's first plan and the lists have not changed. */
async function planAgreed(
  agreed: AgreedPlan | null,
  observation: Observation,
  ...rest: [Acceptance, AccountRequest, PlanningDeps]
): Promise<Planned> {
  const planned = await planAccount(observation, ...rest);
  if (agreed === null || agreed.firstObserved === null || planned.plan.digest === agreed.digest)
    return planned;
  const first = await planAccount({ ...observation, hasSnapshot: false }, ...rest);
  const { digest, observedDigest } = first.plan;
  return digest === agreed.digest && observedDigest === agreed.firstObserved ? first : planned;
}

/** Forgets the run, which has written nothing yet, so that a separate process can make it from the beginning. */
async function leaveToRunProcess(
  runId: string,
  error: LargeAccount,
  { journal }: DryRunDeps,
): Promise<never> {
  await journal.forgetRun(runId);
  throw error;
}

/** The pause of a renamed account, which the daemon notices only in the first run under the new name. */
async function inheritedPause(
  { formerName }: Observation,
  { settings, trigger }: AccountRequest,
  { journal }: ApplyDeps,
): Promise<Warning[]> {
  if (formerName === null || !['schedule', 'start', 'catch_up'].includes(trigger)) return [];
  if (!(await journal.accountState(settings.name)).paused) return [];
  const message = `“${formerName}” was paused, so this account is paused too; nothing was written. Run \`rolecall resume ${settings.name}\` to continue`;
  return [{ code: 'paused', message }];
}

async function beginRun(
  runId: string,
  { settings, trigger, commit }: AccountRequest,
  { journal, clock }: DryRunDeps,
  mode: ReconcileOptions['mode'],
): Promise<void> {
  await journal.beginRun({
    id: runId,
    account: settings.name,
    trigger,
    mode,
    startedAtMs: clock.nowMs(),
    configDigest: settings.configDigest,
    configCommit: commit,
  });
}

/** Journals the snapshot before any write, and the plan. Lists that a guard rejects never become the good ones. */
async function recordPlan(
  runId: string,
  {
    observation,
    plan,
    good,
  }: { readonly observation: Observation; readonly plan: Plan; readonly good: boolean },
  { settings }: AccountRequest,
  { journal }: DryRunDeps,
): Promise<void> {
  await journal.recordObservation({
    runId,
    account: settings.name,
    remoteAccountId: observation.remoteAccountId,
    phase: 'before',
    takenAtMs: observation.takenAtMs,
    observed: observation.observed,
    good,
    missing: observation.missing,
  });
  await journal.recordPlan(runId, plan);
}

/** Adopts the entries that the file names, and records the commit as the last applied one. */
async function recordApplied(
  runId: string,
  lease: Lease,
  { observed, remoteAccountId }: Observation,
  { sourceAccepted, named }: Planned,
  { commit }: AccountRequest,
  { journal }: ApplyDeps,
): Promise<SentCommit> {
  const accepted = commit !== null && sourceAccepted;
  return await journal.rememberApplied(lease, {
    runId,
    remoteAccountId,
    named: named(observed),
    commit: accepted ? { sha: commit.sha, committedAt: commit.committedAt } : null,
  });
}
