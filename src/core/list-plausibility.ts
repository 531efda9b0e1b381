// Detects implausible lists by comparing them with the last good ones and with what people have.
import {
  type DesiredCatalog,
  type Entry,
  type ObservedCatalog,
  type Warning,
  KINDS,
  type Kind,
  type Resource,
} from './catalog.ts';
import { isNamedAlike, missingDesiredNames, nameKeys } from './diff.ts';
import type { History } from './history.ts';
import { type EntryKey, entriesById, entryKey, heldIds, idsInUse, unlistedHoldings } from './usage.ts';

/** The entries of the last good lists by id, without those that rolecall has deleted since. */
export interface Baseline extends Readonly<Record<Kind, ReadonlyMap<string, Entry>>> {
  readonly resources: readonly Resource[];
}

/** The code of the warnings that stop all writes because the lists are implausible. */
export const SUSPICIOUS_LIST = 'suspicious_list';

const EMPTY_FROM = 5;
/** A loss counts from this many, if it is more than a quarter. */
const QUARTER_FROM = 10;
/** If people have at least this many entries, half of them must be listed. */
const REFERRED_FROM = 4;

/** The last good lists without the entries that rolecall has deleted since, and without their assignments. */
export function baselineOf(lastGood: ObservedCatalog, deletedByUs: ReadonlySet<EntryKey>): Baseline {
  const byId = (kind: Kind): Map<string, Entry> =>
    entriesById(lastGood[kind].filter(({ id }) => !deletedByUs.has(entryKey(kind, id))));
  const withoutDeleted = (resource: Resource): Resource => ({
    ...resource,
    ...(resource.skillsIds === undefined
      ? {}
      : { skillsIds: resource.skillsIds.filter((id) => !deletedByUs.has(entryKey('skill', id))) }),
    ...(typeof resource.roleId === 'string' && deletedByUs.has(entryKey('role', resource.roleId))
      ? { roleId: null }
      : {}),
  });
  const resources = deletedByUs.size === 0 ? lastGood.resources : lastGood.resources.map(withoutDeleted);
  return { skill: byId('skill'), role: byId('role'), resources };
}

/**
 * The entries that a list lacks or shows under another name. A gateway that garbles the names of a list leaves its ids as
 * they are, and every name would be created again.
 */
function lostEntries(before: ReadonlyMap<string, Entry>, list: readonly Entry[]): Entry[] {
  const listed = entriesById(list);
  return [...before.values()].filter((entry) => {
    const now = listed.get(entry.id);
    return now === undefined || !isNamedAlike(entry, now);
  });
}

/**
 * Whether an entry of these kinds is missing or has another name, a person is missing, or an entry that was in use is free,
 * compared with the last good lists, so that the lists are read again.
 */
export function anythingMissing(
  baseline: Baseline,
  observed: ObservedCatalog,
  kinds: readonly Kind[] = KINDS,
): boolean {
  const isEntryLost = kinds.some((kind) => lostEntries(baseline[kind], observed[kind]).length > 0);
  const people = new Set(observed.resources.map((resource) => resource.id));
  if (isEntryLost || baseline.resources.some((resource) => !people.has(resource.id))) return true;
  const before = idsInUse(baseline.resources);
  const inUse = idsInUse(observed.resources);
  return KINDS.some((kind) => [...before[kind]].some((id) => !inUse[kind].has(id)));
}

/** One warning about all lists that shrank suspiciously, or null. `managed` are the kinds that the file manages. */
export function suspiciousShrink(
  baseline: Baseline,
  observed: ObservedCatalog,
  managed: readonly Kind[],
): Warning | null {
  const losses: string[] = [];
  for (const kind of managed) {
    const { size } = baseline[kind];
    const lost = lostEntries(baseline[kind], observed[kind]).length;
    if (shrank(size, lost)) losses.push(`${lost} of ${size} ${kind}s`);
  }
  const peopleNow = new Map(observed.resources.map((resource) => [resource.id, resource]));
  const goneResources = baseline.resources.filter((resource) => !peopleNow.has(resource.id)).length;
  if (shrank(baseline.resources.length, goneResources)) {
    losses.push(`${goneResources} of ${baseline.resources.length} resources`);
  }
  let before = 0;
  let gone = 0;
  for (const resource of baseline.resources) {
    const now = peopleNow.get(resource.id);
    for (const kind of managed) {
      const ids = new Set(heldIds(kind, resource));
      const kept = new Set(now === undefined ? [] : heldIds(kind, now));
      before += ids.size;
      for (const id of ids) if (!kept.has(id)) gone += 1;
    }
  }
  if (overQuarter(before, gone)) losses.push(`${gone} of ${before} assignments of people`);
  if (losses.length === 0) return null;
  return {
    code: SUSPICIOUS_LIST,
    message: `the lists of the service lost more than a quarter since the last good run: ${losses.join(', ')} are missing or renamed, twice in a row. Nothing is written. Check that the token is that of this account, then look at the account; if the lists are right, run \`apply --accept suspicious_list\``,
  };
}

/**
 * Warns of a list that shows none of the entries that people have, or fewer than half of at least 4. `deleted` are
 * entries that rolecall deleted: a stale list of people may still refer to them. Null when the managed lists are plausible.
 */
export function suspiciousList(
  observed: ObservedCatalog,
  managed: readonly Kind[],
  deleted: ReadonlySet<EntryKey>,
): Warning | null {
  const held = idsInUse(observed.resources);
  const lacking = managed.flatMap((kind) => {
    const listed = new Set(observed[kind].map(({ id }) => id));
    const referred = [...held[kind]].filter((id) => !deleted.has(entryKey(kind, id)));
    const shown = referred.filter((id) => listed.has(id)).length;
    const isWrong =
      (shown === 0 && referred.length > 0) ||
      (referred.length >= REFERRED_FROM && shown * 2 < referred.length);
    return isWrong ? [`${shown} of the ${referred.length} ${kind}s that people have`] : [];
  });
  if (lacking.length === 0) return null;
  return {
    code: SUSPICIOUS_LIST,
    message: `the service lists only ${lacking.join(' and ')}, so its lists are incomplete, and creating what is missing would make duplicates. Nothing is written. Check the account and plan again; if the lists are right, run \`apply --accept suspicious_list\``,
  };
}

function shrank(before: number, gone: number): boolean {
  return (before >= EMPTY_FROM && gone === before) || overQuarter(before, gone);
}

function overQuarter(before: number, gone: number): boolean {
  return gone >= QUARTER_FROM && gone * 4 > before;
}

/**
 * Merges two readings of the same lists: only what is missing from both is missing, and only what is free in both is free.
 * A person, a field or an assignment that the second reading left out is taken from the first. An entry with two names has
 * both, the one that `known` has for it first, so that neither is created.
 */
export function mergeReadings(
  first: ObservedCatalog,
  second: ObservedCatalog,
  known: Baseline | null,
): ObservedCatalog {
  return {
    skill: unite(first.skill, second.skill.map(namedAsIn(first.skill, known?.skill))),
    role: unite(first.role, second.role.map(namedAsIn(first.role, known?.role))),
    resources: unite(first.resources, second.resources.map(holdingsFrom(first.resources))),
    warnings: second.warnings,
  };
}

/** Gives an entry of the second reading its name in the first one, too. */
function namedAsIn(
  first: readonly Entry[],
  known: ReadonlyMap<string, Entry> | undefined,
): (entry: Entry) => Entry {
  const earlier = entriesById(first);
  return (entry) => {
    const other = earlier.get(entry.id) ?? entry;
    if (isNamedAlike(other, entry)) return entry;
    const before = known?.get(entry.id);
    const kept = before !== undefined && isNamedAlike(before, other) ? other : entry;
    return { ...kept, otherNames: [...nameKeys(entry), ...nameKeys(other)] };
  };
}

/** Restores the skills, and the role, that only the second reading left out. */
function holdingsFrom(first: readonly Resource[]): (resource: Resource) => Resource {
  const earlier = new Map(first.map((resource) => [resource.id, resource]));
  return (resource) => {
    const before = earlier.get(resource.id);
    const skillsIds = unitedIds(before?.skillsIds, resource.skillsIds);
    const roleId = resource.roleId ?? before?.roleId;
    return {
      ...resource,
      ...(skillsIds === undefined ? {} : { skillsIds }),
      ...(roleId === undefined ? {} : { roleId }),
    };
  };
}

function unitedIds(
  first: readonly string[] | undefined,
  second: readonly string[] | undefined,
): readonly string[] | undefined {
  if (first === undefined || second === undefined) return second ?? first;
  return [...new Set([...second, ...first])];
}

function unite<T extends { readonly id: string }>(first: readonly T[], second: readonly T[]): T[] {
  const ids = new Set(second.map((item) => item.id));
  return [...second, ...first.filter((item) => !ids.has(item.id))];
}

/**
 * Warns when creating the missing names would make duplicates, because the lists that lack them are incomplete. Null when
 * nothing proves that.
 */
export function implausibleCreates(
  desired: DesiredCatalog,
  observed: ObservedCatalog,
  history: History,
): Warning | null {
  const missing = missingDesiredNames(desired, observed, history);
  if (missing.length === 0) return null;
  return heldByPeople(missing, observed, history) ?? unshownCreate(missing, observed, history);
}

interface MissingName {
  readonly kind: Kind;
  /** As a name key. */
  readonly name: string;
}

/**
 * An entry that people still have, and that a list with missing names does not show. Who deletes an entry takes it off
 * everybody, so the entry exists, and its list is incomplete: it may lack the missing names too. With history, the journal
 * must know the entry, since a reference to an unknown id may be older than rolecall.
 */
function heldByPeople(
  missing: readonly MissingName[],
  observed: ObservedCatalog,
  { knownNames, hasSnapshot }: History,
): Warning | null {
  const kinds = new Set(missing.map(({ kind }) => kind));
  for (const { kind, remoteId, resourceId } of unlistedHoldings(observed)) {
    const [name] = knownNames.get(entryKey(kind, remoteId)) ?? [];
    if ((name === undefined && hasSnapshot) || !kinds.has(kind)) continue;
    const entry = name === undefined ? remoteId : `“${name}” (${remoteId})`;
    return {
      code: SUSPICIOUS_LIST,
      message: `the service does not list the ${kind} ${entry}, although ${resourceId} still has it, so its lists are incomplete, and creating what is missing would make duplicates. Nothing is written. Check the account and plan again; if the lists are right, run \`apply --accept suspicious_list\``,
      kind,
      ...(name === undefined ? {} : { name }),
    };
  }
  return null;
}

/** A kind whose list is empty, and of which no list has ever shown an entry that rolecall created. */
function unshownCreate(
  missing: readonly MissingName[],
  observed: ObservedCatalog,
  history: History,
): Warning | null {
  for (const kind of KINDS) {
    if (observed[kind].length > 0 || !missing.some((each) => each.kind === kind)) continue;
    const [unshown] = history.neverListed.filter((entry) => entry.kind === kind);
    if (unshown === undefined) continue;
    return {
      code: SUSPICIOUS_LIST,
      message: `the service lists no ${kind}s, although it confirmed the create of “${unshown.name}” (${unshown.remoteId}), which no list has shown yet; its list may be wrong, and creating more would make duplicates. Nothing is written until a list shows that entry. If the ${kind} was deleted by hand, run \`apply --accept suspicious_list\``,
      kind,
    };
  }
  return null;
}
