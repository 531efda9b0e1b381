// The first steps of a run: read the lists, check their account id, read them again where something is missing.
import { type DesiredEntry, type Kind, KINDS, type ObservedCatalog, type Warning } from '../core/catalog.ts';
import { nameKeys } from '../core/diff.ts';
import { checkIdentity, copiedToken, listedAccountId } from '../core/identity.ts';
import { nameKey } from '../core/names.ts';
import type { LastGood } from '../core/ports/journal.ts';
import type { ServiceReader } from '../core/ports/service.ts';
import type { ProgressObserver } from '../core/ports/progress.ts';
import {
  anythingMissing,
  type Baseline,
  baselineOf,
  mergeReadings,
  missingHoldings,
  suspiciousList,
  suspiciousShrink,
} from '../core/list-plausibility.ts';
import { lostAssignments, type UnknownHolders, unknownHolders } from '../core/unknown-holders.ts';
import { type EntryKey, keysOf, type MissingHolding, unlistedHoldings } from '../core/usage.ts';
import { refuseForeignEntries } from './account-guard.ts';
import type { AccountRequest, PlanningDeps, ReadingRun } from './request.ts';

/** What a run has read of the account before it plans. */
export interface Observation {
  readonly observed: ObservedCatalog;
  readonly remoteAccountId: string | null;
  /** The name of this account before its file was renamed, in the first run after the rename; else null. */
  readonly formerName: string | null;
  /** Whether a listed object carried an account id, so that the account is confirmed before the first write. */
  readonly identified: boolean;
  readonly missing: readonly MissingHolding[];
  /** Why the lists are implausible after two readings, or null. Nothing is written until an operator accepts them. */
  readonly implausible: Warning | null;
  /** The kinds of which nobody can tell who has what. */
  readonly unknownHolders: ReadonlyMap<Kind, UnknownHolders>;
  /** Whether these lists may become the last good ones; not when all assignments of a kind vanished. */
  readonly isGood: boolean;
  /** Whether the store contains earlier good lists of this account. */
  readonly hasSnapshot: boolean;
  readonly takenAtMs: number;
}

/** Reads skills and roles, then resources. `onRead` receives how many of the three lists have arrived. */
export async function readLists(
  reader: ServiceReader,
  onRead?: (read: number) => void,
): Promise<ObservedCatalog> {
  let read = 0;
  async function counted<T>(listing: Promise<T>): Promise<T> {
    const list = await listing;
    read += 1;
    onRead?.(read);
    return list;
  }
  onRead?.(read);
  const [skill, role] = await Promise.all([
    counted(reader.listEntries('skill')),
    counted(reader.listEntries('role')),
  ]);
  const resources = await counted(reader.listResources());
  return {
    skill: skill.items,
    role: role.items,
    resources: resources.items,
    warnings: [...skill.warnings, ...role.warnings, ...resources.warnings],
  };
}

/** Reports how many lists have arrived, to the observer if there is one. */
export function listsObserver(
  progress: ProgressObserver | undefined,
  before: 'plan' | 'delete',
): (read: number) => void {
  return (read) => progress?.({ type: 'lists', before, read });
}

/**
 * Reads and checks the lists. Without good lists, a run that `writes` reads them twice before it creates anything. Throws ServiceError
 * when a list does not parse or belongs to another account.
 */
export async function observe(
  run: ReadingRun<PlanningDeps>,
  { writes }: { readonly writes: boolean },
): Promise<Observation> {
  const { reader, runId, request, deps } = run;
  const { settings } = request;
  const checkAccountId = await accountIdCheck(request, deps);
  const onRead = listsObserver(request.progress, 'plan');
  const first = await readLists(reader, onRead);
  await deps.clock.pause();
  const remoteAccountId = checkAccountId(first);
  const claim = {
    runId,
    account: settings.name,
    baseUrl: settings.baseUrl,
    remoteAccountId,
    configured: request.configured,
  };
  const formerName = await deps.journal.adoptRenamedAccount(claim);
  const other = await deps.journal.claimRemoteAccount(claim);
  if (other !== null) throw copiedToken(remoteAccountId ?? '', other);
  await refuseForeignEntries(deps.journal, request, { observed: first, remoteAccountId });

  const lastGood = await deps.journal.lastGood(settings.name, remoteAccountId, first);
  await deps.clock.pause();
  const baseline = lastGood === null ? null : baselineOf(lastGood.observed, lastGood.deletedSince);
  const again = {
    reader,
    managed: KINDS.filter((kind) => settings.desired[kind] !== undefined),
    desired: writes ? settings.desired : {},
    onRead,
    wait() {
      request.progress?.({ type: 'recheck', forMs: request.api.recheckMs });
      return deps.clock.sleep(request.api.recheckMs, request.signals.stop);
    },
  };
  const { observed, implausible } = await readTwiceIfNeeded(again, first, lastGood, baseline);
  checkAccountId(observed);
  await deps.clock.pause();
  const takenAtMs = deps.clock.nowMs();
  return {
    observed,
    remoteAccountId,
    formerName,
    identified: listedAccountId(observed) !== null,
    missing: baseline === null ? [] : missingHoldings(baseline, observed, lastGood?.missing ?? [], takenAtMs),
    implausible,
    unknownHolders: unknownHolders(observed.resources, baseline?.resources),
    isGood:
      implausible === null && !lostAssignments(observed.resources, baseline?.resources ?? [], again.managed),
    hasSnapshot: lastGood !== null,
    takenAtMs,
  };
}

/** Returns the account id check of this account, for any reading of its lists. */
async function accountIdCheck(
  { settings }: AccountRequest,
  { journal }: PlanningDeps,
): Promise<(observed: ObservedCatalog) => string | null> {
  const { remoteAccountId } = await journal.accountState(settings.name);
  const facts = { account: settings.name, pinned: settings.accountId, remembered: remoteAccountId };
  return (observed) => checkIdentity(listedAccountId(observed), facts);
}

/** How lists are read a second time. */
export interface SecondReading {
  readonly reader: ServiceReader;
  /** The kinds whose lists must be plausible. */
  readonly managed: readonly Kind[];
  /** Without good lists, a list that lacks one of these names is read twice: one list is no evidence. */
  readonly desired: Partial<Record<Kind, readonly DesiredEntry[]>>;
  /** Waits for `api.recheck`. */
  readonly wait: () => Promise<void>;
  readonly onRead?: ((read: number) => void) | undefined;
}

/**
 * Reads the lists again after `api.recheck` when the first reading lacks entries of the last good lists. Without good
 * lists, it reads again when the lists lack entries that people have or that are `desired`.
 */
export async function readTwiceIfNeeded(
  { reader, managed, desired, wait, onRead }: SecondReading,
  first: ObservedCatalog,
  lastGood: LastGood | null,
  baseline: Baseline | null,
): Promise<{ observed: ObservedCatalog; implausible: Warning | null }> {
  const listWarning = (observed: ObservedCatalog): Warning | null =>
    suspiciousList(observed, managed, lastGood?.deletedSince ?? new Set());
  if (baseline === null || lastGood === null) {
    const lacksHeld = unlistedHoldings(first).some(({ kind }) => managed.includes(kind));
    if (!lacksHeld && !lacksDesired(first, desired)) return { observed: first, implausible: null };
    await wait();
    const observed = mergeReadings(first, await readLists(reader, onRead));
    return { observed, implausible: listWarning(observed) };
  }
  // Entries created since then are created again only when they are missing twice.
  const lacksCreated = lacksAny(first, lastGood.createdSince);
  if (lastGood.observed === first && !lacksCreated) return { observed: first, implausible: null };
  const suspicion = suspiciousShrink(baseline, first, managed);
  if (
    suspicion === null &&
    !lacksCreated &&
    !anythingMissing(baseline, first) &&
    listWarning(first) === null
  ) {
    return { observed: first, implausible: null };
  }
  await wait();
  const second = await readLists(reader, onRead);
  const observed = mergeReadings(first, second);
  const shrink = suspicion === null ? null : suspiciousShrink(baseline, second, managed);
  return { observed, implausible: shrink ?? listWarning(observed) };
}

function lacksDesired(observed: ObservedCatalog, desired: SecondReading['desired']): boolean {
  return KINDS.some((kind) => {
    const listed = new Set(observed[kind].flatMap(nameKeys));
    return desired[kind]?.some(({ name }) => !listed.has(nameKey(name))) === true;
  });
}

function lacksAny(observed: ObservedCatalog, keys: ReadonlySet<EntryKey>): boolean {
  const listed = keysOf(observed);
  return [...keys].some((key) => !listed.has(key));
}
