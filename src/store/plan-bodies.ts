// The bodies of plans: JSON, compressed with gzip, with their digest as the key.
import { gunzipSync } from 'node:zlib';
import type { Plan } from '../core/plan.ts';
import { sha256 } from '../system/digest.ts';
import type { Database } from './tables.ts';

export interface PlanBody {
  readonly digest: string;
  readonly json: string;
}

/** The body of a plan without its time: runs that change nothing repeat the same plan, which is stored once. */
export function planBody(plan: Plan): PlanBody {
  const json = JSON.stringify({ ...plan, createdAt: '' } satisfies Plan);
  return { digest: `sha256:${sha256(json)}`, json };
}

/** The plan of a run, whose `createdAt` is empty; null when none was made. */
export async function readPlan(db: Database, digest: string | null): Promise<Plan | null> {
  if (digest === null) return null;
  const bodies = db.selectFrom('plan_bodies').select('body').where('digest', '=', digest);
  const row = await bodies.executeTakeFirst();
  return row === undefined ? null : (JSON.parse(gunzipSync(row.body).toString('utf8')) as Plan); // only planBody writes it
}
