// Plans an account: gathers the history from the journal and git, and calls the pure planner of core.
import { type DesiredCatalog, KINDS, type ObservedCatalog, type Warning } from '../core/catalog.ts';
import { nameKey, globMatcher } from '../core/names.ts';
import { type EntryKey, entryKey } from '../core/usage.ts';
import { makePlan, type PlanInput } from '../core/make-plan.ts';
import { type History, judgeHistory } from '../core/history.ts';
import {
  hasDeletes,
  isStaleSource,
  onlyOf,
  type Plan,
  planDigest,
  type SourceAge,
  type OpenRollout,
} from '../core/plan.ts';
import { nameKeys } from '../core/diff.ts';
import { implausibleCreates } from '../core/list-plausibility.ts';
import { type FreezeWatch, watchFreeze } from './freeze.ts';
import { identityWarnings, type Observation } from './observe.ts';
import {
  ACCEPT_NOTHING,
  type Acceptance,
  type AccountRequest,
  type Guard,
  type PlanningDeps,
  type ReconcileOptions,
  type Run,
} from './request.ts';
import { firstFew } from '../core/amounts.ts';
import type { AccountState, CanaryHistory } from '../core/ports/journal.ts';

export interface Planned {
  readonly plan: Plan;
  readonly history: History;
  readonly frozen: FreezeWatch;
  /** Whether a run of the plan applies its commit: it does not wait for other accounts, and its files are committed. */
  readonly appliesCommit: boolean;
  /** Whether the lists become the last good ones: they are plausible, or an operator accepted them. */
  readonly areListsGood: boolean;
  /** Whether the configuration is not older than the last applied one as far as git knows, or an operator accepted it. */
  readonly sourceAccepted: boolean;
  /** The entries that the file names, by desired or former names; an applied run adopts them. */
  readonly named: (observed: ObservedCatalog) => EntryKey[];
}

/** Plans an account from an observation. `alsoAccepted` adds to what the request accepts. Writes nothing. */
export async function planAccount(
  { request, deps }: Pick<Run<PlanningDeps>, 'request' | 'deps'>,
  observation: Observation,
  alsoAccepted: Iterable<Guard> = [],
): Promise<Planned> {
  const accept: Acceptance = new Set([...(request.accept ?? ACCEPT_NOTHING), ...alsoAccepted]);
  const { settings, commit } = request;
  const nowMs = deps.clock.nowMs();
  const history = judgeHistory(observation.journaled, observation.observed, {
    nowMs,
    missingUse: observation.missingUse,
    hasSnapshot: observation.journaled.lastGood !== null,
    releasedRuns: observation.state.releasedRuns,
  });
  request.progress?.({ type: 'plan' });
  const source = await sourceAge(request, deps, observation.state);
  const frozen = await watchFreeze(settings.policy.freeze, settings.timezone, deps.loadCron);
  const uncommitted = uncommittedFiles(request, observation.state);
  const rollout = await openRollout(request, deps, observation.state, nowMs);
  const input: PlanInput = {
    account: settings.name,
    remoteAccountId: observation.remoteAccountId,
    now: new Date(nowMs).toISOString(),
    nowMs,
    desired: settings.desired,
    policy: settings.policy,
    observed: observation.observed,
    history,
    frozen: frozen.openAt(nowMs),
    rollout,
    source,
    uncommitted,
    acceptOlderSource: accept.has('source'),
    acceptNoEvidence: accept.has('no_evidence'),
    unknownHolders: accept.has('suspicious_list') ? missingPeople(observation) : observation.unknownHolders,
    blocked: accept.has('suspicious_list')
      ? null
      : (observation.implausible ?? implausibleCreates(settings.desired, observation.observed, history)),
    warnings: [
      ...observation.observed.warnings,
      ...identityWarnings(observation),
      ...renameWarnings(observation),
      ...rolloutWarnings(request),
    ],
    configDigest: settings.configDigest,
    configCommit: commit?.sha ?? null,
    appliedCommit: observation.state.lastAppliedCommit?.sha ?? null,
    sha256: deps.sha256,
  };
  const plan = approvable(makePlan(input), request, deps.sha256);
  return {
    plan,
    history,
    frozen,
    appliesCommit: rollout === null && uncommitted?.length === 0,
    areListsGood: plan.status !== 'blocked' && (observation.isGood || accept.has('suspicious_list')),
    sourceAccepted: !isStaleSource(source) || accept.has('source'),
    named: (observed) => namedEntries(settings.desired, observed, history),
  };
}

/** Plans the account. Returns the new plan, or the agreed one where that was its first plan and the lists have not changed. */
export async function planAgreed(
  run: Run,
  observation: Observation,
  { approvals, ...options }: ReconcileOptions,
): Promise<Planned> {
  const { request, deps } = run;
  let agreed = options.agreed ?? null;
  if (approvals === true) {
    const isApproved = observation.state.approval !== null;
    agreed = isApproved ? await deps.journal.approvedPlan(request.settings.name) : null;
  }
  const planned = await planAccount(run, observation);
  if (agreed === null || agreed.firstObserved === null || planned.plan.digest === agreed.digest)
    return planned;
  // The plan may have been made with --accept no_evidence: whoever agreed to it agreed to its deletes.
  const journaled = { ...observation.journaled, lastGood: null };
  for (const alsoAccepted of [[], ['no_evidence']] as const) {
    const first = await planAccount(run, { ...observation, journaled }, alsoAccepted);
    const { digest, observedDigest } = first.plan;
    if (digest === agreed.digest && observedDigest === agreed.firstObserved) return first;
  }
  return planned;
}

/** In mode `approve-deletes`, what the daemon lets people approve are the deletes alone. */
function approvable(plan: Plan, { settings, trigger }: AccountRequest, sha256: PlanInput['sha256']): Plan {
  if (settings.mode !== 'approve-deletes' || trigger === 'cli' || !hasDeletes(plan)) return plan;
  const { operations } = onlyOf('delete', plan);
  return { ...plan, digest: planDigest(plan.remoteAccountId, operations, sha256) };
}

/** With accepted lists, what people have is known; a service that lists no people still shows nothing. */
function missingPeople({ unknownHolders }: Observation): Observation['unknownHolders'] {
  return new Map([...unknownHolders].filter(([, why]) => why === 'no_people'));
}

function renameWarnings({ formerName }: Observation): Warning[] {
  if (formerName === null) return [];
  const message = `this account was managed as “${formerName}” until its file was renamed; its history, and its pause if there is one, now belong to the new name`;
  return [{ code: 'renamed_account', message }];
}

function rolloutWarnings({ settings: { rollout }, commit }: AccountRequest): Warning[] {
  if (rollout === undefined || rollout.after.length === 0 || commit !== null) return [];
  const message = '`rollout` has no effect, because the configuration is not in git';
  return [{ code: 'rollout_without_git', message }];
}

function namedEntries(desired: DesiredCatalog, observed: ObservedCatalog, history: History): EntryKey[] {
  return KINDS.flatMap((kind) => {
    const names = new Set(
      (desired[kind] ?? []).flatMap(({ name, formerly }) => [name, ...formerly]).map(nameKey),
    );
    return observed[kind].flatMap((entry) => {
      const key = entryKey(kind, entry.id);
      // Only a stale list shows it.
      if (history.gone.has(key)) return [];
      const requested = history.requestedNames.get(key);
      const all = [...nameKeys(entry), ...(requested === undefined ? [] : [nameKey(requested)])];
      const named = all.some((name) => names.has(name));
      return named ? [key] : [];
    });
  });
}

/** The files of the account that the daemon may not apply yet, if the configuration is in git; null when that is not known. */
function uncommittedFiles(
  { commit, lease }: AccountRequest,
  { lastAppliedCommit }: Observation['state'],
): readonly string[] | null {
  if (lease === undefined) return [];
  if (commit === null) return lastAppliedCommit === null ? [] : null;
  if (!commit.dirty) return [];
  return commit.changed === undefined ? null : [...commit.changed.values()];
}

/** Compares the configuration's commit with the one that was last applied to the account. */
async function sourceAge(
  { commit }: AccountRequest,
  { compareCommits }: PlanningDeps,
  { lastAppliedCommit }: Observation['state'],
): Promise<SourceAge> {
  if (lastAppliedCommit === null || commit?.sha === lastAppliedCommit.sha) return 'current';
  if (commit === null) return 'unknown';
  const relation = await compareCommits(commit.sha, lastAppliedCommit.sha);
  switch (relation) {
    case 'same':
    case 'descendant':
      return 'current';
    case 'ancestor':
      return 'older';
    case 'diverged':
      return 'diverged';
    case 'unknown':
      return Date.parse(commit.committedAt) < Date.parse(lastAppliedCommit.committedAt) ? 'older' : 'current';
    default:
      return relation satisfies never;
  }
}

/**
 * What the account waits for, or null. It waits while its commit changes its file, until each account of `rollout.after` has
 * applied that commit or a later one. The first run of each that ended `converged` or `held` on it must be `wait` ago. An
 * account whose latest run failed, was partial or blocked keeps the others waiting.
 */
export async function openRollout(
  { settings, commit, configured, lease }: AccountRequest,
  { journal, compareCommits }: PlanningDeps,
  { lastAppliedCommit }: Pick<AccountState, 'lastAppliedCommit'>,
  nowMs: number,
): Promise<OpenRollout | null> {
  const { name, rollout } = settings;
  if (rollout === undefined || lease === undefined || commit === null) return null;
  const applied = lastAppliedCommit?.sha ?? null;
  // What is not committed is held by another rule.
  if (commit.sha === applied || commit.dirty) return null;
  const globs = rollout.after.map(globMatcher);
  const canaries = [...configured].filter((other) => globs.some((matches) => matches(other)));
  const history = await journal.rolloutHistory(name, settings.configDigest, applied, { canaries, nowMs });
  if (history === null || canaries.length === 0) return null;
  const shown = commit.sha.slice(0, 7);
  // The commit that changed the file, so that later commits which do not change it start no new wait.
  const wanted = new Set([history.commit ?? commit.sha, commit.sha]);
  const isReached = async (sha: string): Promise<boolean> => {
    if (wanted.has(sha)) return true;
    for (const each of wanted) if ((await compareCommits(each, sha)) === 'ancestor') return true;
    return false;
  };
  const reachedMs = async ({ appliedCommit, good }: CanaryHistory): Promise<number | null> => {
    if (appliedCommit === null || !(await isReached(appliedCommit))) return null;
    const exact = good.find((each) => wanted.has(each.commit));
    if (exact !== undefined) return exact.endedAtMs;
    for (const each of good) if (await isReached(each.commit)) return each.endedAtMs;
    return null;
  };
  const reasons: string[] = [];
  let untilMs: number | null = 0;
  for (const canary of history.canaries) {
    const sinceMs = await reachedMs(canary);
    const endMs = sinceMs === null ? Infinity : sinceMs + rollout.waitMs;
    const isBad = canary.latest === 'failed' || canary.latest === 'partial' || canary.latest === 'blocked';
    if (endMs <= nowMs && !isBad) continue;
    const state =
      sinceMs === null ? 'has not converged on it yet' : 'has converged on it, and the wait is not over';
    reasons.push(`${canary.account} ${isBad ? `ended its latest run as ${canary.latest}` : state}`);
    untilMs = isBad || sinceMs === null || untilMs === null ? null : Math.max(untilMs, endMs);
  }
  return reasons.length === 0 ? null : { commit: shown, waitsFor: firstFew(reasons, 3), untilMs };
}
