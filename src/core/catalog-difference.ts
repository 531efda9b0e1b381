// What changed between two observed catalogs: entries and people. Both are identified by their ids.
import { type Entry, type Kind, KINDS, type ObservedCatalog, type Resource } from './catalog.ts';
import { compareCodePoints } from './names.ts';

/** The lists of one moment. */
export type Lists = Pick<ObservedCatalog, Kind | 'resources'>;

/** An entry by its name, which is null when no list contains the id. */
export interface NamedEntry {
  readonly id: string;
  readonly name: string | null;
}

export interface EntryChange {
  readonly change: 'created' | 'deleted' | 'renamed';
  readonly kind: Kind;
  readonly id: string;
  readonly name: string;
  /** The earlier name of a renamed entry. */
  readonly formerName?: string;
}

export interface ValueChange<T> {
  readonly before: T;
  readonly after: T;
}

/** Fields that did not change are absent. */
export interface PersonChange {
  readonly change: 'added' | 'gone' | 'changed';
  readonly id: string;
  readonly skills?: { readonly gained: readonly NamedEntry[]; readonly lost: readonly NamedEntry[] };
  /** null: no role. */
  readonly role?: ValueChange<NamedEntry | null>;
  readonly dailyCapacity?: ValueChange<number | null>;
  /** Days of the week, 0 is Monday. */
  readonly workingDays?: ValueChange<readonly number[] | null>;
}

export interface CatalogDifference {
  readonly entries: readonly EntryChange[];
  readonly people: readonly PersonChange[];
}

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
  const names = { before: namesOf(before), after: namesOf(after) };
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

interface Naming {
  readonly before: Readonly<Record<Kind, Names>>;
  readonly after: Readonly<Record<Kind, Names>>;
}

function namesOf(lists: Lists): Readonly<Record<Kind, Names>> {
  const names = (kind: Kind): Names => new Map(lists[kind].map(({ id, name }) => [id, name]));
  return { skill: names('skill'), role: names('role') };
}

/** The changed fields. Of a person who was added or who is gone only those with a value. */
function personFields(
  before: Resource | undefined,
  after: Resource | undefined,
  names: Naming,
): Omit<PersonChange, 'change' | 'id'> {
  const earlier = new Set(before?.skillsIds);
  const later = new Set(after?.skillsIds);
  const gained = named(
    [...later].filter((id) => !earlier.has(id)),
    names.after.skill,
    names.before.skill,
  );
  const lost = named(
    [...earlier].filter((id) => !later.has(id)),
    names.before.skill,
    names.after.skill,
  );
  const role = changed(roleOf(before), roleOf(after));
  const dailyCapacity = changed(capacityOf(before), capacityOf(after));
  const workingDays = changed(workingDaysOf(before), workingDaysOf(after));
  return {
    ...(gained.length + lost.length === 0 ? {} : { skills: { gained, lost } }),
    ...(role === null
      ? {}
      : {
          role: {
            before:
              role.before === null ? null : namedEntry(role.before, names.before.role, names.after.role),
            after: role.after === null ? null : namedEntry(role.after, names.after.role, names.before.role),
          },
        }),
    ...(dailyCapacity === null ? {} : { dailyCapacity }),
    ...(workingDays === null ? {} : { workingDays }),
  };
}

function changed<T>(before: T, after: T): ValueChange<T> | null {
  return JSON.stringify(before) === JSON.stringify(after) ? null : { before, after };
}

/** A person may have an entry that only the other catalog lists, such as one that was just deleted. */
function namedEntry(id: string, names: Names, otherwise: Names): NamedEntry {
  return { id, name: names.get(id) ?? otherwise.get(id) ?? null };
}

function named(ids: readonly string[], names: Names, otherwise: Names): NamedEntry[] {
  return ids
    .map((id) => namedEntry(id, names, otherwise))
    .sort((a, b) => compareCodePoints(a.name ?? a.id, b.name ?? b.id) || compareCodePoints(a.id, b.id));
}

/** The service writes no role as null, as an empty text, or leaves it out. */
function roleOf(person: Resource | undefined): string | null {
  return person?.roleId === undefined || person.roleId === '' ? null : person.roleId;
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
