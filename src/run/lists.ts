// Reads the lists of an account: once, again where something is missing, and again and again until they show a change.
import type { Kind, ObservedCatalog, Warning } from '../core/catalog.ts';
import { ServiceError } from '../core/errors.ts';
import { type Baseline, mergeReadings, suspiciousList, suspiciousShrink } from '../core/list-plausibility.ts';
import type { Clock } from '../core/ports/clock.ts';
import type { ProgressObserver } from '../core/ports/progress.ts';
import type { Listing, ServiceReader } from '../core/ports/service.ts';
import type { EntryKey } from '../core/usage.ts';
import type { AccountRequest } from './request.ts';

/** Reads skills and roles, then resources. Reports how many of the three lists have arrived. */
export async function readLists(
  reader: ServiceReader,
  progress?: ProgressObserver,
  before: 'plan' | 'delete' = 'plan',
): Promise<ObservedCatalog> {
  let read = 0;
  async function counted<T>(listing: Promise<T>): Promise<T> {
    const list = await listing;
    read += 1;
    progress?.({ type: 'lists', before, read });
    return list;
  }
  progress?.({ type: 'lists', before, read });
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

/**
 * A reader that rejects (ServiceError `identity`) when a listed object carries another account id than the expected one.
 * While the expected id is null, nothing is compared.
 */
export function guardAccount(reader: ServiceReader, expected: () => string | null): ServiceReader {
  function checked<T extends { readonly accountId?: string }>(listing: Listing<T>): Listing<T> {
    const own = expected();
    const stranger = listing.items.find(({ accountId }) => accountId !== undefined && accountId !== own);
    if (own === null || stranger === undefined) return listing;
    throw new ServiceError(
      'identity',
      `a list that was read during the run belongs to account ${stranger.accountId ?? ''}, but this account is ${own}; nothing more was written. Check whether the token changed, then run \`rolecall plan\` again`,
    );
  }
  return {
    listEntries: async (kind) => checked(await reader.listEntries(kind)),
    listResources: async () => checked(await reader.listResources()),
    traffic: () => reader.traffic(),
  };
}

/** What lists are judged by. */
interface ListFacts {
  /** What lists with a sudden loss are compared with; null: with nothing. */
  readonly baseline: Baseline | null;
  /** The kinds whose lists must be plausible. */
  readonly managed: readonly Kind[];
  /** What rolecall deleted: a stale list of people may still refer to it. */
  readonly deleted: ReadonlySet<EntryKey>;
}

interface Judged {
  readonly observed: ObservedCatalog;
  /** Why the lists are implausible after two readings, or null. */
  readonly implausible: Warning | null;
  /** Whether both readings lost much of the baseline. */
  readonly hasShrunk: boolean;
}

/**
 * Judges lists. One list is no evidence: lists that shrank suspiciously, or that lack something, are read again after
 * `api.recheck`, and only what both readings lack is missing.
 */
export async function readTwiceIfNeeded(
  { reader, request, clock }: { reader: ServiceReader; request: ListRequest; clock: Clock },
  first: ObservedCatalog,
  { baseline, managed, deleted, lacksSomething }: ListFacts & { readonly lacksSomething: boolean },
  before: 'plan' | 'delete' = 'plan',
): Promise<Judged> {
  const shrinkOf = (lists: ObservedCatalog): Warning | null =>
    baseline === null ? null : suspiciousShrink(baseline, lists, managed);
  const suspicion = shrinkOf(first);
  if (suspicion === null && !lacksSomething) return { observed: first, implausible: null, hasShrunk: false };
  const { api, signals, progress } = request;
  progress?.({ type: 'recheck', forMs: api.recheckMs });
  await clock.sleep(api.recheckMs, signals.stop);
  const second = await readLists(reader, progress, before);
  const observed = mergeReadings(first, second, baseline);
  const shrink = suspicion === null ? null : shrinkOf(second);
  const implausible = shrink ?? suspiciousList(observed, managed, deleted);
  return { observed, implausible, hasShrunk: shrink !== null };
}

type ListRequest = Pick<AccountRequest, 'api' | 'signals' | 'progress'>;

const FIRST_WAIT_MS = 100;
const LAST_WAIT_MS = 2000;

/**
 * Calls `look` at growing intervals, until it returns null or the run is stopped. `look` receives the time on the steady
 * clock at which it was called, reads lists, and returns how long the change that it looks for may still take.
 */
export async function watchLists(
  { clock, stop }: { readonly clock: Clock; readonly stop: AbortSignal },
  look: (readAtMs: number) => Promise<number | null>,
): Promise<void> {
  for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(LAST_WAIT_MS, waitMs * 2)) {
    const leftMs = await look(clock.steadyMs());
    if (leftMs === null || stop.aborted) return;
    await clock.sleep(leftMs > 0 ? Math.min(waitMs, leftMs) : waitMs, stop);
    if (stop.aborted) return;
  }
}
