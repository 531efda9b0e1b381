// Who has what: the people of each entry, and references to entries that no list shows.
import type { Kind, ObservedCatalog, Resource } from './catalog.ts';
import { KINDS } from './catalog.ts';
import { compareCodePoints } from './names.ts';

/** The key of an entry across kinds, since ids are only known to be unique within one. */
export type EntryKey = `${Kind}:${string}`;

export function entryKey(kind: Kind, id: string): EntryKey {
  return `${kind}:${id}`;
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

/** The assignments of a person, each once. */
export function holdingsOf(resource: Resource): Holding[] {
  const holdings: Holding[] = [...new Set(resource.skillsIds ?? [])].map((remoteId) => ({
    resourceId: resource.id,
    kind: 'skill',
    remoteId,
  }));
  for (const roleId of [resource.roleId, ...(resource.otherRoleIds ?? [])]) {
    if (typeof roleId === 'string' && roleId !== '') {
      holdings.push({ resourceId: resource.id, kind: 'role', remoteId: roleId });
    }
  }
  return holdings;
}

/** The sorted ids of the people of each entry. Entries that nobody has are absent. */
export type UsageIndex = ReadonlyMap<EntryKey, readonly string[]>;

export function usageOf(holdings: Iterable<Holding>): UsageIndex {
  const people = new Map<EntryKey, Set<string>>();
  for (const holding of holdings) {
    const key = entryKey(holding.kind, holding.remoteId);
    const ids = people.get(key);
    if (ids === undefined) people.set(key, new Set([holding.resourceId]));
    else ids.add(holding.resourceId);
  }
  return new Map([...people].map(([key, ids]) => [key, [...ids].sort(compareCodePoints)]));
}

/** `1 person`, `3 people`. */
export function people(count: number): string {
  return count === 1 ? '1 person' : `${count} people`;
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
  const holdings = observed.resources.flatMap(holdingsOf);
  const usage = usageOf(holdings);
  const known = new Set(KINDS.flatMap((kind) => observed[kind].map((entry) => entryKey(kind, entry.id))));
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
    unknownReferences: holdings.filter((holding) => !known.has(entryKey(holding.kind, holding.remoteId))),
  };
}
