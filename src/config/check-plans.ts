// Whether what another process answered is a list of plans as they are published.
import { z } from 'zod';
import type { PlanResult } from '../core/plan.ts';
import { planResultSchema } from './report-schemas.ts';

/** More than a message needs; what answers may hold anything. */
const LONGEST_PROBLEM = 300;

/** The plans, or the first place where the answer does not keep to the schema. */
export function checkPlans(
  value: unknown,
): { readonly plans: readonly PlanResult[] } | { readonly problem: string } {
  if (!Array.isArray(value)) return { problem: 'it is not a JSON array' };
  for (const [index, item] of value.entries()) {
    const { error } = planResultSchema.safeParse(item);
    if (error !== undefined) {
      return {
        problem: `element ${index}: ${z.prettifyError(error)}`
          .replaceAll(/\s+/g, ' ')
          .slice(0, LONGEST_PROBLEM),
      };
    }
  }
  // Each element was checked against the schema, which mirrors the type.
  return { plans: value as PlanResult[] };
}
