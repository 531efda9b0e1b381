// The published JSON Schemas of the commands that read snapshots: `history --lists`, `diff`, `who` and `restore`.
import { z } from 'zod';
import type { CatalogDifference } from '../core/catalog-difference.ts';
import type { DeletedEntry } from '../core/restoration.ts';
import type { HeldEntry } from '../core/usage.ts';
import {
  accountName,
  type DeepReadonly,
  amount,
  earlierHoldersSchema,
  failedPlanSchema,
  printedSchema,
  kind,
  type Mirrors,
  people,
  remoteAccountId,
  schemaVersion,
  time,
  timeOrNull,
} from './schemas.ts';

const snapshotId = z.int().min(1).describe('Id of the snapshot.');
const runId = z.string().describe('UUIDv7 of the run that read the lists.');
const phase = z.enum(['before', 'after']).describe('Before the run wrote, or after.');
const takenAt = time('When the lists were read.');
const entryName = z.string().describe('Name of the entry, as the service shows it.');
const entryId = z.string().describe('Id of the entry.');

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

/** One snapshot. */
export const snapshotsSchema = printedSchema('history --lists', snapshotSchema, 'One snapshot');

const comparedSchema = z.strictObject({
  id: snapshotId.nullable().describe('Id of the snapshot; null: the service was read.'),
  runId: runId.nullable().describe('UUIDv7 of the run of the snapshot.'),
  phase: phase.nullable().describe('Before the run wrote, or after.'),
  takenAt,
});

/** Where lists come from: a snapshot, or (with null) the service. */
export type ComparedLists = DeepReadonly<z.output<typeof comparedSchema>>;

const namedEntrySchema = z.strictObject({
  id: entryId,
  name: z.string().nullable().describe('Its name; null when no list contains the id.'),
});

function change<T extends z.ZodType>(value: T) {
  return z.strictObject({ before: value, after: value });
}

const entryChangeSchema = z.strictObject({
  change: z.enum(['created', 'deleted', 'renamed']).describe('renamed: another name with the same id.'),
  kind,
  id: entryId,
  name: entryName,
  formerName: z.string().exactOptional().describe('The earlier name of a renamed entry.'),
});

const personChangeSchema = z.strictObject({
  change: z.enum(['added', 'gone', 'changed']).describe('What happened to the person.'),
  id: z.string().describe('Id of the resource.'),
  skills: z
    .strictObject({ gained: z.array(namedEntrySchema), lost: z.array(namedEntrySchema) })
    .exactOptional()
    .describe('Of a person who is gone, the skills that the person had are lost.'),
  role: change(namedEntrySchema.nullable()).exactOptional().describe('null: no role.'),
  dailyCapacity: change(z.number().nullable()).exactOptional().describe("In the account's own unit."),
  workingDays: change(z.array(z.number()).nullable())
    .exactOptional()
    .describe('Days of the week, 0 is Monday.'),
});

export const differenceSchema = z.strictObject({
  schemaVersion,
  account: accountName,
  before: comparedSchema,
  after: comparedSchema,
  entries: z.array(entryChangeSchema).describe('By kind, change and name.'),
  people: z.array(personChangeSchema).describe('By change and id. Fields that did not change are absent.'),
});

export type AccountDifference = DeepReadonly<Omit<z.output<typeof differenceSchema>, 'schemaVersion'>>;

/** The changes between two snapshots of one account. */
export const diffSchema = z
  .union([differenceSchema, failedPlanSchema])
  .meta({ title: 'rolecall diff', description: 'What `rolecall diff --format json` prints.' });

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
export type LostEntry = DeepReadonly<z.output<typeof lostEntrySchema>>;

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
export type AccountHolders = DeepReadonly<
  Omit<z.output<typeof accountHoldersSchema>, 'schemaVersion' | 'at'>
>;

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

true satisfies Mirrors<
  { entries: z.output<typeof entryChangeSchema>[]; people: z.output<typeof personChangeSchema>[] },
  CatalogDifference
>;
true satisfies Mirrors<z.output<typeof heldEntrySchema>, HeldEntry>;
true satisfies Mirrors<z.output<typeof deletedEntrySchema>, DeletedEntry>;
