// Compares desired and observed entries of one kind: missing, kept and extra. policy.ts decides about the extra ones.
import {
  type DesiredCatalog,
  type DesiredEntry,
  type Entry,
  type Kind,
  KINDS,
  type ObservedCatalog,
} from './catalog.ts';
import type { History } from './history.ts';
import { compareCodePoints, nameKey, nearKey, groupBy } from './names.ts';
import { timestampSeconds } from './durations-and-sizes.ts';
import { entryKey, type UsageIndex } from './usage.ts';

/** An existing entry that the file does not ask for. */
export interface Extra {
  readonly entry: Entry;
  /** `absent`: the file says that the account must not have it. */
  readonly cause: 'unnamed' | 'renamed' | 'duplicate' | 'absent';
  /** The desired name: of a rename its new name, of a duplicate the name that they share. */
  readonly desiredName?: string;
  /** Of an unnamed entry: a desired name that differs only in case, white space, diacritics or compatibility forms. */
  readonly nearName?: string;
}

/** Several entries with one desired name. */
export interface DuplicateGroup {
  readonly name: string;
  readonly kept: Entry;
  readonly others: readonly Entry[];
}

export interface KindDiff {
  readonly kind: Kind;
  readonly desired: readonly DesiredEntry[];
  /** Every listed entry that does not count as deleted, sorted by id. */
  readonly present: readonly Entry[];
  /** Desired names that no entry has, by code points. */
  readonly missing: readonly string[];
  /** How many desired names exist. */
  readonly kept: number;
  readonly extras: readonly Extra[];
  readonly duplicates: readonly DuplicateGroup[];
  /** Entries whose delete was confirmed recently, by id; they are in none of the other lists. */
  readonly stillListed: readonly Entry[];
  /** Entries that count as a desired name although the service lists another one. */
  readonly changedNames: readonly { readonly entry: Entry; readonly requested: string }[];
}

interface DiffFacts {
  readonly observed: ObservedCatalog;
  readonly usage: UsageIndex;
  readonly history: History;
  /** The names that the account must not have. */
  readonly absent?: readonly string[] | undefined;
}

/**
 * Compares one kind by name. Entries with a confirmed delete are left out, awaited ones count as existing. The order of
 * the lists has no effect.
 */
export function diffKind(
  kind: Kind,
  desired: readonly DesiredEntry[],
  { observed, usage, history, absent }: DiffFacts,
): KindDiff {
  const listed = [...observed[kind]].sort((a, b) => compareCodePoints(a.id, b.id));
  const present = listed.filter((entry) => !isGone(kind, entry, history));
  const byKey = groupBy(
    present.flatMap((entry) => namesOf(kind, entry, history)),
    ({ key }) => key,
  );
  const awaited = awaitedKeys(kind, history);

  const missing: string[] = [];
  const duplicates: DuplicateGroup[] = [];
  const changedNames: { entry: Entry; requested: string }[] = [];
  const keptIds = new Set<string>();
  for (const { name } of desired) {
    const [kept, ...others] = preferred(kind, byKey.get(nameKey(name)) ?? [], usage);
    if (kept === undefined) {
      if (!awaited.has(nameKey(name))) missing.push(name);
      continue;
    }
    const { entry, isChanged } = kept;
    keptIds.add(entry.id);
    if (isChanged) changedNames.push({ entry, requested: name });
    if (others.length > 0) duplicates.push({ name, kept: entry, others: others.map((other) => other.entry) });
  }
  const unkept = present.filter((entry) => !keptIds.has(entry.id));
  return {
    kind,
    desired,
    present,
    stillListed: listed.filter((entry) => isGone(kind, entry, history)),
    missing: missing.sort(compareCodePoints),
    kept: desired.length - missing.length,
    extras: extrasOf(unkept, desired, { duplicates, absent }),
    duplicates,
    changedNames,
  };
}

/** Whether the delete of the entry was confirmed recently, so that only a stale list shows it. */
function isGone(kind: Kind, { id }: Entry, { gone }: History): boolean {
  return gone.has(entryKey(kind, id));
}

/** The name keys of the entries that count as existing before a list shows them. */
function awaitedKeys(kind: Kind, { awaited }: History): Set<string> {
  return new Set(awaited.filter((entry) => entry.kind === kind).map(({ name }) => nameKey(name)));
}

/** A name under which an entry is found. `isChanged`: the requested one, and the service lists another name. */
interface EntryName {
  readonly key: string;
  readonly entry: Entry;
  readonly isChanged: boolean;
}

function namesOf(kind: Kind, entry: Entry, { requestedNames }: History): EntryName[] {
  const keys = nameKeys(entry);
  const names = keys.map((key) => ({ key, entry, isChanged: false }));
  const requested = requestedNames.get(entryKey(kind, entry.id));
  if (requested === undefined || keys.includes(nameKey(requested))) return names;
  return [...names, { key: nameKey(requested), entry, isChanged: true }];
}

/** Why the file does not ask for each of these entries. */
function extrasOf(
  entries: readonly Entry[],
  desired: readonly DesiredEntry[],
  { duplicates, absent = [] }: Pick<KindDiff, 'duplicates'> & Pick<DiffFacts, 'absent'>,
): Extra[] {
  // Most accounts have none, and the names of thousands of desired entries would be folded for nothing.
  if (entries.length === 0) return [];
  const duplicateOf = new Map(
    duplicates.flatMap((group) => group.others.map((entry) => [entry.id, group.name])),
  );
  const renamedTo = new Map(
    desired.flatMap((entry) => entry.formerly.map((old) => [nameKey(old), entry.name])),
  );
  const absentKeys = new Set(absent.map(nameKey));
  const nearNames = new Map(desired.map(({ name }) => [nearKey(name), name]));
  return entries.map((entry) => {
    const sharedName = duplicateOf.get(entry.id);
    if (sharedName !== undefined) return { entry, cause: 'duplicate', desiredName: sharedName };
    const newName = nameKeys(entry)
      .map((key) => renamedTo.get(key))
      .find((name) => name !== undefined);
    if (newName !== undefined) return { entry, cause: 'renamed', desiredName: newName };
    const nearName = nearNameOf(entry, nearNames);
    const cause = nameKeys(entry).some((key) => absentKeys.has(key)) ? 'absent' : 'unnamed';
    return { entry, cause, ...(nearName === undefined ? {} : { nearName }) };
  });
}

/** The desired name that a name of the entry is near to. */
function nearNameOf(
  { name, otherNames = [] }: Entry,
  nearNames: ReadonlyMap<string, string>,
): string | undefined {
  return [name, ...otherNames].map((each) => nearNames.get(nearKey(each))).find((near) => near !== undefined);
}

/**
 * The desired names that no observed or awaited entry has, as name keys, by kind and then by code points. Equal to `missing`
 * of `diffKind`, and faster, since it neither sorts nor groups the entries.
 */
export function missingDesiredNames(
  desired: DesiredCatalog,
  observed: ObservedCatalog,
  history: History,
): { kind: Kind; name: string }[] {
  return KINDS.flatMap((kind) => {
    const existing = awaitedKeys(kind, history);
    for (const entry of observed[kind]) {
      if (isGone(kind, entry, history)) continue;
      for (const { key } of namesOf(kind, entry, history)) existing.add(key);
    }
    const missing = (desired[kind] ?? []).filter(({ name }) => !existing.has(nameKey(name)));
    return missing
      .map(({ name }) => ({ kind, name: nameKey(name) }))
      .sort((a, b) => compareCodePoints(a.name, b.name));
  });
}

/**
 * Orders entries with one name: the one that most people have first, then the oldest, then the smallest id. An entry whose
 * name the service changed comes after those that have exactly the name.
 */
function preferred(kind: Kind, names: readonly EntryName[], usage: UsageIndex): readonly EntryName[] {
  if (names.length < 2) return names;
  const people = ({ id }: Entry): number => usage.get(entryKey(kind, id))?.length ?? 0;
  const age = ({ createDate }: Entry): number => timestampSeconds(createDate) ?? Number.MAX_SAFE_INTEGER;
  return [...names].sort(
    (a, b) =>
      Number(a.isChanged) - Number(b.isChanged) ||
      people(b.entry) - people(a.entry) ||
      age(a.entry) - age(b.entry) ||
      compareCodePoints(a.entry.id, b.entry.id),
  );
}

/** The name keys of an entry: one, or more where the service lists its `_id` under several names. */
export function nameKeys({ name, otherNames }: Pick<Entry, 'name' | 'otherNames'>): readonly string[] {
  return otherNames === undefined ? [nameKey(name)] : [...new Set([name, ...otherNames].map(nameKey))];
}

/** Whether two readings of one entry have the same name, or one of several names in common. */
export function isNamedAlike(a: Entry, b: Entry): boolean {
  if (a.name === b.name) return true;
  const names = nameKeys(b);
  return nameKeys(a).some((name) => names.includes(name));
}
