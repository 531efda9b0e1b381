// The published JSON Schemas of `history`, `history --actions`, `who` without a name, `validate` and `status`, which print lists of these elements.
import { z } from 'zod';
import { RUN_MODES, type RunRecord } from '../core/journal.ts';
import { type OperatorActionRecord, RECORDED_ACTIONS } from '../core/operator.ts';
import type { ConfigIssue } from '../core/errors.ts';
import type { AccountUsage } from '../core/usage.ts';
import {
  accountName,
  failedPlanSchema,
  printedSchema,
  kind,
  type DeepReadonly,
  type Mirrors,
  people,
  runRecordSchema,
  schemaVersion,
  amount,
  time,
  timeOrNull,
} from './schemas.ts';
import { ACCOUNT_STATES } from '../core/account-states.ts';

/** A run without its operations. */
export const historySchema = printedSchema('history', runRecordSchema, 'One run');

export const actionSchema = z.strictObject({
  schemaVersion,
  seq: z.int().describe('Counts the actions in the order in which they were given.'),
  account: z.string().describe('Name of the account; `*`: all accounts.'),
  at: time('When it was given.'),
  action: z.enum(RECORDED_ACTIONS).describe('What was done; fetch: of the source of the configuration.'),
  by: z.string().describe('user@host of a command, or the name of an operator over HTTP.'),
  via: z.enum(['cli', 'http']).describe('Whether it was a command or a request over HTTP.'),
  detail: z.string().nullable().describe('The digest of an approved plan, or the reason of a pause.'),
});

/** What an operator did. */
export const actionsSchema = printedSchema('history --actions', actionSchema, 'One action');

const accountUsageSchema = z.strictObject({
  schemaVersion,
  account: accountName,
  takenAt: time('When the lists were read.'),
  entries: z
    .array(
      z.strictObject({
        kind,
        name: z.string().describe('Name of the entry, as the service shows it.'),
        remoteId: z.string().describe('Id of the entry.'),
        usedBy: people,
      }),
    )
    .describe('Every entry, the most used first.'),
  unknownReferences: z
    .array(
      z.strictObject({
        resourceId: z.string().describe('Id of the resource that refers to it.'),
        kind,
        remoteId: z.string().describe('The id that no list contains.'),
      }),
    )
    .describe('Ids that resources refer to and that no list contains.'),
});

/** The coverage of one account. */
export const coverageSchema = printedSchema('who', accountUsageSchema, 'One account');

export const issueSchema = z.strictObject({
  schemaVersion,
  file: z.string().describe('Path of the file.'),
  line: z.int().min(1).describe('Line, from 1.'),
  column: z.int().min(1).describe('Column, from 1.'),
  severity: z.enum(['error', 'warning']).describe('A warning does not make the configuration invalid.'),
  message: z.string().describe('What is wrong, and how to fix it. The wording may change.'),
});

/** What `validate --online` found about the store or one account. */
export const diagnosisSchema = z.strictObject({
  schemaVersion,
  title: z.string().describe('What was checked, as text for people.'),
  account: z.string().nullable().describe('Name of the account; null for the store.'),
  findings: z.array(
    z.strictObject({
      ok: z.boolean().describe('Whether the check passed.'),
      what: z.string().describe('Name of the check.'),
      detail: z.string().describe('Text for people. The wording may change.'),
    }),
  ),
  exit: z.int().describe('The exit status of this part alone.'),
});

export type Diagnosis = DeepReadonly<Omit<z.output<typeof diagnosisSchema>, 'schemaVersion'>>;
export type Finding = Diagnosis['findings'][number];

/** One problem of the configuration, or a part that was checked online. */
export const validateSchema = z.union([issueSchema, diagnosisSchema, failedPlanSchema]).meta({
  title: 'rolecall validate',
  description:
    'One problem, or with `--online` one part, of `rolecall validate --format json`. The list is empty when there is none.',
});

true satisfies Mirrors<Omit<z.output<typeof accountUsageSchema>, 'schemaVersion'>, AccountUsage>;
true satisfies Mirrors<Omit<z.output<typeof actionSchema>, 'schemaVersion'>, OperatorActionRecord>;
true satisfies Mirrors<Omit<z.output<typeof issueSchema>, 'schemaVersion'>, ConfigIssue>;

export const accountStatusSchema = z.strictObject({
  schemaVersion,
  account: accountName,
  state: z
    .enum(ACCOUNT_STATES)
    .describe(
      'The most urgent of its states. waiting: a plan needs approval. drift: the latest plan has operations. new: it never ran. removed: it is stored and no longer configured.',
    ),
  configured: z.boolean().describe('Whether its file exists.'),
  issues: z.array(z.string()).describe('The errors of its file. The wording may change.'),
  mode: z
    .enum(RUN_MODES)
    .nullable()
    .describe('What the daemon may do; null when its file is invalid or missing.'),
  drift: z
    .strictObject({ create: amount('Entries to create.'), delete: amount('Entries to delete.') })
    .nullable()
    .describe("Operations of the latest run's plan that were not done; null when that is not known."),
  held: amount('Changes that the latest run held.'),
  pending: z
    .strictObject({
      digest: z.string().describe('Digest of the plan. `sha256:…`'),
      runId: z.string().describe('The run that made it. UUIDv7.'),
      since: time('Since when it waits.'),
      approval: z
        .strictObject({
          by: z.string().describe('Who approved it.'),
          at: time('When it was approved.'),
          expiresAt: time('When the approval expires.'),
        })
        .nullable()
        .describe('null while nobody has approved it, and after the approval expired.'),
    })
    .nullable()
    .describe('The plan that waits for approval, or for the run that applies it.'),
  pause: z
    .strictObject({
      since: time('Since when.'),
      by: z.string().describe('Who paused it.'),
      reason: z.string().nullable().describe('Why; null when no reason was given.'),
    })
    .nullable()
    .describe('Why scheduled runs are stopped; null while they are not.'),
  allPaused: z
    .string()
    .nullable()
    .describe('Who paused all accounts or their deletes, why and until when. The wording may change.'),
  lastRun: runRecordSchema.nullable().describe('The latest run; null when it never ran.'),
  lastSuccessAt: timeOrNull('When a run last ended converged, held or planned.'),
  consecutiveFailures: amount('How many of the latest runs in a row failed or were partial.'),
  nextRun: z
    .strictObject({
      at: time('When its schedule next starts a run, before its jitter.'),
      overdueSince: timeOrNull(
        'The tick at which no daemon ran it, once another interval has passed without a run.',
      ),
    })
    .nullable()
    .describe('null while the account is paused, its file is invalid or missing, or it is not configured.'),
});

/** The status of one account. */
export const statusSchema = printedSchema('status', accountStatusSchema, 'One account');

/** The status of one account, as the journal and the configuration show it. */
export type AccountStatus = DeepReadonly<
  Omit<z.output<typeof accountStatusSchema>, 'schemaVersion' | 'lastRun'>
> & { readonly lastRun: RunRecord | null };
