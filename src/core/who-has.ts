// Who has the entries of a name.
import type { Entry, Kind, Resource } from './catalog.ts';
import { nameKey, nearKey } from './names.ts';
import { entryKey, usageOf } from './usage.ts';

type Entries = Readonly<Record<Kind, readonly Entry[]>>;

export interface NamedKind {
  readonly kind: Kind;
  readonly name: string;
}

export interface HeldEntry extends NamedKind {
  readonly remoteId: string;
  /** The ids of the people who have it, sorted. */
  readonly people: readonly string[];
}

/** The entries whose name is equal after NFC. Several may have one name. */
export function entriesNamed(name: string, entries: Entries, kinds: readonly Kind[]): (NamedKind & Entry)[] {
  const key = nameKey(name);
  return kinds.flatMap((kind) =>
    entries[kind].filter((entry) => nameKey(entry.name) === key).map((entry) => ({ ...entry, kind })),
  );
}

/** The entries with the people who have them. */
export function holdersOf(entries: readonly (NamedKind & Entry)[], people: readonly Resource[]): HeldEntry[] {
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
