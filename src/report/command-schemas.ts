// The published JSON Schemas of `history`, `usage`, `validate` and `doctor`, which print lists of these elements.
import { z } from 'zod';
import type { ConfigIssue } from '../core/errors.ts';
import type { AccountUsage } from '../core/usage.ts';
import { failedPlanSchema, kind, runRecordShape } from './schemas.ts';

const schemaVersion = z.literal(1);

/** A run without its operations. */
export const historySchema = z
  .union([z.strictObject({ schemaVersion, ...runRecordShape }), failedPlanSchema])
  .meta({ title: 'rolecall history', description: 'One run of `rolecall history --format json`.' });

const usageShape = {
  account: z.string().describe('Name of the account in the configuration.'),
  entries: z
    .array(
      z.strictObject({
        kind,
        name: z.string().describe('Name of the entry, as the service shows it.'),
        remoteId: z.string().describe('Id of the entry.'),
        usedBy: z.array(z.string()).describe('Ids of the resources that have the entry, sorted.'),
      }),
    )
    .describe('Every entry, the most used first.'),
  unknownReferences: z
    .array(z.strictObject({ resourceId: z.string(), kind, remoteId: z.string() }))
    .describe('Ids that resources refer to and that no list contains.'),
};

/** The usage of one account. */
export const usageSchema = z
  .union([z.strictObject({ schemaVersion, ...usageShape }), failedPlanSchema])
  .meta({ title: 'rolecall usage', description: 'One account of `rolecall usage --format json`.' });

const issueShape = {
  file: z.string(),
  line: z.int().min(1),
  column: z.int().min(1),
  severity: z.enum(['error', 'warning']),
  message: z.string().describe('What is wrong, and how to fix it. The wording may change.'),
};

/** One problem of the configuration. */
export const validateSchema = z
  .union([z.strictObject({ schemaVersion, ...issueShape }), failedPlanSchema])
  .meta({
    title: 'rolecall validate',
    description: 'One problem of `rolecall validate --format json`. The list is empty when there is none.',
  });

/** What `doctor` found out about the store, the service or one account. */
export const doctorSchema = z
  .union([
    z.strictObject({
      schemaVersion,
      title: z.string().describe('What was checked, as text for people.'),
      account: z.string().nullable().describe('Name of the account; null for the store and the service.'),
      findings: z.array(
        z.strictObject({
          ok: z.boolean(),
          what: z.string().describe('Name of the check.'),
          detail: z.string().describe('Text for people. The wording may change.'),
        }),
      ),
      exit: z.int().describe('The exit status of this part alone.'),
    }),
    failedPlanSchema,
  ])
  .meta({ title: 'rolecall doctor', description: 'One part of `rolecall doctor --format json`.' });

/** Fails to compile unless each type is assignable to the other. */
type Mirrors<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;
type DeepReadonly<T> = T extends object ? { readonly [K in keyof T]: DeepReadonly<T[K]> } : T;

true satisfies Mirrors<DeepReadonly<z.output<z.ZodObject<typeof usageShape>>>, DeepReadonly<AccountUsage>>;
true satisfies Mirrors<DeepReadonly<z.output<z.ZodObject<typeof issueShape>>>, ConfigIssue>;
