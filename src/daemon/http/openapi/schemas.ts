// The schemas of the API: those of the reports, and those of what only the API returns or receives. The `satisfies`
// below fail the build when a schema and the JSON of the API differ.
import { z } from 'zod';
import { ACCOUNT_STATES } from '../../../core/account-states.ts';
import { OPERATOR_ACTIONS, PLAN_DIGEST } from '../../../core/operator.ts';
import {
  amount,
  failedPlanSchema,
  heldChangeSchema,
  leftAloneSchema,
  type Mirrors,
  operationRecordSchema,
  plannedOperationSchema,
  planSchema,
  planSummarySchema,
  remoteAccountId,
  runDetailSchema,
  runRecordSchema,
  time,
  timeOrNull,
  warningSchema,
} from '../../../report/schemas.ts';
import type { PostedConfiguration } from '../../../app/posted-plan.ts';
import type { accountToJson, daemonToJson, operatorActionToJson, replicaToJson } from '../account-json.ts';

const text = (description: string) => z.string().describe(description);
const textOrNull = (description: string) => z.string().nullable().describe(description);

const accountSchema = z
  .strictObject({
    name: text('Name in the configuration.'),
    state: z
      .enum(ACCOUNT_STATES)
      .describe(
        'The most urgent of its states. service_invalid: no account runs until the service file is fixed. waiting: a plan needs approval. drift: the latest plan has operations. new: it never ran.',
      ),
    valid: z.boolean().describe('Whether its file with its catalogs is valid.'),
    issues: z.array(text('`file:line:column: …`')).describe('The errors of its configuration.'),
    mode: z
      .enum(['plan', 'approve', 'apply'])
      .nullable()
      .describe('From the last valid configuration; null when there never was one.'),
    schedule: textOrNull('Cron expression, from the last valid configuration.'),
    timezone: textOrNull('Time zone of the schedule.'),
    region: textOrNull('Region of the account.'),
    remoteAccountId,
    paused: z.boolean().describe('Whether scheduled runs are stopped.'),
    pause: z
      .strictObject({
        since: timeOrNull('When; null for a pause of an older version.'),
        by: textOrNull('Who: the name of a token, or the user who ran the command.'),
        reason: textOrNull('Why, if the operator gave a reason.'),
      })
      .nullable()
      .describe('null while scheduled runs are allowed.'),
    activity: z
      .enum(['running', 'queued', 'idle'])
      .describe('queued: a run starts as soon as the limit of parallel runs allows it.'),
    replica: z
      .strictObject({
        id: text('As in the list of replicas.'),
        host: text('Name of its machine.'),
        pid: z.int().describe('Number of its process.'),
      })
      .nullable()
      .describe('The replica that runs the account now; null while none does, or without replicas.'),
    waitsForCommit: textOrNull(
      'The commit that changed the account and that no live replica has, so that the account does not run; null otherwise.',
    ),
    leftOut: z
      .boolean()
      .describe(
        'Whether the newest configuration of the replicas has no such account, so that it does not run.',
      ),
    nextRunAt: timeOrNull(
      'When the next scheduled run starts; null while the account is paused, runs or waits for a commit.',
    ),
    backoffUntil: timeOrNull('After failures, no scheduled run starts before this time.'),
    consecutiveFailures: amount('Runs that failed in a row.'),
    drift: z
      .strictObject({ create: amount('Entries to create.'), delete: amount('Entries to delete.') })
      .nullable()
      .describe('What a plan would do now; null when it is not known.'),
    pending: z
      .strictObject({
        digest: text('Digest of the plan, for an approval.'),
        runId: text('The run that made the plan.'),
        since: time('When the plan was made.'),
      })
      .nullable()
      .describe('The plan that waits for approval; null when there is none, or while a run applies it.'),
    approved: z
      .strictObject({
        digest: text('Digest of the plan.'),
        by: textOrNull('Who approved it.'),
        expiresAt: time('When the approval expires.'),
      })
      .nullable()
      .describe('The approval of a plan that is not applied yet; null when there is none.'),
    lastRun: runRecordSchema.nullable().describe('null when the account has not run yet.'),
    lastSuccessAt: timeOrNull('When a run last succeeded.'),
  })
  .describe('The current state of one account.');

const operatorActionSchema = z
  .strictObject({
    at: time('When.'),
    action: z.enum(OPERATOR_ACTIONS).describe('What.'),
    by: text('Who: the name of a token, or the user who ran the command.'),
    via: z.enum(['cli', 'http']).describe('On the command line, or over HTTP.'),
    detail: textOrNull('The digest of an approved plan, or the reason of a pause.'),
  })
  .describe('A command that an operator gave.');

const statusSchema = z
  .strictObject({
    version: text('Version of rolecall.'),
    startedAt: time('When the daemon started.'),
    issues: z
      .array(text('One error.'))
      .describe(
        'Errors of the service file, of the source and of the store. While the newest commit of the source cannot be used, the last one is.',
      ),
    configurationValid: z
      .boolean()
      .describe('Whether the service file is valid. Otherwise no account runs until it is fixed.'),
    commit: z
      .strictObject({
        sha: text('Id of the commit.'),
        dirty: z.boolean().describe('Whether the working tree differed from it.'),
        committedAt: time('When it was committed.'),
        authoredAt: time('When it was authored.'),
        subject: text('First line of its message.'),
      })
      .nullable()
      .describe('The commit of the configuration; null when it is not in git.'),
    undelivered: amount('Notifications that could not be delivered in the last 24 hours.'),
  })
  .describe('The state of the daemon itself.');

const replicaSchema = z
  .strictObject({
    id: text('Id of the replica; another one after each start.'),
    host: text('Name of its machine.'),
    pid: amount('Id of its process.'),
    version: text('Version of rolecall.'),
    startedAt: time('When it registered.'),
    beatAt: time('When it last renewed its lease.'),
    alive: z.boolean().describe('false: it has ended or has no connection, and others run its accounts.'),
    self: z.boolean().describe('Whether it is the replica that answers.'),
    runs: amount('Accounts that it runs now.'),
    commit: textOrNull('The commit of its configuration; null when it is not in git or not known yet.'),
    newest: z
      .boolean()
      .describe(
        'Whether its configuration is the newest, or not known yet. Another one runs only accounts that are equal in both.',
      ),
  })
  .describe('One of the processes that share the accounts.');

const postedConfigurationSchema = z
  .strictObject({
    config: text('The path of the service file among `files`.'),
    files: z.record(z.string(), z.string()).meta({
      maxProperties: 5000,
      description: 'Text by relative path, with slashes, below one root. `..` is refused.',
    }),
    accounts: z
      .array(text('Name of an account.'))
      .exactOptional()
      .describe('The accounts to plan; an empty list means all.'),
    commit: z
      .strictObject({ sha: text('Id of the commit.'), committedAt: time('When it was committed.') })
      .nullable()
      .exactOptional()
      .describe('The commit of the working tree; null when it is not in git.'),
  })
  .describe('The configuration files of a working tree.');

true satisfies Mirrors<z.output<typeof accountSchema>, ReturnType<typeof accountToJson>>;
true satisfies Mirrors<z.output<typeof operatorActionSchema>, ReturnType<typeof operatorActionToJson>>;
true satisfies Mirrors<z.output<typeof replicaSchema>, ReturnType<typeof replicaToJson>>;
true satisfies Mirrors<z.output<typeof statusSchema>, ReturnType<typeof daemonToJson>>;
true satisfies Mirrors<Required<z.output<typeof postedConfigurationSchema>>, PostedConfiguration>;

function status<T extends string>(value: T) {
  return z.literal(value).describe('The request was accepted.');
}

const COMPONENTS = {
  Warning: warningSchema,
  PlannedOperation: plannedOperationSchema,
  HeldChange: heldChangeSchema,
  LeftAlone: leftAloneSchema,
  PlanSummary: planSummarySchema,
  Plan: planSchema,
  FailedPlan: failedPlanSchema,
  Operation: operationRecordSchema,
  RunSummary: runRecordSchema,
  Run: runDetailSchema,
  Account: accountSchema,
  Accounts: z
    .strictObject({ accounts: z.array(accountSchema).describe('Ordered by name.') })
    .describe('All configured accounts.'),
  Actions: z
    .strictObject({ actions: z.array(operatorActionSchema).describe('Newest first.') })
    .describe('The latest actions of operators on an account.'),
  Runs: z
    .strictObject({ runs: z.array(runRecordSchema).describe('Newest first.') })
    .describe('The runs that match the filters.'),
  Status: statusSchema,
  Replicas: z
    .strictObject({
      replicas: z.array(replicaSchema).describe('Oldest first; empty when the store is a file.'),
    })
    .describe('The processes that share the accounts.'),
  PostedConfiguration: postedConfigurationSchema,
  Approval: z
    .strictObject({
      digest: z
        .string()
        .regex(PLAN_DIGEST)
        .nullish()
        .describe('The digest of the plan, or at least its first eight hex digits; null: the pending plan.'),
    })
    .describe('The plan to approve.'),
  Pause: z
    .strictObject({ reason: z.string().max(300).nullish().describe('Why, for the pages and `status`.') })
    .describe('The reason of a pause.'),
  Approved: z
    .strictObject({
      status: status('approved'),
      digest: text('Digest of the plan.'),
      expiresAt: time('When the approval expires.'),
    })
    .describe('The plan is approved.'),
  Queued: z
    .strictObject({ status: status('queued') })
    .describe('A run starts as soon as the limit of parallel runs allows it.'),
  Paused: z.strictObject({ status: status('paused') }).describe('Scheduled runs are stopped.'),
  Resumed: z.strictObject({ status: status('resumed') }).describe('Scheduled runs start again.'),
  Error: z
    .strictObject({
      error: z
        .strictObject({
          code: text('Stable name of the error.'),
          message: text('What is wrong, and how to fix it. The wording may change.'),
          pending: text('With `other_plan`: the digest of the pending plan.').exactOptional(),
        })
        .describe('The reason.'),
    })
    .describe('Why the request was refused, or that it failed.'),
} satisfies Record<string, z.ZodType>;

export type ComponentName = keyof typeof COMPONENTS;

/** The reference to a schema under `#/components/schemas`. */
export function ref(name: string) {
  return { $ref: `#/components/schemas/${name}` };
}

/** Everything under `#/components/schemas`, as JSON Schema 2020-12. */
export function componentSchemas(): Record<string, object> {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(COMPONENTS)) registry.add(schema, { id });
  const { schemas } = z.toJSONSchema(registry, { uri: (id) => ref(id).$ref });
  // A component is identified by its place in the document.
  return Object.fromEntries(
    Object.entries(schemas).map(([name, { $id: _id, $schema: _schema, ...schema }]) => [name, schema]),
  );
}
