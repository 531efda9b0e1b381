// Reads the plan and the warnings of a run.
import type { Warning } from '../core/catalog.ts';
import type { Plan } from '../core/plan.ts';
import { decompressJson } from './compressed-json.ts';
import type { Database } from './tables.ts';

/** The warnings of a run. */
export function warningsOf({ warnings }: { readonly warnings: string | null }): Warning[] {
  // Only this store writes them, so the type is known.
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
  // recordPlan wrote it from a Plan, so the type is known.
  return stored === undefined ? null : (decompressJson(stored.body) as Plan);
}
