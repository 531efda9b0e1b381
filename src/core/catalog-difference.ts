// What changed between two observed catalogs, and the schema of the report: entries and people, identified by their ids.
import { z } from 'zod';
import { type Entry, type Kind, KINDS, type ObservedCatalog, type Resource } from './catalog.ts';
import { entryId, entryName, phase, runId, snapshotId, takenAt } from './command-schemas.ts';
import {
  accountName,
  failedPlanSchema,
  kind,
  schemaVersion,
  type Typed,
  type Unversioned,
} from './schemas.ts';
import { compareCodePoints } from './names.ts';

/** The lists of one moment. */
export type Lists = Pick<ObservedCatalog, Kind | 'resources'>;

const comparedSchema = z.strictObject({
  id: snapshotId.nullable().describe('Id of the snapshot; null: the service was read.'),
  runId: runId.nullable().describe('UUIDv7 of the run of the snapshot.'),
  phase: phase.nullable().describe('Before the run wrote, or after.'),
  takenAt,
});

/** Where lists come from: a snapshot, or (with null) the service. */
export type ComparedLists = Typed<typeof comparedSchema>;

const namedEntrySchema = z.strictObject({
  id: entryId,
  name: z.string().nullable().describe('Its name; null when no list contains the id.'),
});

function change<T extends z.ZodType>(value: T) {
  return z.strictObject({ before: value, after: value });
}

/** An entry by its name, which is null when no list contains the id. */
export type NamedEntry = Typed<typeof namedEntrySchema>;

const entryChangeSchema = z.strictObject({
  change: z.enum(['created', 'deleted', 'renamed']).describe('renamed: another name with the same id.'),
  kind,
  id: entryId,
  name: entryName,
  formerName: z.string().exactOptional().describe('The earlier name of a renamed entry.'),
});

export type EntryChange = Typed<typeof entryChangeSchema>;

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

/** Fields that did not change are absent. */
export type PersonChange = Typed<typeof personChangeSchema>;

export const differenceSchema = z.strictObject({
  schemaVersion,
  account: accountName,
  before: comparedSchema,
  after: comparedSchema,
  entries: z.array(entryChangeSchema).describe('By kind, change and name.'),
  people: z.array(personChangeSchema).describe('By change and id. Fields that did not change are absent.'),
});

export type AccountDifference = Unversioned<typeof differenceSchema>;

type CatalogDifference = Pick<AccountDifference, 'entries' | 'people'>;

/** The changes between two snapshots of one account. */
export const diffSchema = z
  .union([differenceSchema, failedPlanSchema])
  .meta({ title: 'rolecall diff', description: 'What `rolecall diff --format json` prints.' });

/**
 * The changes from one catalog to another: entries by kind, change and name, people by change and id. The order of the
 * lists has no effect.
 */
export function catalogDifference(before: Lists, after: Lists): CatalogDifference {
  return {
    entries: KINDS.flatMap((kind) => entryChanges(kind, before[kind], after[kind])),
    people: peopleChanges(before, after),
  };
}

const ENTRY_ORDER = ['created', 'deleted', 'renamed'] as const;

function entryChanges(kind: Kind, before: readonly Entry[], after: readonly Entry[]): EntryChange[] {
  const earlier = byId(before);
  const later = byId(after);
  const changes = [
    ...after.flatMap(({ id, name }): EntryChange[] => {
      const former = earlier.get(id);
      if (former === undefined) return [{ change: 'created', kind, id, name }];
      return former.name === name ? [] : [{ change: 'renamed', kind, id, name, formerName: former.name }];
    }),
    ...before.flatMap(({ id, name }): EntryChange[] =>
      later.has(id) ? [] : [{ change: 'deleted', kind, id, name }],
    ),
  ];
  return changes.sort(
    (a, b) =>
      ENTRY_ORDER.indexOf(a.change) - ENTRY_ORDER.indexOf(b.change) ||
      compareCodePoints(a.name, b.name) ||
      compareCodePoints(a.id, b.id),
  );
}

const PERSON_ORDER = ['added', 'gone', 'changed'] as const;

function peopleChanges(before: Lists, after: Lists): PersonChange[] {
  const earlier = byId(before.resources);
  const later = byId(after.resources);
  const names = { skill: namesOf('skill', before, after), role: namesOf('role', before, after) };
  const changes = [
    ...after.resources.flatMap((person): PersonChange[] => {
      const former = earlier.get(person.id);
      const fields = personFields(former, person, names);
      if (former === undefined) return [{ change: 'added', id: person.id, ...fields }];
      return Object.keys(fields).length === 0 ? [] : [{ change: 'changed', id: person.id, ...fields }];
    }),
    ...before.resources.flatMap((person): PersonChange[] =>
      later.has(person.id)
        ? []
        : [{ change: 'gone', id: person.id, ...personFields(person, undefined, names) }],
    ),
  ];
  return changes.sort(
    (a, b) =>
      PERSON_ORDER.indexOf(a.change) - PERSON_ORDER.indexOf(b.change) || compareCodePoints(a.id, b.id),
  );
}

type Names = ReadonlyMap<string, string>;

/** The names of all entries, as the later catalog lists them if it does. A person may have an entry that was just deleted. */
function namesOf(kind: Kind, before: Lists, after: Lists): Names {
  return new Map([...before[kind], ...after[kind]].map(({ id, name }) => [id, name]));
}

/** The changed fields. Of a person who was added or who is gone only those with a value. */
function personFields(
  before: Resource | undefined,
  after: Resource | undefined,
  names: Readonly<Record<Kind, Names>>,
): Omit<PersonChange, 'change' | 'id'> {
  const [earlier, later] = [new Set(before?.skillsIds), new Set(after?.skillsIds)];
  const gained = named(
    [...later].filter((id) => !earlier.has(id)),
    names.skill,
  );
  const lost = named(
    [...earlier].filter((id) => !later.has(id)),
    names.skill,
  );
  const roles = [before, after].map((person) => named(roleOf(person), names.role)[0] ?? null);
  const role = changed(roles[0] ?? null, roles[1] ?? null);
  const dailyCapacity = changed(capacityOf(before), capacityOf(after));
  const workingDays = changed(workingDaysOf(before), workingDaysOf(after));
  return {
    ...(gained.length + lost.length === 0 ? {} : { skills: { gained, lost } }),
    ...(role === null ? {} : { role }),
    ...(dailyCapacity === null ? {} : { dailyCapacity }),
    ...(workingDays === null ? {} : { workingDays }),
  };
}

function changed<T>(before: T, after: T): { before: T; after: T } | null {
  return JSON.stringify(before) === JSON.stringify(after) ? null : { before, after };
}

function named(ids: readonly string[], names: Names): NamedEntry[] {
  return ids
    .map((id) => ({ id, name: names.get(id) ?? null }))
    .sort((a, b) => compareCodePoints(a.name ?? a.id, b.name ?? b.id) || compareCodePoints(a.id, b.id));
}

/** The id of the role, if there is one. The service writes no role as null, as an empty text, or leaves it out. */
function roleOf(person: Resource | undefined): string[] {
  const id = person?.roleId ?? '';
  return id === '' ? [] : [id];
}

function capacityOf(person: Resource | undefined): number | null {
  const capacity = person?.raw['dailyCapacity'];
  return typeof capacity === 'number' ? capacity : null;
}

function workingDaysOf(person: Resource | undefined): readonly number[] | null {
  const days = person?.raw['workingDays'];
  if (!Array.isArray(days)) return null;
  const numbers = days.filter((day): day is number => typeof day === 'number');
  return [...new Set(numbers)].sort((a, b) => a - b);
}

function byId<T extends { readonly id: string }>(items: readonly T[]): ReadonlyMap<string, T> {
  return new Map(items.map((item) => [item.id, item]));
}
