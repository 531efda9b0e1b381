// Detects implausible lists by comparing them with the last good ones and with what people have.
import {
  type DesiredCatalog,
  type ObservedCatalog,
  type Warning,
  KINDS,
  type Kind,
  type Resource,
} from './catalog.ts';
import { missingDesiredNames } from './diff.ts';
import type { History } from './history.ts';
import { DAY_MS } from './durations-and-sizes.ts';
import {
  type EntryKey,
  type Holding,
  type MissingHolding,
  entryKey,
  HELD_FIELDS,
  heldIds,
  holdingsOf,
  idsInUse,
  unlistedHoldings,
} from './usage.ts';

/** The ids of the last good lists, without the entries that rolecall has deleted since. */
export interface Baseline extends Readonly<Record<Kind, ReadonlySet<string>>> {
  readonly resources: readonly Resource[];
}

/** The codes of the warnings that stop all writes because the lists are implausible. */
export const LIST_GUARDS: ReadonlySet<string> = new Set(['suspicious_shrink', 'suspicious_list']);

const EMPTY_FROM = 5;
/** A loss counts from this many, if it is more than a quarter. */
const QUARTER_FROM = 10;
/** If people have at least this many entries, half of them must be listed. */
const REFERRED_FROM = 4;

/** The last good lists without the entries that rolecall has deleted since, and without their assignments. */
export function baselineOf(lastGood: ObservedCatalog, deletedByUs: ReadonlySet<EntryKey>): Baseline {
  const ids = (kind: Kind): Set<string> =>
    new Set(lastGood[kind].map((entry) => entry.id).filter((id) => !deletedByUs.has(entryKey(kind, id))));
  if (deletedByUs.size === 0)
    return { skill: ids('skill'), role: ids('role'), resources: lastGood.resources };
  const resources = lastGood.resources.map((resource): Resource => ({
    ...resource,
    ...(resource.skillsIds === undefined
      ? {}
      : { skillsIds: resource.skillsIds.filter((id) => !deletedByUs.has(entryKey('skill', id))) }),
    ...(typeof resource.roleId === 'string' && deletedByUs.has(entryKey('role', resource.roleId))
      ? { roleId: null }
      : {}),
  }));
  return { skill: ids('skill'), role: ids('role'), resources };
}

/**
 * Whether an entry of these kinds or a person of the last good lists is missing, or an entry that was in use is free, so
 * that the lists are read again.
 */
export function anythingMissing(
  baseline: Baseline,
  observed: ObservedCatalog,
  kinds: readonly Kind[] = KINDS,
): boolean {
  const missingEntry = kinds.some((kind) => {
    const ids = new Set(observed[kind].map((entry) => entry.id));
    return [...baseline[kind]].some((id) => !ids.has(id));
  });
  const people = new Set(observed.resources.map((resource) => resource.id));
  if (missingEntry || baseline.resources.some((resource) => !people.has(resource.id))) return true;
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
    const now = new Set(observed[kind].map((entry) => entry.id));
    const gone = [...baseline[kind]].filter((id) => !now.has(id)).length;
    if (shrank(baseline[kind].size, gone, now.size))
      losses.push(`${gone} of ${baseline[kind].size} ${kind}s`);
  }
  const peopleNow = new Map(observed.resources.map((resource) => [resource.id, resource]));
  const goneResources = baseline.resources.filter((resource) => !peopleNow.has(resource.id)).length;
  if (shrank(baseline.resources.length, goneResources, peopleNow.size)) {
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
    code: 'suspicious_shrink',
    message: `the lists of the service lost more than a quarter since the last good run: ${losses.join(', ')} are missing, twice in a row. Nothing is written. Check that the token is that of this account, then look at the account; if the lists are right, run \`apply --accept-shrink\``,
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
    code: 'suspicious_list',
    message: `the service lists only ${lacking.join(' and ')}, so its lists are incomplete, and creating what is missing would make duplicates. Nothing is written. Check the account and plan again; if the lists are right, run \`apply --accept-shrink\``,
  };
}

function shrank(before: number, gone: number, now: number): boolean {
  return (before >= EMPTY_FROM && now === 0) || overQuarter(before, gone);
}

function overQuarter(before: number, gone: number): boolean {
  return gone >= QUARTER_FROM && gone * 4 > before;
}

function holdingKey({ resourceId, kind, remoteId }: Holding): string {
  return `${resourceId}\n${entryKey(kind, remoteId)}`;
}

/**
 * Merges two readings of the same lists: only what is missing from both is missing, and only what is free in both is free.
 * A person, a field or an assignment that the second reading left out is taken from the first.
 */
export function mergeReadings(first: ObservedCatalog, second: ObservedCatalog): ObservedCatalog {
  return {
    skill: unite(first.skill, second.skill),
    role: unite(first.role, second.role),
    resources: unite(first.resources, second.resources.map(holdingsFrom(first.resources))),
    warnings: second.warnings,
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
 * The assignments of people, or of fields, that the last good lists showed and that are missing now. Each counts for
 * 24 hours from when it was first missing. Remembered ones count until they are listed again or have expired.
 */
export function missingHoldings(
  baseline: Baseline,
  observed: ObservedCatalog,
  remembered: readonly MissingHolding[],
  nowMs: number,
): MissingHolding[] {
  const now = new Map(observed.resources.map((resource) => [resource.id, resource]));
  const isUnknown = (kind: Kind, resourceId: string): boolean =>
    now.get(resourceId)?.[HELD_FIELDS[kind]] === undefined;
  const result = new Map<string, MissingHolding>();
  for (const resource of baseline.resources) {
    if (!KINDS.some((kind) => isUnknown(kind, resource.id))) continue;
    for (const holding of holdingsOf(resource))
      if (isUnknown(holding.kind, resource.id))
        result.set(holdingKey(holding), { ...holding, sinceMs: nowMs });
  }
  for (const holding of remembered)
    if (isUnknown(holding.kind, holding.resourceId)) result.set(holdingKey(holding), holding);
  return [...result.values()].filter((holding) => nowMs - holding.sinceMs < DAY_MS);
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
      code: 'suspicious_list',
      message: `the service does not list the ${kind} ${entry}, although ${resourceId} still has it, so its lists are incomplete, and creating what is missing would make duplicates. Nothing is written. Check the account and plan again; if the lists are right, run \`apply --accept-shrink\``,
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
      code: 'suspicious_list',
      message: `the service lists no ${kind}s, although it confirmed the create of “${unshown.name}” (${unshown.remoteId}), which no list has shown yet; its list may be wrong, and creating more would make duplicates. Nothing is written until a list shows that entry. If the ${kind} was deleted by hand, run \`apply --accept-shrink\``,
      kind,
    };
  }
  return null;
}
