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
  const body = await readPlanBody(db, planBody);
  // recordPlan wrote it from a Plan, so the type is known.
  return body === null ? null : ((await decompressJson(body)) as Plan);
}

/** The compressed plan with this digest. */
export async function readPlanBody(db: Database, digest: string | null): Promise<Uint8Array | null> {
  if (digest === null) return null;
  const bodies = db.selectFrom('plan_bodies').select('body').where('digest', '=', digest);
  return (await bodies.executeTakeFirst())?.body ?? null;
}
