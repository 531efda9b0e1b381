// The published JSON Schemas of a plan and of a run, which mirror the types of core/plan.ts and core/journal.ts.
// The `satisfies` below fail the build when a schema and its type differ.
import { z } from 'zod';
import { ACTIONS, KINDS } from '../core/catalog.ts';
import { type PlanResult, type FailedPlan, HOLD_RULES, type Plan } from '../core/plan.ts';
import {
  OPERATION_STATUSES,
  type OperationRecord,
  RUN_STATUSES,
  type RunRecord,
  TRIGGERS,
} from '../core/journal.ts';

export const kind = z.enum(KINDS).describe('Kind of the entry.');
const action = z.enum(ACTIONS);
const count = z.int().min(0);
const digest = z.string().describe('sha256:…');
const time = z.string().describe('UTC, ISO 8601.');
const people = z.array(z.string()).describe('Ids of the resources that have the entry, sorted.');

const warningSchema = z
  .looseObject({
    code: z.string().describe('Stable name of the warning.'),
    message: z.string().describe('Text for people. The wording may change.'),
    kind: kind.exactOptional(),
    name: z.string().exactOptional().describe('Name of the entry it is about.'),
    remoteId: z.string().exactOptional().describe('Id of the entry it is about.'),
  })
  .describe('A notice that is neither a difference nor a failure.');

const operationSchema = z.strictObject({
  action,
  kind,
  name: z.string().describe('The name that is created, or the name as the service shows it.'),
  remoteId: z.string().exactOptional().describe('Id of the entry that is deleted.'),
  usedBy: people.exactOptional(),
  reason: z.string().exactOptional().describe('Why, where that is not obvious.'),
});

const heldSchema = z.strictObject({
  action,
  kind,
  name: z.string().describe('Name of the entry.'),
  remoteId: z.string().nullable().describe('Id of the entry; null for a create.'),
  usedBy: people,
  rules: z.array(z.enum(HOLD_RULES)).min(1).describe('Every rule that holds the change.'),
  reason: z.string().describe('Why it is held.'),
  release: z.string().describe('What would release it.'),
});

const leftAloneSchema = z.strictObject({
  kind,
  name: z.string().describe('Name of the entry.'),
  remoteId: z.string().describe('Id of the entry.'),
  rule: z.enum(['unmanaged', 'protected', 'never_delete', 'duplicate']).describe('The policy that keeps it.'),
});

const planSchema = z
  .strictObject({
    schemaVersion: z.literal(1),
    account: z.string().describe('Name of the account in the configuration.'),
    remoteAccountId: z
      .string()
      .nullable()
      .describe('Id of the account in the service; null when none is known.'),
    createdAt: time,
    digest: digest.describe('Covers the remote account id and the operations with their usedBy.'),
    configDigest: digest,
    observedDigest: digest,
    configCommit: z.string().nullable().describe('Commit of the configuration.'),
    status: z.enum(['planned', 'blocked']).describe('blocked: a guard prevents all writes.'),
    summary: z.strictObject({ create: count, delete: count, hold: count, keep: count, leave: count }),
    operations: z.array(operationSchema).describe('In the order of execution.'),
    held: z.array(heldSchema).describe('Changes that rules hold until an operator or time releases them.'),
    leftAlone: z.array(leftAloneSchema).describe('Entries that the policy keeps.'),
    warnings: z.array(warningSchema),
  })
  .describe('The plan of one account.');

/** Replaces the report of an account for which there is none. */
export const failedPlanSchema = z
  .strictObject({
    schemaVersion: z.literal(1),
    account: z
      .string()
      .describe(
        'Name of the account in the configuration; empty when the failure concerns no single account.',
      ),
    status: z.literal('failed'),
    error: z.strictObject({ code: z.string().describe('Stable.'), message: z.string() }),
  })
  .describe('An account that could not be planned.');

/** A plan, or the failure that replaces it. */
export const planResultSchema = z
  .union([planSchema, failedPlanSchema])
  .meta({ title: 'rolecall plan', description: 'One account of `rolecall plan --format json`.' });

const operationRecordSchema = z.strictObject({
  seq: z.int().min(1).describe('Position in the run, from 1.'),
  kind,
  action,
  name: z.string(),
  remoteId: z.string().nullable(),
  status: z.enum(OPERATION_STATUSES).describe('skipped: planned and not tried.'),
  rule: z.string().nullable().describe('The first rule that held it.'),
  reason: z.string().nullable(),
  attempts: count,
  httpStatus: z.int().nullable().describe('Status of the last response.'),
  startedAt: time.nullable(),
  finishedAt: time.nullable(),
});

export const runRecordShape = {
  id: z.string().describe('UUIDv7.'),
  account: z.string(),
  remoteAccountId: z.string().nullable(),
  trigger: z.enum(TRIGGERS).describe('What started the run.'),
  mode: z.enum(['plan', 'approve', 'apply']).describe('plan: nothing was written.'),
  status: z.enum(RUN_STATUSES),
  startedAt: time,
  finishedAt: time.nullable(),
  configDigest: digest.nullable(),
  configCommit: z.string().nullable(),
  configDirty: z.boolean().nullable().describe('Whether the configuration differed from its commit.'),
  configAuthoredAt: z.string().nullable(),
  configSubject: z.string().nullable(),
  planDigest: digest.nullable(),
  created: count,
  deleted: count,
  held: count,
  kept: count,
  failed: count,
  requests: count,
  retries: count,
  errorCode: z.string().nullable(),
  error: z.string().nullable(),
  folded: count.describe('Number of later runs with the same result, which are stored as this count only.'),
  foldedUntil: time.nullable(),
};

/** A run with its operations. */
export const runSchema = z
  .union([
    z.strictObject({
      schemaVersion: z.literal(1),
      ...runRecordShape,
      operations: z.array(operationRecordSchema),
      warnings: z.array(warningSchema),
      plan: planSchema.nullable(),
    }),
    failedPlanSchema,
  ])
  .meta({
    title: 'rolecall run',
    description: 'One run, as `rolecall show --format json` and `apply` print it.',
  });

/** Fails to compile unless each type is assignable to the other. */
type Mirrors<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;
type DeepReadonly<T> = T extends object ? { readonly [K in keyof T]: DeepReadonly<T[K]> } : T;

true satisfies Mirrors<
  DeepReadonly<Omit<z.output<typeof planSchema>, 'warnings'>>,
  DeepReadonly<Omit<Plan, 'warnings'>>
>;
true satisfies Mirrors<DeepReadonly<z.output<typeof failedPlanSchema>>, DeepReadonly<FailedPlan>>;
true satisfies Mirrors<DeepReadonly<z.output<z.ZodObject<typeof runRecordShape>>>, DeepReadonly<RunRecord>>;
true satisfies Mirrors<
  DeepReadonly<z.output<typeof operationRecordSchema>>,
  DeepReadonly<Omit<OperationRecord, 'runId'>>
>;

/** Longest problem text, since a response may contain anything. */
const LONGEST_PROBLEM = 300;

/** The plans, or the first place where the response does not match the schema. */
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
