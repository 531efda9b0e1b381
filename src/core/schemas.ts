// The published schemas of a plan and of a run, and the types of what they describe. The JSON Schemas in config/schema/ and the
// daemon's OpenAPI description are generated from them. Import types alone: to create the schemas takes time at every start.
import { z } from 'zod';
import { ACTIONS, KINDS } from './catalog.ts';
import { HOLD_RULES, LEAVE_RULES, OPERATION_STATUSES, RUN_MODES, RUN_STATUSES, TRIGGERS } from './journal.ts';

/** The type of what a schema describes. */
export type Typed<T extends z.ZodType> = DeepReadonly<z.output<T>>;
/** The same without the version, which is added when it is printed. */
export type Unversioned<T extends z.ZodType<{ schemaVersion: 1 }>> = DeepReadonly<
  Omit<z.output<T>, 'schemaVersion'>
>;
type DeepReadonly<T> = T extends object ? { readonly [K in keyof T]: DeepReadonly<T[K]> } : T;

export const schemaVersion = z.literal(1).describe('Is increased when existing fields change.');
export const accountName = z.string().describe('Name of the account in the configuration.');
export const kind = z.enum(KINDS).describe('Kind of the entry.');
export const remoteAccountId = z
  .string()
  .nullable()
  .describe('Id of the account in the service; null when it is not known.');
export const people = z.array(z.string()).describe('Ids of the resources that have the entry, sorted.');
const action = z.enum(ACTIONS).describe('What is done with the entry.');

/** A number of things, from 0. */
export function amount(description: string) {
  return z.int().min(0).describe(description);
}

function amountOrNull(description: string) {
  return z.int().min(0).nullable().describe(description);
}

const dateTime = z.string().meta({ format: 'date-time' });

/** A time as the journal stores it. */
export function time(description: string) {
  return dateTime.describe(`${description} UTC, ISO 8601.`);
}

export function timeOrNull(description: string) {
  return dateTime.nullable().describe(`${description} UTC, ISO 8601.`);
}

const CONFIG_DIGEST = 'Digest of the address, the account id, the policy and the desired catalog. `sha256:…`';

export const warningSchema = z
  .looseObject({
    code: z.string().describe('Stable name of the warning.'),
    message: z.string().describe('Text for people. The wording may change.'),
    kind: kind.exactOptional(),
    name: z.string().exactOptional().describe('Name of the entry it is about.'),
    remoteId: z.string().exactOptional().describe('Id of the entry it is about.'),
  })
  .describe('A notice that is neither a difference nor a failure.');

export const plannedOperationSchema = z
  .strictObject({
    action,
    kind,
    name: z.string().describe('The name that is created, or the name as the service shows it.'),
    remoteId: z.string().exactOptional().describe('Id of the entry that is deleted.'),
    usedBy: people.exactOptional(),
    reason: z.string().exactOptional().describe('Why, where that is not obvious.'),
  })
  .describe('One create or delete of the plan.');

export const heldChangeSchema = z
  .strictObject({
    action,
    kind,
    name: z.string().describe('Name of the entry.'),
    remoteId: z.string().nullable().describe('Id of the entry; null for a create.'),
    usedBy: people,
    rules: z.array(z.enum(HOLD_RULES)).min(1).describe('Every rule that holds the change.'),
    reason: z.string().describe('Why it is held.'),
    release: z.string().describe('What would release it.'),
    desiredName: z
      .string()
      .exactOptional()
      .describe('Of a rename its new name, of a suspected one the desired name that it is near to.'),
    allowance: z
      .string()
      .exactOptional()
      .describe('The line for `allowedDeletes` that the release advises to add.'),
  })
  .describe('A change that rules hold until an operator or time releases it.');

export const leftAloneSchema = z
  .strictObject({
    kind,
    name: z.string().describe('Name of the entry.'),
    remoteId: z.string().describe('Id of the entry.'),
    rule: z.enum(LEAVE_RULES).describe('The policy that keeps it.'),
  })
  .describe('An entry that the policy keeps.');

export const planSummarySchema = z
  .strictObject({
    create: amount('Entries to create.'),
    delete: amount('Entries to delete.'),
    hold: amount('Held changes.'),
    keep: amount('Entries that match the file.'),
    leave: amount('Entries that the policy keeps.'),
  })
  .describe('Counts over the managed kinds.');

export const planSchema = z
  .strictObject({
    schemaVersion,
    account: accountName,
    remoteAccountId,
    createdAt: time('When the plan was made.'),
    digest: z
      .string()
      .describe('Covers the remote account id and the operations with their usedBy. `sha256:…`'),
    configDigest: z.string().describe(CONFIG_DIGEST),
    observedDigest: z.string().describe('Digest of the lists of the service. `sha256:…`'),
    configCommit: z.string().nullable().describe('Commit of the configuration; null when it is not in git.'),
    status: z.enum(['planned', 'blocked']).describe('blocked: a guard prevents all writes.'),
    summary: planSummarySchema,
    operations: z.array(plannedOperationSchema).describe('In the order of execution.'),
    held: z
      .array(heldChangeSchema)
      .describe('Changes that rules hold until an operator or time releases them.'),
    leftAlone: z.array(leftAloneSchema).describe('Entries that the policy keeps.'),
    warnings: z.array(warningSchema).describe('Notices that are neither a difference nor a failure.'),
  })
  .describe('The plan of one account.');

/** Replaces the report of an account for which there is none. */
export const failedPlanSchema = z
  .strictObject({
    schemaVersion,
    account: z
      .string()
      .describe(
        'Name of the account in the configuration; empty when the failure concerns no single account.',
      ),
    status: z.literal('failed').describe('There is no plan.'),
    error: z
      .strictObject({
        code: z.string().describe('Stable name of the failure.'),
        message: z.string().describe('Text for people. The wording may change.'),
      })
      .describe('Why there is none.'),
  })
  .describe('An account that could not be planned.');

/** What a command prints a list of as JSON: this, or the failure that replaces it. */
export function printedSchema<T extends z.ZodType>(command: string, report: T, what: string) {
  const description = `${what} of \`rolecall ${command} --format json\`.`;
  return z.union([report, failedPlanSchema]).meta({ title: `rolecall ${command}`, description });
}

/** A plan, or the failure that replaces it. */
export const planResultSchema = printedSchema('plan', planSchema, 'One account');

/** People who had an entry by a list of an earlier run, and not by the list of the run that deleted it. */
export const earlierHoldersSchema = z.strictObject({
  until: time('When the last list that shows them with it was read.'),
  people,
});

export type EarlierHolders = Typed<typeof earlierHoldersSchema>;

const operationSeq = z.int().min(1).describe('Position in the run, from 1.');

export const operationRecordSchema = z
  .strictObject({
    seq: operationSeq,
    kind,
    action,
    name: z.string().describe('Name of the entry.'),
    remoteId: z.string().nullable().describe('Id of the entry; null when it is not known.'),
    status: z.enum(OPERATION_STATUSES).describe('skipped: planned and not tried.'),
    rule: z.string().nullable().describe('The first rule that held it.'),
    reason: z.string().nullable().describe('Why, where that is not obvious.'),
    attempts: amount('How often the request was sent.'),
    httpStatus: z.int().nullable().describe('Status of the last response.'),
    startedAt: timeOrNull('When the request was first sent.'),
    finishedAt: timeOrNull('When the result was known.'),
  })
  .describe('One operation of a run, with its result.');

/** One row of `operations`; `seq` starts at 1 within its run. */
export interface OperationRecord extends Typed<typeof operationRecordSchema> {
  readonly runId: string;
}

export const runRecordSchema = z
  .strictObject({
    schemaVersion,
    id: z.string().describe('UUIDv7.'),
    account: accountName,
    remoteAccountId,
    trigger: z.enum(TRIGGERS).describe('What started the run.'),
    actor: z
      .string()
      .nullable()
      .describe('Who started it: user@host of a command, or the name of an operator; null: the schedule.'),
    mode: z.enum(RUN_MODES).describe('plan: nothing was written.'),
    status: z.enum(RUN_STATUSES).describe('The result of the run.'),
    startedAt: time('When the run began.'),
    finishedAt: timeOrNull('When the run ended.'),
    configDigest: z.string().nullable().describe(CONFIG_DIGEST),
    configCommit: z.string().nullable().describe('Commit of the configuration; null when it is not in git.'),
    configDirty: z.boolean().nullable().describe('Whether the configuration differed from its commit.'),
    configAuthoredAt: timeOrNull('When that commit was authored.'),
    configAuthor: z.string().nullable().describe('Name of its author.'),
    configSubject: z.string().nullable().describe('First line of the message of that commit.'),
    planDigest: z.string().nullable().describe('Digest of the plan. `sha256:…`'),
    plannedCreates: amountOrNull('Entries that its plan would create; null before it planned.'),
    plannedDeletes: amountOrNull('Entries that its plan would delete; null before it planned.'),
    created: amount('Entries that were created; so far, while the run lasts.'),
    deleted: amount('Entries that were deleted; so far, while the run lasts.'),
    held: amount('Changes that rules hold.'),
    kept: amount('Entries that match the file.'),
    failed: amount(
      'Operations that failed, and those whose outcome is unknown. `rolecall show` reports the status of each.',
    ),
    requests: amount('Requests to the service; counted when the run ends.'),
    retries: amount('Requests that were sent again; counted when the run ends.'),
    errorCode: z.string().nullable().describe('Stable name of the failure.'),
    error: z.string().nullable().describe('What failed. The wording may change.'),
  })
  .describe('One run, without its operations.');

/** One row of `runs`. Times are UTC ISO 8601. */
export type RunRecord = Unversioned<typeof runRecordSchema>;

export const runDetailSchema = runRecordSchema
  .extend({
    operations: z.array(operationRecordSchema).describe('In the order of execution.'),
    warnings: z.array(warningSchema).describe('Notices that are neither a difference nor a failure.'),
    plan: planSchema
      .nullable()
      .describe('null when the run ended before it had a plan, or when the plan is no longer stored.'),
    earlierHolders: z
      .array(earlierHoldersSchema.extend({ seq: operationSeq }))
      .exactOptional()
      .describe(
        'Who had deleted entries by the lists of earlier runs, but not by the list of this run. Absent when nobody is known; the daemon also leaves it out for large runs.',
      ),
  })
  .describe('One run with its operations, warnings and plan.');

/** A run with its operations, or the failure that replaces it. */
export const runSchema = z.union([runDetailSchema, failedPlanSchema]).meta({
  title: 'rolecall run',
  description: 'One run: `rolecall show --format json` prints one, `rolecall apply --format json` a list.',
});

/** Longest problem text, since a response may contain anything. */
const LONGEST_PROBLEM = 300;

/** The plans, or the first place where the response does not match the schema. */
export function checkPlans(
  value: unknown,
): { readonly plans: readonly Typed<typeof planResultSchema>[] } | { readonly problem: string } {
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
  // Each element was checked against the schema.
  return { plans: value as Typed<typeof planResultSchema>[] };
}
