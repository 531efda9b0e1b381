// Whether an account waits for others to run a newer commit first. Binds the daemon alone, as modes do.
import { firstFew } from '../core/amounts.ts';
import { globMatcher } from '../core/names.ts';
import type { OpenRollout } from '../core/plan.ts';
import type { AccountState, CanaryHistory } from '../core/ports/journal.ts';
import type { AccountRequest, PlanningDeps } from './request.ts';

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
