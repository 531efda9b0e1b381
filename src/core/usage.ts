// Who has what: the people of each entry, of the entries of a name, and references to entries that no list shows.
import { type Entry, type Kind, KINDS, type ObservedCatalog, type Resource } from './catalog.ts';
import { compareCodePoints, nameKey, nearKey } from './names.ts';

/** The key of an entry across kinds, since ids are only known to be unique within one. */
export type EntryKey = `${Kind}:${string}`;

export function entryKey(kind: Kind, id: string): EntryKey {
  return `${kind}:${id}`;
}

export function entriesById(entries: readonly Entry[]): Map<string, Entry> {
  return new Map(entries.map((entry) => [entry.id, entry]));
}

/** The keys of all entries of some lists. */
export function keysOf(lists: Readonly<Record<Kind, readonly { readonly id: string }[]>>): Set<EntryKey> {
  return new Set(KINDS.flatMap((kind) => lists[kind].map(({ id }) => entryKey(kind, id))));
}

/** The names of all entries of some lists. */
export function namesByKey(lists: Readonly<Record<Kind, readonly Entry[]>>): Map<EntryKey, string> {
  return new Map(
    KINDS.flatMap((kind) => lists[kind].map(({ id, name }) => [entryKey(kind, id), name] as const)),
  );
}

/** One assignment of an entry to a person. */
export interface Holding {
  readonly resourceId: string;
  readonly kind: Kind;
  readonly remoteId: string;
}

/** The field of a person that contains the ids of their entries of a kind. */
export const HELD_FIELDS = { skill: 'skillsIds', role: 'roleId' } as const satisfies Record<
  Kind,
  keyof Resource
>;

const HELD_IDS: Readonly<Record<Kind, (resource: Resource) => readonly string[]>> = {
  skill: ({ skillsIds = [] }) => skillsIds,
  role: ({ roleId, otherRoleIds = [] }) => [roleId ?? '', ...otherRoleIds].filter((id) => id !== ''),
};

/** The ids of the entries of a kind that a person has; a service may repeat one. */
export function heldIds(kind: Kind, resource: Resource): readonly string[] {
  return HELD_IDS[kind](resource);
}

/** The ids of the entries that at least one of these people has. */
export function idsInUse(resources: readonly Resource[]): Readonly<Record<Kind, ReadonlySet<string>>> {
  const idsOf = (kind: Kind): Set<string> => {
    const ids = new Set<string>();
    for (const resource of resources) for (const id of heldIds(kind, resource)) ids.add(id);
    return ids;
  };
  return { skill: idsOf('skill'), role: idsOf('role') };
}

/** The assignments of a person, each once. */
export function holdingsOf(resource: Resource): Holding[] {
  return KINDS.flatMap((kind) =>
    [...new Set(heldIds(kind, resource))].map((remoteId) => ({ resourceId: resource.id, kind, remoteId })),
  );
}

/** The assignments to entries that the lists lack: the lists may be incomplete. */
export function unlistedHoldings(observed: Pick<ObservedCatalog, Kind | 'resources'>): Holding[] {
  const idsOf = (kind: Kind): Set<string> => new Set(observed[kind].map(({ id }) => id));
  const listed = { skill: idsOf('skill'), role: idsOf('role') };
  const lacks = (resource: Resource): boolean =>
    KINDS.some((kind) => heldIds(kind, resource).some((id) => !listed[kind].has(id)));
  return observed.resources
    .filter(lacks)
    .flatMap(holdingsOf)
    .filter(({ kind, remoteId }) => !listed[kind].has(remoteId));
}

/** The entries that people refer to and that the lists lack, each once. */
export function unlistedEntries(observed: ObservedCatalog): readonly EntryKey[] {
  return [...new Set(unlistedHoldings(observed).map(({ kind, remoteId }) => entryKey(kind, remoteId)))];
}

/** The entries that earlier lists showed with people who, or whose fields, these people lack. */
export function missingUse(earlier: readonly Resource[], people: readonly Resource[]): Set<EntryKey> {
  const now = new Map(people.map((resource) => [resource.id, resource]));
  return new Set(
    earlier.flatMap((before) =>
      KINDS.filter((kind) => now.get(before.id)?.[HELD_FIELDS[kind]] === undefined).flatMap((kind) =>
        heldIds(kind, before).map((id) => entryKey(kind, id)),
      ),
    ),
  );
}

/** The sorted ids of the people of each entry. Entries that nobody has are absent. */
export type UsageIndex = ReadonlyMap<EntryKey, readonly string[]>;

export function usageOf(resources: readonly Resource[]): UsageIndex {
  const usage = new Map<EntryKey, string[]>();
  const sorted = resources.toSorted((a, b) => compareCodePoints(a.id, b.id));
  for (const kind of KINDS) {
    // By id first: a key for each of a million assignments would take a second.
    const people = new Map<string, string[]>();
    for (const resource of sorted) {
      for (const id of heldIds(kind, resource)) {
        const holders = people.get(id);
        if (holders === undefined) people.set(id, [resource.id]);
        else if (holders.at(-1) !== resource.id) holders.push(resource.id);
      }
    }
    for (const [id, holders] of people) usage.set(entryKey(kind, id), holders);
  }
  return usage;
}

/** Each entry with its people, and the assignments that refer to ids that no list shows. */
export function accountUsage(
  account: string,
  observed: Pick<ObservedCatalog, Kind | 'resources'>,
  takenAt: string,
) {
  const usage = usageOf(observed.resources);
  return {
    account,
    takenAt,
    entries: KINDS.flatMap((kind) =>
      observed[kind].map((entry) => ({
        kind,
        name: entry.name,
        remoteId: entry.id,
        usedBy: usage.get(entryKey(kind, entry.id)) ?? [],
      })),
    ),
    unknownReferences: unlistedHoldings(observed),
  };
}

type Entries = Readonly<Record<Kind, readonly Entry[]>>;

export interface NamedKind {
  readonly kind: Kind;
  readonly name: string;
}

/** The entries whose name is equal after NFC. Several may have one name. */
export function entriesNamed(name: string, entries: Entries, kinds: readonly Kind[]): (NamedKind & Entry)[] {
  const key = nameKey(name);
  return kinds.flatMap((kind) =>
    entries[kind].filter((entry) => nameKey(entry.name) === key).map((entry) => ({ ...entry, kind })),
  );
}

/** The entries with the people who have them. */
export function holdersOf(entries: readonly (NamedKind & Entry)[], people: readonly Resource[]) {
  const usage = usageOf(people);
  return entries.map(({ kind, name, id }) => ({
    kind,
    name,
    remoteId: id,
    people: usage.get(entryKey(kind, id)) ?? [],
  }));
}

/** Other names that differ only in case, white space, diacritics or compatibility forms, each once. */
export function nearNames(name: string, entries: Entries, kinds: readonly Kind[]): NamedKind[] {
  const [key, near] = [nameKey(name), nearKey(name)];
  return kinds.flatMap((kind) => {
    const names = new Set(entries[kind].map((entry) => entry.name));
    return [...names]
      .filter((other) => nearKey(other) === near && nameKey(other) !== key)
      .map((other) => ({ kind, name: other }));
  });
}
