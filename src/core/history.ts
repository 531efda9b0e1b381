// Turns the journal's records of an account into the facts that a plan needs and that no list shows.
import type { Action, Kind, ObservedCatalog, ReleasedEntry } from './catalog.ts';
import { DAY_MS } from './durations-and-sizes.ts';
import type { OperationStatus } from './journal.ts';
import { compareCodePoints, nameKey, groupBy } from './names.ts';
import { type EntryKey, entryKey, namesByKey } from './usage.ts';

/** After this many creates or deletes of one name within a day, something undoes or hides them, and rolecall stops. */
const FLAPPING_TIMES = 3;

/** An operation of the last 24 hours, of any run of this account and this remote account. */
export interface RecentOperation {
  readonly runId: string;
  readonly action: Action;
  readonly kind: Kind;
  readonly name: string;
  readonly remoteId: string | null;
  readonly status: OperationStatus;
  /** 0 when nothing was sent, as for a delete of an entry that was gone already. */
  readonly attempts: number;
  readonly finishedAtMs: number;
  /** Whether a list has shown the entry since. */
  readonly listed: boolean;
}

/** A requested name and the name that the service stored for it. */
export interface ChangedName {
  readonly requested: string;
  /** As a list last showed it, or, before the first list, as the create was answered. */
  readonly name: string;
  readonly listed: boolean;
}

/**
 * Whether an entry that is named `now` is still the requested one. The first list shows the name that the service stored,
 * whatever it is; a later other one means that somebody renamed the entry.
 */
function isStillRequested({ name, listed }: ChangedName, now: string): boolean {
  return !listed || nameKey(now) === nameKey(name);
}

/** The journal's records of an account, as read from the store. */
export interface AccountHistory {
  readonly recent: readonly RecentOperation[];
  /** The entries that were known when a run sent its creates, of each run with a create whose outcome is unknown. */
  readonly knownBefore: ReadonlyMap<string, ReadonlySet<EntryKey>>;
  /** Entries that rolecall created or adopted. */
  readonly owned: ReadonlySet<EntryKey>;
  /** The entries whose name the service changed. */
  readonly changedNames: ReadonlyMap<EntryKey, ChangedName>;
  /** When a list last showed somebody with the entry, in epoch milliseconds; absent if none ever did. */
  readonly lastUsedMs: ReadonlyMap<EntryKey, number>;
  /** Entries that rolecall created and that no list has ever shown. */
  readonly neverListed: readonly AwaitedEntry[];
  /** The names of every entry that rolecall has not deleted: as last listed, and as requested. */
  readonly knownNames: ReadonlyMap<EntryKey, readonly string[]>;
  /** The entries that lines of `allowedDeletes` released; the same line releases no other entry. */
  readonly released: readonly ReleasedEntry[];
  /** `kind:name key` of names whose last create the service refused: it may require unique names. */
  readonly refusedCreates: ReadonlySet<string>;
}

/** What the journal has of an account that never ran. */
export const NO_RECORDS: AccountHistory = {
  recent: [],
  knownBefore: new Map(),
  owned: new Set(),
  changedNames: new Map(),
  lastUsedMs: new Map(),
  neverListed: [],
  released: [],
  refusedCreates: new Set(),
  knownNames: new Map(),
};

/** A create of the last 24 hours whose outcome is unknown, and after which no other create of its name was sent. */
export interface DoubtfulCreate {
  /** The entries that it cannot have made: known before it was sent, or made by another create. */
  readonly known: ReadonlySet<EntryKey>;
  /** When it is a day old, in epoch milliseconds. */
  readonly untilMs: number;
}

/** A confirmed create that no list has shown yet. */
export interface AwaitedEntry {
  readonly kind: Kind;
  readonly remoteId: string;
  readonly name: string;
}

/** What the records are judged with. */
interface JudgedWith {
  /** Whether the store contains good lists of this account that are older than this plan. */
  readonly hasSnapshot: boolean;
  /** Entries that the last good lists showed with people who, or whose fields, are missing now. */
  readonly missingUse: ReadonlySet<EntryKey>;
  /** The lines of `allowedDeletes` that released a run, with its id. */
  readonly releasedRuns: ReadonlyMap<string, string>;
}

/** The facts that a plan needs from the journal, at one moment and for one observation. */
export interface History extends JudgedWith, Omit<AccountHistory, 'recent' | 'knownBefore' | 'changedNames'> {
  /** Entries that rolecall created or adopted, and that still have the name that the journal knows. */
  readonly owned: ReadonlySet<EntryKey>;
  /** The requested name of entries whose name the service changed, and of entries that replace them under new ids. */
  readonly requestedNames: ReadonlyMap<EntryKey, string>;
  /** When the deletes of the last 24 hours were sent, latest first, in epoch milliseconds. */
  readonly recentDeletesMs: readonly number[];
  /** `kind:name key` of names whose create was sent three times, done or unknown, with the end of the hold. */
  readonly flappingCreates: ReadonlyMap<string, number>;
  /** `kind:name key` of names that rolecall deleted three times, with the end of the hold. */
  readonly flappingDeletes: ReadonlyMap<string, number>;
  /** By `kind:name key`. */
  readonly doubtfulCreates: ReadonlyMap<string, DoubtfulCreate>;
  readonly awaited: readonly AwaitedEntry[];
  /** Entries whose delete was confirmed recently and that a stale list may still show. */
  readonly gone: ReadonlySet<EntryKey>;
}

/** The statuses with which a service refuses a name that it has already: which one is not documented. */
export const NAME_REFUSALS: readonly number[] = [400, 409, 422];

/** The name key of a kind, for sets that span both kinds. */
export function kindNameKey(kind: Kind, name: string): string {
  return `${kind}:${nameKey(name)}`;
}

/** How long a confirmed change counts although no list shows it. */
export const STALENESS_MS = 120_000;

/** Evaluates the records at `nowMs` against an observation. Pure; the order of operations has no effect. */
export function judgeHistory(
  records: AccountHistory,
  observed: ObservedCatalog,
  { nowMs, ...judgedWith }: JudgedWith & { readonly nowMs: number },
): History {
  const listed = namesByKey(observed);
  const deletedByUs = new Set<EntryKey>();
  const gone = new Set<EntryKey>();
  const creates: RecentOperation[] = [];
  const deletes: RecentOperation[] = [];
  const awaited: AwaitedEntry[] = [];
  const recentDeletesMs: number[] = [];

  const recent = records.recent.filter((operation) => nowMs - operation.finishedAtMs < DAY_MS);
  const lastCreatedMs = lastCreates(recent);
  for (const operation of recent) {
    if (operation.action !== 'delete' || operation.attempts === 0 || !mayHaveHappened(operation)) continue;
    recentDeletesMs.push(operation.finishedAtMs);
    if (operation.status !== 'done') continue;
    deletes.push(operation);
    if (operation.remoteId === null) continue;
    const key = entryKey(operation.kind, operation.remoteId);
    // A service may reuse an id: for a later create, or for an entry that somebody else created under another name.
    if ((lastCreatedMs.get(key) ?? -Infinity) > operation.finishedAtMs) continue;
    deletedByUs.add(key);
    const isSame = nameKey(listed.get(key) ?? operation.name) === nameKey(operation.name);
    // A time in the future is one before the clock was set back. It still counts for the limits of a day.
    const agoMs = nowMs - operation.finishedAtMs;
    if (isSame && agoMs >= 0 && agoMs < STALENESS_MS) gone.add(key);
  }
  for (const operation of recent) {
    if (operation.action !== 'create' || !mayHaveHappened(operation)) continue;
    const key = operation.remoteId === null ? null : entryKey(operation.kind, operation.remoteId);
    if (key !== null && deletedByUs.has(key)) continue;
    creates.push(operation);
    if (operation.remoteId === null || key === null || operation.status !== 'done') continue;
    if (listed.has(key) || operation.listed) continue;
    // The clock of another machine may be some seconds ahead, and a second create would make a duplicate.
    if (Math.abs(nowMs - operation.finishedAtMs) < STALENESS_MS) {
      awaited.push({ kind: operation.kind, remoteId: operation.remoteId, name: operation.name });
    }
  }
  const { recent: _recent, knownBefore, changedNames: _changed, ...same } = records;
  return {
    ...same,
    ...judgedWith,
    owned: stillOwned(records, listed),
    requestedNames: requestedNames(changedNames(records, listed), listed),
    recentDeletesMs: latestFirst(recentDeletesMs),
    flappingCreates: flapping(creates),
    flappingDeletes: flapping(deletes),
    doubtfulCreates: doubtfulCreates(creates, knownBefore),
    awaited,
    gone,
  };
}

/** When each entry was last confirmed to be created, in epoch milliseconds. */
function lastCreates(recent: readonly RecentOperation[]): Map<EntryKey, number> {
  const times = new Map<EntryKey, number>();
  for (const { action, status, kind, remoteId, finishedAtMs } of recent) {
    if (action !== 'create' || status !== 'done' || remoteId === null) continue;
    const key = entryKey(kind, remoteId);
    times.set(key, Math.max(times.get(key) ?? 0, finishedAtMs));
  }
  return times;
}

/**
 * The owned entries, without those that are listed under a name that the journal does not know. A service may reuse the id
 * of a deleted entry for one that somebody else creates. A name that the first list shows is that of the entry itself.
 */
function stillOwned(
  { owned, knownNames, neverListed }: AccountHistory,
  names: ReadonlyMap<EntryKey, string>,
): Set<EntryKey> {
  const unlisted = new Set(neverListed.map(({ kind, remoteId }) => entryKey(kind, remoteId)));
  const isSame = (key: EntryKey): boolean => {
    const now = names.get(key);
    if (now === undefined || unlisted.has(key)) return true;
    return knownNames.get(key)?.some((name) => nameKey(name) === nameKey(now)) === true;
  };
  return new Set([...owned].filter(isSame));
}

/** The changed names that the journal knows, and those of created entries that these lists are the first to show. */
function changedNames(
  { changedNames: known, neverListed }: AccountHistory,
  names: ReadonlyMap<EntryKey, string>,
): Map<EntryKey, ChangedName> {
  const first = neverListed.flatMap(({ kind, remoteId, name }): [EntryKey, ChangedName][] => {
    const key = entryKey(kind, remoteId);
    const isChanged = nameKey(names.get(key) ?? name) !== nameKey(name);
    return isChanged ? [[key, { requested: name, name, listed: false }]] : [];
  });
  return new Map([...first, ...known]);
}

/**
 * The requested names of the entries that nobody has renamed since. If the list lacks such an entry, those that it shows
 * under its stored name count as the requested one: after a restore of the service, entries have new ids.
 */
function requestedNames(
  changedNames: ReadonlyMap<EntryKey, ChangedName>,
  names: ReadonlyMap<EntryKey, string>,
): Map<EntryKey, string> {
  const inKind = (key: EntryKey, name: string): string => key.slice(0, key.indexOf(':') + 1) + nameKey(name);
  const same = [...changedNames].filter(([key, changed]) =>
    isStillRequested(changed, names.get(key) ?? changed.name),
  );
  const requestedBy = new Map(same.map(([key, { requested }]) => [key, requested]));
  const listed = new Set(
    same.flatMap(([key, { requested }]) => (names.has(key) ? inKind(key, requested) : [])),
  );
  const unlisted = [...changedNames].filter(([key, { requested }]) => !listed.has(inKind(key, requested)));
  if (unlisted.length === 0) return requestedBy;
  const byStoredName = groupBy(unlisted, ([key, { name }]) => inKind(key, name));
  const replaced = [...byStoredName].map(([stored, group]) => {
    const requested = new Set(group.map(([, changed]) => changed.requested));
    return [stored, [...requested].sort(compareCodePoints)] as const;
  });
  const requestedFor = new Map(replaced);
  for (const [key, name] of [...names].sort(([a], [b]) => compareCodePoints(a, b))) {
    const requested = requestedBy.has(key) ? undefined : requestedFor.get(inKind(key, name));
    // The service may have stored several requested names as one: each of the entries gets one of them in turn.
    const next = requested?.shift();
    if (next === undefined) continue;
    requestedBy.set(key, next);
    requested?.push(next);
  }
  return requestedBy;
}

/** The latest create of each name, if its outcome is unknown. */
function doubtfulCreates(
  creates: readonly RecentOperation[],
  knownBefore: AccountHistory['knownBefore'],
): Map<string, DoubtfulCreate> {
  const byName = groupBy(creates, ({ kind, name }) => kindNameKey(kind, name));
  return new Map(
    [...byName].flatMap(([key, ofName]) => {
      const latest = ofName.reduce((last, each) => (each.finishedAtMs > last.finishedAtMs ? each : last));
      const known = latest.status === 'done' ? undefined : knownBefore.get(latest.runId);
      return known === undefined ? [] : [[key, { known, untilMs: latest.finishedAtMs + DAY_MS }] as const];
    }),
  );
}

function mayHaveHappened(operation: RecentOperation): boolean {
  return operation.status === 'done' || operation.status === 'unknown' || operation.status === 'sent';
}

/** The names of FLAPPING_TIMES operations or more, each with the time at which the third latest is a day old. */
function flapping(operations: readonly RecentOperation[]): Map<string, number> {
  const byName = groupBy(operations, ({ kind, name }) => kindNameKey(kind, name));
  return new Map(
    [...byName].flatMap(([key, ofName]) => {
      const deciding = latestFirst(ofName.map(({ finishedAtMs }) => finishedAtMs))[FLAPPING_TIMES - 1];
      return deciding === undefined ? [] : [[key, deciding + DAY_MS] as const];
    }),
  );
}

function latestFirst(times: readonly number[]): number[] {
  return [...times].sort((a, b) => b - a);
}
