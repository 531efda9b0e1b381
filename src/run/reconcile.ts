// One run of one account: observe → check → plan → journal → apply → verify → journal. Each step has its own file.
import { changesSince, releasedBy } from '../core/plan-changes.ts';
import { sharedToken } from '../core/identity.ts';
import { pausedError } from '../core/operator.ts';
import type { RunMode } from '../core/journal.ts';
import { onlyOf, type Plan, type ReviewedPlan } from '../core/plan.ts';
import type { Lease } from '../core/ports/locks.ts';
import type { AccountState, AppliedRun, NewRun, RunEnd } from '../core/ports/journal.ts';
import type { ServiceReader } from '../core/ports/service.ts';
import { decide, type Decision, FREE, LISTS_ACCEPTED, takeApproval } from './approval.ts';
import { inheritedPause, watchChanges } from './changes-during-run.ts';
import { executePlan, type PlannedRun } from './execute-plan.ts';
import { takeLock } from './lease.ts';
import { type Observation, observe, refuseForeignEntries } from './observe.ts';
import { settleEarlierOperations } from './doubtful-operations.ts';
import { planAccount, type Planned } from './plan-account.ts';
import {
  type AccountRequest,
  type ApplyDeps,
  type DryRunDeps,
  type JournaledRun,
  type ReadingRun,
  type ReconcileOptions,
  type Run,
} from './request.ts';
import { type Ending, endRun, failRun, LOCK_LOST, NO_TRAFFIC, type RunResult } from './run-result.ts';

const PLAN_STALE = {
  code: 'plan_stale',
  message:
    'the account, its file or its history changed since this plan was made, so it no longer matches; nothing was written. Run `rolecall plan` again and review the new plan, or apply this one with the store that it was made with',
};
/** The dry run: observes, plans, journals the run as `planned`, and writes nothing to the service. Takes no lease. */
export async function dryRun(request: AccountRequest, deps: DryRunDeps): Promise<RunResult> {
  const runId = request.lease?.runId ?? deps.newRunId();
  const run = await beginRun({ runId, request, deps }, 'plan');
  let reader: ServiceReader | null = null;
  try {
    reader = await deps.service.reader(request.settings, request.signals);
    const before = await deps.journal.accountState(request.settings.name);
    const observation = await observe({ ...run, reader }, { state: before, writes: false });
    const { state } = observation;
    let planned = await planAccount(run, observation);
    // Only the daemon's own dry run takes or ends an approval; a dry run of a command leaves it unchanged.
    const isPreview = request.trigger === 'cli';
    const approval =
      isPreview || planned.areListsGood ? FREE : await takeApproval({ ...run, state }, planned, 'plan');
    const isAccepted = approval.verdict === 'approved';
    if (isAccepted) planned = await planAccount(run, observation, LISTS_ACCEPTED);
    const { plan } = planned;
    // The operator may still reject the lists of a preview that shrank; those of an approved plan were accepted.
    const good = plan.status !== 'blocked' && (isAccepted || observation.isGood);
    const recorded = recordOf(run, { observation, plan, good });
    const pending = isPreview ? {} : { pending: good ? null : plan.digest };
    const { warnings } = approval;
    const ended = { plan, lists: observation, traffic: reader.traffic() };
    return await endRun(run, { ...ended, status: plan.status, recorded, warnings, ...pending });
  } catch (error) {
    return await failRun(run, error, reader?.traffic() ?? NO_TRAFFIC);
  }
}

/** Without a run, `heldBy` is the holder of the lock. */
export type ReconcileResult = RunResult | { readonly heldBy: string };

export interface LockOptions {
  readonly lockTimeoutMs: number;
  /** Reads the account's files again after a wait for the lock: they may have changed, and been applied, meanwhile. */
  readonly reread?: () => Promise<AccountRequest>;
}

/** A run that applies its plan. Waits for the account's lease, and resolves with its holder when the wait fails. */
export async function reconcile(
  request: AccountRequest,
  deps: ApplyDeps,
  options: ReconcileOptions & LockOptions,
): Promise<ReconcileResult> {
  const runId = deps.newRunId();
  let waited = false;
  const lock = await takeLock({ account: request.settings.name, runId }, deps, {
    timeoutMs: options.lockTimeoutMs,
    stop: request.signals.stop,
    onWait(heldBy) {
      waited = true;
      request.progress?.({ type: 'lock', heldBy, forMs: options.lockTimeoutMs });
    },
  });
  if ('heldBy' in lock) return lock;
  const { lease } = lock;
  try {
    const current = waited && options.reread !== undefined ? await options.reread() : request;
    return await reconcileLeased(current, lease, deps, options);
  } finally {
    // A lease that could not be given back ends by itself.
    await deps.locks.release(lease).catch(() => undefined);
  }
}

/** The same run by a process that holds the account's lease. */
export async function reconcileLeased(
  request: AccountRequest,
  lease: Lease,
  deps: ApplyDeps,
  options: ReconcileOptions,
): Promise<RunResult> {
  const run = { ...(await beginRun({ runId: lease.runId, request, deps }, options.mode)), lease };
  const { settings, signals } = request;
  let opened: ServiceReader | null = null;
  try {
    let change = await watchChanges(run);
    const reader = await deps.service.reader(settings, signals);
    opened = reader;
    // The lists of an empty account carry no id, so two accounts with one token would both write to it.
    const claim = await deps.journal.claimToken(lease, await deps.service.tokenKey(settings, signals));
    if ('usedBy' in claim) throw sharedToken(claim.usedBy);
    const reading = { ...run, reader };
    const observation = await observeSettled(reading, claim.state);
    // The account has inherited the pause of its former name.
    if (observation.formerName !== null) change = await watchChanges(run);
    const decided = await decide(run, observation, options);
    await options.onPlan?.(decided.planned.plan, run.runId);
    const ending = await endingWithoutWrites(run, observation, decided, options);
    if (ending !== null) return await endRun(run, { ...ending, traffic: reader.traffic() });
    return await applyPlan({ ...reading, observation, change, decided }, options.continued ?? null);
  } catch (error) {
    return await failRun(run, error, opened?.traffic() ?? NO_TRAFFIC);
  }
}

/** How a run ends that writes nothing: a guard, a pause or an approval stops it, or its plan is not the agreed one. */
async function endingWithoutWrites(
  run: LeasedRun,
  observation: Observation,
  { planned, approval, pause, keptDeletes }: Decision,
  { agreed }: ReconcileOptions,
): Promise<Omit<Ending, 'traffic'> | null> {
  const { plan, areListsGood: good } = planned;
  const ended = { plan, lists: observation, recorded: recordOf(run, { observation, plan, good }) };
  const inherited = await inheritedPause(run, observation);
  const isBlocked = plan.status === 'blocked';
  const waits = approval.verdict === 'waits';
  if (isBlocked || (waits && keptDeletes === null) || inherited.length > 0 || pause?.onlyDeletes === false)
    return {
      ...ended,
      status: plan.status,
      warnings: [...approval.warnings, ...inherited],
      ...(waits ? { pending: plan.digest } : {}),
      ...(pause === null || isBlocked ? {} : { error: pausedError(pause) }),
    };
  if (agreed === undefined || agreed.digest === plan.digest) return null;
  const { reviewed = null } = agreed;
  const changes = reviewed === null ? [] : changesSince(reviewed, plan, observation.observed);
  return { ...ended, status: 'failed', warnings: changes, error: PLAN_STALE };
}

interface LeasedRun extends JournaledRun {
  readonly lease: Lease;
}

interface DecidedRun extends LeasedRun, Pick<PlannedRun, 'reader' | 'observation' | 'change'> {
  readonly decided: Decision;
}

/** Journals what is applied, and applies it. */
async function applyPlan(
  { decided: { planned, approval, keptDeletes }, ...run }: DecidedRun,
  continued: ReviewedPlan | null,
): Promise<RunResult> {
  const { observation, lease, deps, reader } = run;
  const { plan } = planned;
  // Another account may have recorded the same entries at the same moment: one of the two sees it here.
  if (plan.operations.length > 0) await refuseForeignEntries(deps.journal, run.request, observation);
  const applied = keptDeletes === null ? planned : { ...planned, plan: onlyOf('create', plan) };
  // Otherwise neither the commit nor the names in its files count as applied.
  const remembered = planned.appliesCommit ? rememberedOf(run, observation, applied) : null;
  const recorded = recordOf(run, { observation, plan, good: planned.areListsGood });
  const execution = { ...run, planned, warnings: approval.warnings, keptDeletes, continued };
  if (plan.operations.length + plan.held.length === 0 && remembered === null)
    return await executePlan({ ...execution, recorded });
  await deps.journal.recordObservation(recorded.observation, plan);
  if (remembered !== null && (await deps.journal.rememberApplied(lease, remembered)) === 'lock_lost') {
    const ended = { plan, lists: observation, traffic: reader.traffic() };
    return await endRun(run, { ...ended, status: 'interrupted', error: LOCK_LOST });
  }
  return await executePlan(execution);
}

/**
 * Observes the account. When operations of earlier runs are open, waits for those that no list shows until `settle` has
 * passed, settles them, and observes the account again.
 */
async function observeSettled(run: ReadingRun, before: AccountState): Promise<Observation> {
  const { progress, signals } = run.request;
  const { clock } = run.deps;
  const readAtMs = clock.nowMs();
  const first = await observe(run, { state: before, writes: true });
  const { state } = first;
  const open = await settleEarlierOperations(run, first, readAtMs);
  if (open === null) return first;
  if (open.operations > 0) {
    progress?.({ type: 'earlier', ...open });
    await clock.sleep(open.forMs, signals.stop);
    // A run that was stopped while it waited has proved nothing, and fails at its next request.
    const isOver = !signals.stop.aborted;
    if (isOver) await settleEarlierOperations(run, await observe(run, { state, writes: true }), Infinity);
  }
  // Only the observation that adopted the renamed account reports its former name.
  return { ...(await observe(run, { state, writes: true })), formerName: first.formerName };
}

async function beginRun<Deps extends DryRunDeps>(run: Run<Deps>, mode: RunMode): Promise<JournaledRun<Deps>> {
  const { settings, trigger, actor = null, commit: configCommit } = run.request;
  const { name: account, configDigest } = settings;
  const about = { id: run.runId, account, trigger, actor, mode, configDigest, configCommit };
  const begun: NewRun = { ...about, startedAtMs: run.deps.clock.nowMs() };
  await run.deps.journal.beginRun(begun);
  return { ...run, begun };
}

/**
 * What the journal gets of the observation and the plan, before any write. `good`: whether the lists become the account's last
 * good ones; never when a guard rejects them.
 */
function recordOf(
  { runId, request }: Run<DryRunDeps>,
  of: { readonly observation: Observation; readonly plan: Plan; readonly good: boolean },
): NonNullable<RunEnd['recorded']> {
  const { observation, plan, good } = of;
  const { remoteAccountId, takenAtMs, observed, missingUse } = observation;
  const about = { runId, account: request.settings.name, remoteAccountId, phase: 'before' } as const;
  return { observation: { ...about, takenAtMs, observed, good, missingUse }, plan };
}

/**
 * What an applied plan leaves in the journal: the entries that the file names are adopted, the lines of `allowedDeletes`
 * that release its deletes are used up, and its commit is the last applied one. null when nothing changes.
 */
function rememberedOf(
  { runId, request: { commit, settings } }: LeasedRun,
  { observed, remoteAccountId, state }: Observation,
  { plan, sourceAccepted, named, history }: Planned,
): AppliedRun | null {
  // Without a commit, an accepted run clears the recorded one: the next runs must not be held for ever.
  const applied = commit === null ? null : { sha: commit.sha, committedAt: commit.committedAt };
  const isSame = !sourceAccepted || applied?.sha === state.lastAppliedCommit?.sha;
  const { owned, knownNames } = history;
  const unowned = named(observed).filter((key) => !owned.has(key) || !knownNames.has(key));
  const released = releasedBy(settings.desired, plan, history.released);
  const isReleased = released.run !== null || released.entries.length > 0;
  // Nothing is to be written, and nothing will be sent.
  if (isSame && !isReleased && unowned.length + plan.operations.length === 0) return null;
  return { runId, remoteAccountId, named: unowned, released, commit: sourceAccepted ? applied : 'unchanged' };
}
