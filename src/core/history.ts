// What the journal knows that a list cannot show, as facts for the plan (contract, sections 4 and 5).
import type { Kind, ObservedCatalog } from './catalog.ts';
import { KINDS } from './catalog.ts';
import type { OperationStatus } from './journal.ts';
import { nameKey, nearKey } from './names.ts';
import type { MissingHolding } from './list-plausibility.ts';
import type { EntryKey } from './usage.ts';
import { entryKey } from './usage.ts';

export const DAY_MS = 86_400_000;

/** How often within a day rolecall takes part in a fight over one name before it stops. */
const FLAPPING_TIMES = 3;

/** An operation of the last 24 hours, of any run of this account and this remote account. */
export interface RecentOperation {
  readonly action: 'create' | 'delete';
  readonly kind: Kind;
  readonly name: string;
  readonly remoteId: string | null;
  readonly status: OperationStatus;
  /** 0 when nothing was sent, as for a delete of what had gone by itself. */
  readonly attempts: number;
  readonly finishedAtMs: number;
  /** Whether a list has shown the entry since. */
  readonly listed: boolean;
}

/** What the service made of a name that rolecall asked for. */
export interface ChangedName {
  readonly requested: string;
  /** As a list last showed it, or, when none did yet, as the create was answered. */
  readonly name: string;
  readonly listed: boolean;
}

/**
 * Whether an entry that is called `now` is still what was asked for. A service may trim or re-case a name until a list
 * shows it for the first time; any other name means that somebody renamed the entry (contract, section 5).
 */
export function isStillRequested({ requested, name, listed }: ChangedName, now: string): boolean {
  return now === name || (!listed && nearKey(now) === nearKey(requested));
}

/** The journal's memory of an account, as read from the store. */
export interface Memory {
  readonly recent: readonly RecentOperation[];
  /** Entries that rolecall created or adopted. */
  readonly owned: ReadonlySet<EntryKey>;
  /** Of entries whose name the service changed. */
  readonly changedNames: ReadonlyMap<EntryKey, ChangedName>;
  /** Since when, in epoch milliseconds, each entry has been seen without people. */
  readonly unusedSinceMs: ReadonlyMap<EntryKey, number>;
  /** Entries that rolecall created and that no list has ever shown. */
  readonly neverListed: readonly AwaitedEntry[];
}

/** A confirmed create that no list has shown yet. */
export interface AwaitedEntry {
  readonly kind: Kind;
  readonly remoteId: string;
  readonly name: string;
}

/** What the plan asks of the journal, judged at one moment against one observation. */
export interface History {
  /** Whether the store holds good lists of this account that are older than this plan. */
  readonly hasSnapshot: boolean;
  readonly owned: ReadonlySet<EntryKey>;
  /** The name that was asked for, of entries that still have the name that the service made of it. */
  readonly requestedNames: ReadonlyMap<EntryKey, string>;
  readonly unusedSinceMs: ReadonlyMap<EntryKey, number>;
  /** When the deletes of the last 24 hours were sent, latest first, in epoch milliseconds. */
  readonly recentDeletesMs: readonly number[];
  /** `kind:name key` of what rolecall created and that was gone again three times, with the time that ends the hold. */
  readonly flappingCreates: ReadonlyMap<string, number>;
  /** `kind:name key` of what rolecall deleted three times, with the time that ends the hold. */
  readonly flappingDeletes: ReadonlyMap<string, number>;
  readonly awaited: readonly AwaitedEntry[];
  /** Entries whose delete was confirmed a moment ago and that a stale list may still show. */
  readonly gone: ReadonlySet<EntryKey>;
  /** Assignments of people, or fields of people, that the last good lists showed and that are missing now. */
  readonly missingHoldings: readonly MissingHolding[];
  /** Entries that rolecall created and that no list has ever shown. */
  readonly neverListed: readonly AwaitedEntry[];
}

/** The name key of a kind, for sets that span both kinds. */
export function kindNameKey(kind: Kind, name: string): string {
  return `${kind}:${nameKey(name)}`;
}

/** Judges the memory at `nowMs` against what was observed. Pure; the order of operations does not matter. */
export function judgeHistory(
  memory: Memory,
  observed: ObservedCatalog,
  options: {
    readonly nowMs: number;
    readonly stalenessMs: number;
    readonly missingHoldings: readonly MissingHolding[];
    readonly hasSnapshot: boolean;
  },
): History {
  const listed = new Map(
    KINDS.flatMap((kind) => observed[kind].map((entry) => [entryKey(kind, entry.id), entry.name] as const)),
  );
  const deletedByUs = new Set<EntryKey>();
  const gone = new Set<EntryKey>();
  const lostCreates = new Map<string, number[]>();
  const deletes = new Map<string, number[]>();
  const awaited: AwaitedEntry[] = [];
  const recentDeletesMs: number[] = [];

  const recent = memory.recent.filter((operation) => options.nowMs - operation.finishedAtMs < DAY_MS);
  const lastCreatedMs = lastCreates(recent);
  for (const operation of recent) {
    if (operation.action !== 'delete' || operation.attempts === 0 || !mayHaveHappened(operation)) continue;
    recentDeletesMs.push(operation.finishedAtMs);
    if (operation.status !== 'done') continue;
    addTime(deletes, operation);
    if (operation.remoteId === null) continue;
    const key = entryKey(operation.kind, operation.remoteId);
    // A service may give an id anew: to a later create, or to what somebody else made under another name.
    if ((lastCreatedMs.get(key) ?? -Infinity) > operation.finishedAtMs) continue;
    deletedByUs.add(key);
    const isSame = nameKey(listed.get(key) ?? operation.name) === nameKey(operation.name);
    if (isSame && options.nowMs - operation.finishedAtMs < options.stalenessMs) gone.add(key);
  }
  for (const operation of recent) {
    if (operation.action !== 'create' || operation.status !== 'done' || operation.remoteId === null) continue;
    const key = entryKey(operation.kind, operation.remoteId);
    if (listed.has(key) || deletedByUs.has(key)) continue;
    if (!operation.listed && options.nowMs - operation.finishedAtMs < options.stalenessMs) {
      awaited.push({ kind: operation.kind, remoteId: operation.remoteId, name: operation.name });
      continue;
    }
    addTime(lostCreates, operation);
  }
  return {
    hasSnapshot: options.hasSnapshot,
    owned: memory.owned,
    requestedNames: requestedNames(memory.changedNames, observed),
    unusedSinceMs: memory.unusedSinceMs,
    recentDeletesMs: latestFirst(recentDeletesMs),
    flappingCreates: flapping(lostCreates),
    flappingDeletes: flapping(deletes),
    awaited,
    gone,
    missingHoldings: options.missingHoldings,
    neverListed: memory.neverListed,
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

/** The names that were asked for, of those entries that nobody has renamed since. */
function requestedNames(
  changedNames: ReadonlyMap<EntryKey, ChangedName>,
  observed: ObservedCatalog,
): Map<EntryKey, string> {
  const names = new Map(
    KINDS.flatMap((kind) => observed[kind].map(({ id, name }) => [entryKey(kind, id), name] as const)),
  );
  return new Map(
    [...changedNames]
      .filter(([key, changed]) => isStillRequested(changed, names.get(key) ?? changed.name))
      .map(([key, { requested }]) => [key, requested]),
  );
}

function mayHaveHappened(operation: RecentOperation): boolean {
  return operation.status === 'done' || operation.status === 'unknown' || operation.status === 'sent';
}

function addTime(
  times: Map<string, number[]>,
  { kind, name, finishedAtMs }: Pick<RecentOperation, 'kind' | 'name' | 'finishedAtMs'>,
): void {
  const key = kindNameKey(kind, name);
  const earlier = times.get(key);
  if (earlier === undefined) times.set(key, [finishedAtMs]);
  else earlier.push(finishedAtMs);
}

/** What happened often enough, with the time at which the last but two of them is a day old. */
function flapping(times: ReadonlyMap<string, readonly number[]>): Map<string, number> {
  return new Map(
    [...times].flatMap(([key, each]) => {
      const deciding = latestFirst(each)[FLAPPING_TIMES - 1];
      return deciding === undefined ? [] : [[key, deciding + DAY_MS] as const];
    }),
  );
}

function latestFirst(times: readonly number[]): number[] {
  return [...times].sort((a, b) => b - a);
}
