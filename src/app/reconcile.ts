// One run of one account: observe → check → plan → journal → apply → verify → journal (contract, section 5).
// A list of steps; each step is a file of its own.
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
 * `accept` is what the apply that it is the preview of accepts. Throws LargeAccount where the reader is limited.
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
    // Only a run that writes makes lists that shrank the good ones: a preview that accepts them may be answered “no”.
    const good = observation.implausible === null && plan.status !== 'blocked';
    await recordPlan(runId, { observation, plan, good }, request, deps);
    // The daemon's own dry run says that nothing waits for approval any more; anybody else's changes nothing there.
    const pending = request.trigger === 'cli' ? {} : { pending: null };
    return await endRun(runId, { status: plan.status, plan, traffic: reader.traffic(), ...pending }, deps);
  } catch (error) {
    if (error instanceof LargeAccount) return await leaveToProcess(runId, error, deps);
    return await failRun(runId, error, request, deps, reader?.traffic() ?? NO_TRAFFIC);
  }
}

/** No run: `heldBy` has the lock, or (null) another process had made the run when it was this one's turn. */
export type ReconcileResult = RunResult | { readonly heldBy: string | null };

export interface LockOptions {
  readonly lockTimeoutMs: number;
  readonly onWait?: (heldBy: string) => void;
  /** What the account's files say when the lock was waited for: they may have changed, and been applied, meanwhile. */
  readonly reread?: () => Promise<AccountRequest>;
}

/** A run that writes what its plan says. Waits for the account's lock; resolves with its holder when that fails. */
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
    // An empty account has no id in its lists, and two runs that both see it empty would both write.
    const other = await deps.journal.claimToken(lease, await deps.service.tokenKey(settings, signals));
    if (other !== null) throw sharedToken(other);
    let observation = await observe(reader, runId, request, deps);
    const agreed =
      options.approvals === true ? await deps.journal.approvedPlan(settings.name) : options.agreed;
    const isOld = await settleEarlierOperations(reader, runId, observation, request, deps);
    if (isOld) {
      // The name that it had is told once, by the observation that carried the history on.
      const { formerName } = observation;
      observation = { ...(await observe(reader, runId, request, deps)), formerName };
    }
    let planned = await planAgreed(agreed ?? null, observation, options.accept, request, deps);
    const word =
      options.approvals === true ? await takeApproval(planned.plan, options.mode, request, deps) : FREE;
    if (planned.plan.status === 'blocked' && word.verdict === 'approved') {
      planned = await planAccount(observation, { ...options.accept, shrink: true }, request, deps);
    }
    const { plan } = planned;
    await recordPlan(runId, { observation, plan, good: plan.status !== 'blocked' }, request, deps);
    await options.onPlan?.(plan, runId);

    const pause = await inheritedPause(observation, request, deps);
    if (plan.status === 'blocked' || word.verdict === 'waits' || pause.length > 0) {
      const waits = word.verdict === 'waits' ? { pending: plan.digest } : {};
      const warnings = [...word.warnings, ...pause];
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
    if ((await remember(runId, lease, observation, planned, request, deps)) === 'lock_lost') {
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
      warnings: word.warnings,
    });
  } catch (error) {
    if (error instanceof LargeAccount) return await leaveToProcess(runId, error, deps);
    return await failRun(runId, error, request, deps, reader?.traffic() ?? NO_TRAFFIC);
  }
}

/** The plan by all that is known; or as it was agreed to, where it was the first one and the account shows the same. */
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

/** Nothing was written yet, so the run can be made from its beginning by a process that has time for it. */
async function leaveToProcess(runId: string, error: LargeAccount, { journal }: DryRunDeps): Promise<never> {
  await journal.forgetRun(runId);
  throw error;
}

/** The daemon learns of the pause of a renamed account only in its first run under the new name. */
async function inheritedPause(
  { formerName }: Observation,
  { settings, trigger }: AccountRequest,
  { journal }: ApplyDeps,
): Promise<Warning[]> {
  if (formerName === null || !['schedule', 'start', 'catch_up'].includes(trigger)) return [];
  if (!(await journal.accountState(settings.name)).paused) return [];
  const message = `“${formerName}” was paused, and so is this account now; nothing was written. \`rolecall resume ${settings.name}\` goes on`;
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

/** The snapshot before anything is written, and the plan. Lists that a guard refuses never become the good ones. */
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

/** What the file names is rolecall's from now on, and its commit is what the account stands at. */
async function remember(
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
