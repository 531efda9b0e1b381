// The limits of the deletes that no other rule holds, and the lines of `allowedDeletes` that release them for one run.
import { type Explanation } from './plan.ts';
import { allowanceText, allowText, isOpen, isRunLine, runLine, suggestedExpiry } from './allowed-deletes.ts';
import { count } from './amounts.ts';
import type { AllowedRun, Kind, Policy } from './catalog.ts';
import { DAY_MS, utcTime } from './durations-and-sizes.ts';
import type { DeleteCounts, HeldDelete, PlanFacts, PolicyContext } from './rule-facts.ts';

/** Fewer entries are too few for a percentage. */
const PERCENT_FROM = 10;

/** Each limit that the deletes of a kind exceed, as a sentence. */
export function exceededLimits(kind: Kind, counts: DeleteCounts, policy: Policy): string[] {
  const { total, recent, ofKind } = counts;
  const { deletes, entries, isEmptied } = ofKind.get(kind) ?? { deletes: 0, entries: 0, isEmptied: false };
  if (deletes === 0) return [];
  const problems: string[] = [];
  if (total + recent > policy.maxDeletes) {
    const before = recent === 0 ? '' : ` and ${recent} in the last 24 hours`;
    problems.push(`${count(total, 'delete')} in this plan${before}, limit ${policy.maxDeletes}`);
  }
  const limit = policy.maxDeletePercent;
  if (isEmptied && limit < 100) {
    problems.push(`the file requests an empty list of ${kind}s, which is 100 % of them, limit ${limit} %`);
  } else if (entries >= PERCENT_FROM && (deletes * 100) / entries > limit) {
    // Rounded up to a tenth, so that the percentage never reads as its limit.
    const percent = Math.ceil((deletes * 1000) / entries) / 10;
    problems.push(`${count(deletes, 'delete')} of ${count(entries, kind)} (${percent} %), limit ${limit} %`);
  }
  return problems;
}

/** The line of `allowedDeletes` that releases the limits for a run of so many deletes, or null. */
export function runAllowance(
  { allowances, history, today }: PolicyContext,
  total: number,
): AllowedRun | null {
  const isUsable = (line: AllowedRun): boolean =>
    line.atMost >= total && isOpen(line, today) && !history.releasedRuns.has(allowanceText(line));
  return allowances.filter(isRunLine).find(isUsable) ?? null;
}

/** The line that releases the limits for the deletes of this plan. */
export function suggestedRun({ counts, history, nowMs }: PlanFacts): AllowedRun {
  const atMost = counts.total;
  const isUsed = (expires: string): boolean => history.releasedRuns.has(allowanceText({ atMost, expires }));
  return { atMost, expires: suggestedExpiry(nowMs, isUsed) };
}

export function explainTooMany(facts: PlanFacts, { kind }: HeldDelete): Explanation {
  const { counts, policy, history, configCommit, appliedCommit } = facts;
  const problems = exceededLimits(kind, counts, policy);
  // When this delete is a day old, the later ones leave room; undefined if the plan alone exceeds a limit.
  const isOnlyTime = problems.length === 1 && counts.total + counts.recent > policy.maxDeletes;
  const deciding = isOnlyTime ? history.recentDeletesMs[policy.maxDeletes - counts.total] : undefined;
  const range =
    appliedCommit === null || appliedCommit === configCommit
      ? `-1 ${configCommit?.slice(0, 12) ?? ''}`
      : `${appliedCommit.slice(0, 12)}..${configCommit?.slice(0, 12) ?? ''}`;
  const revert =
    configCommit === null
      ? 'put the names back into the file'
      : `revert the commit that asks for them, which \`git log -p ${range}\` shows`;
  const wait =
    deciding === undefined
      ? ''
      : `; or wait until ${utcTime(deciding + DAY_MS)}, when enough earlier deletes are a day old`;
  return {
    reason: problems.join('; '),
    release: `if these deletes are a mistake, ${revert}; if not, ${allowText(runLine(suggestedRun(facts)))}${wait}`,
  };
}
