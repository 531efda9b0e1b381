// Reads the plan and the warnings of a run, and the first fields of a plan without its lists.
import { sql } from 'kysely';
import type { Warning } from '../core/catalog.ts';
import type { Plan } from '../core/plan.ts';
import { decompressHead, decompressJson } from './compressed-json.ts';
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

async function readPlanBody(db: Database, digest: string | null): Promise<Uint8Array | null> {
  if (digest === null) return null;
  const bodies = db.selectFrom('plan_bodies').select('body').where('digest', '=', digest);
  return (await bodies.executeTakeFirst())?.body ?? null;
}

type PlanHead = Pick<Plan, 'observedDigest' | 'summary'>;

/** The first fields of a run's plan; null when it has none. Throws when its body is damaged. */
export async function readPlanHead(db: Database, planBody: string | null): Promise<PlanHead | null> {
  const packed = await packedPlanHead(db, planBody);
  return packed === null ? null : parsePlanHead(packed);
}

/** The first bytes of a run's compressed plan; null when it has none. */
export async function packedPlanHead(db: Database, planBody: string | null): Promise<Uint8Array | null> {
  if (planBody === null) return null;
  const stored = await db
    .selectFrom('plan_bodies')
    .select(sql<Uint8Array>`substr(body, 1, ${HEAD_BYTES})`.as('head'))
    .where('digest', '=', planBody)
    .executeTakeFirst();
  return stored?.head ?? null;
}

/** Throws when the bytes are damaged. */
export function parsePlanHead(packed: Uint8Array): PlanHead | null {
  const head = decompressHead(packed);
  // The lists are a plan's last fields. In a JSON string these quotation marks would be escaped.
  const end = head.indexOf(LISTS);
  if (end === -1) return null;
  // recordPlan wrote it from a Plan, so the type is known.
  return JSON.parse(`${head.slice(0, end)}}`) as PlanHead;
}

/** The fields before a plan's lists have at most a few thousand characters. */
const HEAD_BYTES = 16_384;
const LISTS = ',"operations":[';
