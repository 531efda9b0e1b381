// Who has what: the people of each entry, and references to entries that no list shows.
import { type Entry, type Kind, KINDS, type ObservedCatalog, type Resource } from './catalog.ts';
import { groupBy } from './grouping.ts';
import { compareCodePoints } from './names.ts';

/** The key of an entry across kinds, since ids are only known to be unique within one. */
export type EntryKey = `${Kind}:${string}`;

export function entryKey(kind: Kind, id: string): EntryKey {
  return `${kind}:${id}`;
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

/** An assignment that counts although the lists do not show it, and since when it has been missing. */
export interface MissingHolding extends Holding {
  readonly sinceMs: number;
}

/** The field of a person that contains the ids of their entries of a kind. */
export const HELD_FIELDS = { skill: 'skillsIds', role: 'roleId' } as const satisfies Record<
  Kind,
  keyof Resource
>;

const HELD_IDS: Readonly<Record<Kind, (resource: Resource) => Iterable<string>>> = {
  skill: ({ skillsIds }) => new Set(skillsIds),
  role: ({ roleId, otherRoleIds = [] }) => [roleId ?? '', ...otherRoleIds].filter((id) => id !== ''),
};

/** The assignments of a person, each once. */
export function holdingsOf(resource: Resource): Holding[] {
  return KINDS.flatMap((kind) =>
    [...HELD_IDS[kind](resource)].map((remoteId) => ({ resourceId: resource.id, kind, remoteId })),
  );
}

/** The assignments to entries that the lists lack: the lists may be incomplete. */
export function unlistedHoldings(observed: ObservedCatalog): Holding[] {
  const listed = keysOf(observed);
  return observed.resources
    .flatMap(holdingsOf)
    .filter(({ kind, remoteId }) => !listed.has(entryKey(kind, remoteId)));
}

/** The entries that people refer to and that the lists lack, each once. */
export function unlistedEntries(observed: ObservedCatalog): readonly EntryKey[] {
  return [...new Set(unlistedHoldings(observed).map(({ kind, remoteId }) => entryKey(kind, remoteId)))];
}

/** The sorted ids of the people of each entry. Entries that nobody has are absent. */
export type UsageIndex = ReadonlyMap<EntryKey, readonly string[]>;

export function usageOf(holdings: Iterable<Holding>): UsageIndex {
  const byEntry = groupBy(holdings, ({ kind, remoteId }) => entryKey(kind, remoteId));
  return new Map(
    [...byEntry].map(([key, ofEntry]) => {
      const people = new Set(ofEntry.map(({ resourceId }) => resourceId));
      return [key, [...people].sort(compareCodePoints)];
    }),
  );
}

/** The usage report of an account. */
export interface AccountUsage {
  readonly account: string;
  readonly entries: readonly {
    readonly kind: Kind;
    readonly name: string;
    readonly remoteId: string;
    readonly usedBy: readonly string[];
  }[];
  readonly unknownReferences: readonly Holding[];
}

/** Each entry with its people, and the assignments that refer to ids that no list shows. */
export function accountUsage(account: string, observed: ObservedCatalog): AccountUsage {
  const usage = usageOf(observed.resources.flatMap(holdingsOf));
  return {
    account,
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
