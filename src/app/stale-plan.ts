// Compares a plan that is stale with the present one, for the report of the run that refuses it.
import type { Warning } from '../core/catalog.ts';
import type { AgreedPlan } from '../core/operator.ts';
import { CHANGED_SINCE_PLAN, changesSince } from '../core/plan-changes.ts';
import type { Plan } from '../core/plan.ts';
import type { Observation } from './observe.ts';
import type { PlanningDeps, Run } from './request.ts';

/** More is not read by anybody, and is stored with the run. */
const MOST_CHANGES = 1000;

/** What changed since the operator agreed to a plan. Must be called before the present lists become the last good ones. */
export async function changesSinceAgreed(
  { request: { settings }, deps }: Pick<Run<PlanningDeps>, 'request' | 'deps'>,
  { observed, remoteAccountId }: Observation,
  present: Plan,
  { reviewed = null }: AgreedPlan,
): Promise<Warning[]> {
  if (reviewed === null) return [];
  const lastGood = await deps.journal.lastGood(settings.name, remoteAccountId, observed);
  const basis = { desired: settings.desired, observed, before: lastGood?.observed ?? null };
  const changes = changesSince(reviewed, present, basis);
  const rest = changes.length - MOST_CHANGES;
  if (rest <= 0) return changes;
  return [
    ...changes.slice(0, MOST_CHANGES),
    {
      code: CHANGED_SINCE_PLAN,
      message: `… and ${rest} more changes; run \`rolecall plan ${settings.name}\` to see the present plan`,
    },
  ];
}
