// What a row of `runs` keeps of a run's report: its plan and its warnings.
import type { Warning } from '../core/catalog.ts';
import type { Plan } from '../core/plan.ts';
import { decompressJson } from './compressed-json.ts';
import type { Database } from './tables.ts';

/** The warnings of a run. */
export function warningsOf({ warnings }: { readonly warnings: string | null }): Warning[] {
  // Written by this store and by nobody else, so the shape is known.
  return warnings === null ? [] : (JSON.parse(warnings) as Warning[]);
}

/** The plan of a run, whose `createdAt` is empty; null when none was made. */
export async function readPlan(db: Database, planBody: string | null): Promise<Plan | null> {
  if (planBody === null) return null;
  const stored = await db
    .selectFrom('plan_bodies')
    .select('body')
    .where('digest', '=', planBody)
    .executeTakeFirst();
  // Written by recordPlan from a Plan, so the shape is known.
  return stored === undefined ? null : (decompressJson(stored.body) as Plan);
}
