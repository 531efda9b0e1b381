// The published JSON Schemas of `history` with its lists, `status`, `who` and `restore`, which print these elements.
import { z } from 'zod';
import { RUN_MODES, type RunStatus, ACCOUNT_STATES } from './journal.ts';
import { RECORDED_ACTIONS } from './operator.ts';
import {
  accountName,
  failedPlanSchema,
  printedSchema,
  type RunRecord,
  kind,
  type Typed,
  type Unversioned,
  people,
  runRecordSchema,
  schemaVersion,
  amount,
  time,
  timeOrNull,
  earlierHoldersSchema,
  remoteAccountId,
} from './schemas.ts';

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

/** A command that an operator gave. */
export type OperatorActionRecord = Unversioned<typeof actionSchema>;

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

/** How many people have each entry of one account, and which references have no entry. */
export type AccountUsage = Unversioned<typeof accountUsageSchema>;

/** The coverage of one account. */
export const coverageSchema = printedSchema('who', accountUsageSchema, 'One account');

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
export interface AccountStatus extends Omit<Unversioned<typeof accountStatusSchema>, 'lastRun'> {
  readonly lastRun: RunRecord | null;
}

export const snapshotId = z.int().min(1).describe('Id of the snapshot.');
export const runId = z.string().describe('UUIDv7 of the run that read the lists.');
export const phase = z.enum(['before', 'after']).describe('Before the run wrote, or after.');
export const takenAt = time('When the lists were read.');
export const entryName = z.string().describe('Name of the entry, as the service shows it.');
export const entryId = z.string().describe('Id of the entry.');

export const snapshotSchema = z.strictObject({
  schemaVersion,
  id: snapshotId,
  account: accountName,
  remoteAccountId,
  runId,
  phase,
  takenAt,
  lists: z
    .array(
      z.strictObject({
        kind: z.enum(['skill', 'role', 'resource']).describe('resource: people.'),
        entries: amount('Number of objects in the list.'),
        digest: z.string().describe('Equal lists have equal digests. `sha256:…`'),
      }),
    )
    .describe('Its lists: skills, roles, people.'),
});

/** A snapshot, with the status of the run that read it; its id is the smallest of those of its lists. */
export interface SnapshotRecord extends Unversioned<typeof snapshotSchema> {
  readonly runStatus: RunStatus;
}

/** One snapshot. */
export const snapshotsSchema = printedSchema('history --lists', snapshotSchema, 'One snapshot');

const heldEntrySchema = z.strictObject({ kind, name: entryName, remoteId: entryId, people });

const lostFields = {
  kind,
  name: entryName,
  remoteId: entryId.nullable(),
  outcome: z.enum(['deleted', 'unknown']).describe('unknown: the request was sent, its result is not known.'),
  people: people.nullable().describe('Ids of the resources that had it; null when that is no longer stored.'),
  earlier: earlierHoldersSchema
    .nullable()
    .describe('Who else had it by the newest earlier list that shows such people; null when there are none.'),
};

const lostEntrySchema = z.strictObject({
  ...lostFields,
  runId: z.string().describe('UUIDv7 of the run that deleted it.'),
  deletedAt: timeOrNull('When the result of the delete was known.'),
});

/** An entry that a run deleted, with the run. */
export type LostEntry = Typed<typeof lostEntrySchema>;

export const accountHoldersSchema = z.strictObject({
  schemaVersion,
  account: accountName,
  at: timeOrNull('The requested moment; null: now.'),
  snapshot: z
    .strictObject({ id: snapshotId, runId, phase, takenAt })
    .nullable()
    .describe('The last good snapshot at that moment or before; null when none is stored.'),
  entries: z.array(heldEntrySchema).describe('The entries with exactly this name.'),
  deleted: z
    .array(lostEntrySchema)
    .describe('Entries of this name that a run deleted: of each kind the last one.'),
  near: z
    .array(z.strictObject({ kind, name: entryName }))
    .describe('Names that differ only in case, white space, diacritics or compatibility forms.'),
});

/** What one account's lists of a moment show. */
export type AccountHolders = Omit<Unversioned<typeof accountHoldersSchema>, 'at'>;

/** The people who have the entries of a name in one account. */
export const whoSchema = printedSchema('who', accountHoldersSchema, 'One searched account');

const deletedEntrySchema = z.strictObject({
  ...lostFields,
  listed: z
    .enum(['same', 'other'])
    .nullable()
    .describe('Whether later lists show this entry, or another one of the same name.'),
  inFile: z
    .enum(['desired', 'formerly', 'absent', 'allowed', 'none', 'unmanaged'])
    .nullable()
    .describe(
      'Where the account file names it now. unmanaged: the file leaves the kind out. null: the file is invalid or missing.',
    ),
  problem: z.string().nullable().describe('Why a file cannot contain the name. The wording may change.'),
});

/** An entry that a run deleted, and what must be considered before it is created again. */
export type DeletedEntry = Typed<typeof deletedEntrySchema>;

export const restorationSchema = z.strictObject({
  schemaVersion,
  account: accountName,
  runId: z.string().describe('UUIDv7 of the run.'),
  startedAt: time('When the run began.'),
  listedAt: timeOrNull('When the lists were read that decide about `listed`; null when there are none.'),
  entries: z.array(deletedEntrySchema).describe('In the order of execution.'),
  yaml: z.string().describe('Lines for the account file that create the entries again; may be empty.'),
});

/** What one run deleted. */
export const restoreSchema = z
  .union([restorationSchema, failedPlanSchema])
  .meta({ title: 'rolecall restore', description: 'What `rolecall restore --format json` prints.' });
