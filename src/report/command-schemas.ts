// The published JSON Schemas of `history`, `usage`, `validate` and `doctor`, which print lists of these elements.
import { z } from 'zod';
import type { ConfigIssue } from '../core/errors.ts';
import type { AccountUsage } from '../core/usage.ts';
import {
  accountName,
  failedPlanSchema,
  kind,
  type Mirrors,
  people,
  runRecordSchema,
  schemaVersion,
} from './schemas.ts';

/** A run without its operations. */
export const historySchema = z
  .union([runRecordSchema, failedPlanSchema])
  .meta({ title: 'rolecall history', description: 'One run of `rolecall history --format json`.' });

const accountUsageSchema = z.strictObject({
  schemaVersion,
  account: accountName,
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

/** The usage of one account. */
export const usageSchema = z
  .union([accountUsageSchema, failedPlanSchema])
  .meta({ title: 'rolecall usage', description: 'One account of `rolecall usage --format json`.' });

const issueSchema = z.strictObject({
  schemaVersion,
  file: z.string().describe('Path of the file.'),
  line: z.int().min(1).describe('Line, from 1.'),
  column: z.int().min(1).describe('Column, from 1.'),
  severity: z.enum(['error', 'warning']).describe('A warning does not make the configuration invalid.'),
  message: z.string().describe('What is wrong, and how to fix it. The wording may change.'),
});

/** One problem of the configuration. */
export const validateSchema = z.union([issueSchema, failedPlanSchema]).meta({
  title: 'rolecall validate',
  description: 'One problem of `rolecall validate --format json`. The list is empty when there is none.',
});

/** What `doctor` found about the store, the service or one account. */
export const doctorSchema = z
  .union([
    z.strictObject({
      schemaVersion,
      title: z.string().describe('What was checked, as text for people.'),
      account: z.string().nullable().describe('Name of the account; null for the store and the service.'),
      findings: z.array(
        z.strictObject({
          ok: z.boolean().describe('Whether the check passed.'),
          what: z.string().describe('Name of the check.'),
          detail: z.string().describe('Text for people. The wording may change.'),
        }),
      ),
      exit: z.int().describe('The exit status of this part alone.'),
    }),
    failedPlanSchema,
  ])
  .meta({ title: 'rolecall doctor', description: 'One part of `rolecall doctor --format json`.' });

true satisfies Mirrors<Omit<z.output<typeof accountUsageSchema>, 'schemaVersion'>, AccountUsage>;
true satisfies Mirrors<Omit<z.output<typeof issueSchema>, 'schemaVersion'>, ConfigIssue>;
