// Decides what became of operations whose answer was lost, of this run and of earlier ones: only a list can show it. Sends
// only reads.
import type { Action, DesiredCatalog, Entry, Kind } from '../core/catalog.ts';
import { ServiceError } from '../core/errors.ts';
import { nameKey, nearKey, groupBy } from '../core/names.ts';
import type { UnsettledOperation } from '../core/ports/journal.ts';
import type { Clock } from '../core/ports/clock.ts';
import type { ServiceReader } from '../core/ports/service.ts';
import { type EntryKey, entryKey } from '../core/usage.ts';
import { guardAccount, watchLists } from './lists.ts';
import type { Observation } from './observe.ts';
import type { AccountRequest, DryRunDeps, ReadingRun } from './request.ts';

/** An operation whose outcome is unknown. */
export interface Doubt {
  readonly action: Action;
  readonly kind: Kind;
  readonly name: string;
  /** Of a delete. */
  readonly remoteId?: string | null;
  /** When its answer arrived or timed out, on the steady clock, so that a change of the system clock has no effect. */
  readonly sinceMs: number;
  /** Of a create: whether an id existed before it was sent, or belongs to another create. */
  readonly isKnown?: (key: EntryKey) => boolean;
}

/**
 * What the lists show of a doubtful operation. Of a create that has not happened, `entry` is what may be its result
 * nevertheless: an older entry of exactly its name, or a new entry that no create explains. Without one, it may be sent again.
 */
export interface Settlement<D> {
  readonly doubt: D;
  readonly hasHappened: boolean;
  readonly entry?: Entry | undefined;
}

type Lists = ReadonlyMap<Kind, readonly Entry[]>;

export interface SettleOptions {
  readonly request: Pick<AccountRequest, 'api' | 'settings' | 'signals'>;
  readonly clock: Clock;
  /** Reads the lists of these kinds; those that could not be read are absent. Throws when nothing more may be read. */
  readonly read: (kinds: readonly Kind[]) => Promise<Lists>;
  /** Whether nothing more is read or settled. */
  readonly isStopped: () => boolean;
  /** Whether a list shows everything that it should. What another list lacks may exist nevertheless. */
  readonly isComplete?: (kind: Kind, list: readonly Entry[]) => boolean;
  readonly onWait: (wait: { readonly operations: number; readonly forMs: number }) => void;
}

/**
 * Reads the lists until they decide each doubt: that it has happened, or that `settle` has passed and a list read after that
 * does not show it. If a list that lacks the entry is not complete, another one after `recheck` decides. A doubt for which no list could be
 * read in time is not settled, and none is when the run is stopped.
 */
export async function settle<D extends Doubt>(
  doubts: readonly D[],
  { request, clock, read, isStopped, isComplete = () => true, onWait }: SettleOptions,
  onSettled: (settlement: Settlement<D>) => Promise<void> | void,
): Promise<void> {
  const { api, settings, signals } = request;
  const open = new Set(doubts);
  const taken = new Set<EntryKey>();
  /** The doubts that an incomplete list lacked, with the time from which another list decides. */
  const recheckedAtMs = new Map<D, number>();
  const dueAtMs = (doubt: D): number => recheckedAtMs.get(doubt) ?? doubt.sinceMs + api.settleMs;

  async function look(readAtMs: number): Promise<number | null> {
    if (open.size === 0 || isStopped()) return null;
    const lists = await read([...new Set([...open].map(({ kind }) => kind))]);
    if (isStopped()) return null;
    const named = new Map([...lists].map(([kind, items]) => [kind, namedList(items)]));
    const absent: { doubt: D; list: NamedList }[] = [];
    for (const doubt of open) {
      const list = named.get(doubt.kind);
      const isDue = readAtMs >= dueAtMs(doubt);
      const shown = list && shownBy(doubt, list, { isDue, taken, desired: settings.desired });
      // The list decides by what it lacks: one that is not complete is no evidence.
      const lacksEntry = (shown === undefined) === (doubt.action === 'create');
      if (!isDue && (shown === undefined || recheckedAtMs.has(doubt))) continue;
      if (lacksEntry && list !== undefined && !recheckedAtMs.has(doubt)) {
        if (!isComplete(doubt.kind, list.items)) {
          recheckedAtMs.set(doubt, clock.steadyMs() + api.recheckMs);
          continue;
        }
      }
      open.delete(doubt);
      if (shown !== undefined) {
        if (shown.entry !== undefined) taken.add(entryKey(doubt.kind, shown.entry.id));
        await onSettled({ doubt, hasHappened: true, entry: shown.entry });
      } else if (list !== undefined) absent.push({ doubt, list });
    }
    // Last, since a found entry may show that nothing more may be sent, and is the result of its own create.
    for (const { doubt, list } of absent) {
      await onSettled({ doubt, hasHappened: false, entry: candidateOf(doubt, list, { taken, open }) });
    }
    if (open.size === 0) return null;
    let lastMs = 0;
    for (const doubt of open) lastMs = Math.max(lastMs, dueAtMs(doubt));
    const forMs = Math.max(0, lastMs - clock.steadyMs());
    onWait({ operations: open.size, forMs });
    return forMs;
  }
  await watchLists({ clock, stop: signals.stop }, look);
}

/** Reads the lists of some kinds. A list that cannot be read settles nothing: a later reading may succeed. */
export async function readKinds(
  reader: ServiceReader,
  kinds: readonly Kind[],
  mayStart: () => boolean,
): Promise<Lists> {
  const lists = new Map<Kind, readonly Entry[]>();
  for (const kind of kinds) {
    try {
      lists.set(kind, (await reader.listEntries(kind, mayStart)).items);
    } catch (error) {
      if (!(error instanceof ServiceError) || error.kind === 'identity') throw error;
    }
  }
  return lists;
}

/** A list by names, since there may be thousands of doubts. */
interface NamedList {
  readonly items: readonly Entry[];
  readonly ids: ReadonlySet<string>;
  /** The entries of exactly this name. */
  named(name: string): readonly Entry[];
  /** The entries of a near name: a service may change the names that it gets. */
  near(name: string): readonly Entry[];
}

function namedList(items: readonly Entry[]): NamedList {
  return {
    items,
    ids: new Set(items.map(({ id }) => id)),
    named: lookup(items, nameKey),
    near: lookup(items, nearKey),
  };
}

function lookup(
  entries: readonly Entry[],
  keyOf: (name: string) => string,
): (name: string) => readonly Entry[] {
  let byKey: ReadonlyMap<string, readonly Entry[]> | null = null;
  return (name) => {
    byKey ??= groupBy(entries, (entry) => keyOf(entry.name));
    return byKey.get(keyOf(name)) ?? [];
  };
}

/**
 * What proves that an operation has happened, or undefined. Of a delete, that the list lacks the entry. Of a create, a new
 * entry of exactly its name; when `settle` has passed without one, an entry of a near name that the file does not ask for,
 * since a service may change names.
 */
function shownBy(
  doubt: Doubt,
  list: NamedList,
  of: { readonly isDue: boolean; readonly taken: ReadonlySet<EntryKey>; readonly desired: DesiredCatalog },
): { readonly entry?: Entry } | undefined {
  const { action, kind, name, remoteId = null } = doubt;
  if (action === 'delete') return remoteId !== null && !list.ids.has(remoteId) ? {} : undefined;
  const isFresh = isFreshFor(doubt, of.taken);
  const exact = list.named(name).find(isFresh);
  if (exact !== undefined) return { entry: exact };
  if (!of.isDue) return undefined;
  const isDesired = (key: string): boolean =>
    of.desired[kind]?.some((each) => nameKey(each.name) === key) === true;
  const near = list.near(name).find((entry) => isFresh(entry) && !isDesired(nameKey(entry.name)));
  return near && { entry: near };
}

function isFreshFor({ kind, isKnown }: Doubt, taken: ReadonlySet<EntryKey>): (entry: Entry) => boolean {
  return ({ id }) => !taken.has(entryKey(kind, id)) && isKnown?.(entryKey(kind, id)) !== true;
}

/** What may be the result of a create that no list shows: a service may change any name. */
function candidateOf(
  doubt: Doubt,
  list: NamedList,
  { taken, open }: { readonly taken: ReadonlySet<EntryKey>; readonly open: ReadonlySet<Doubt> },
): Entry | undefined {
  if (doubt.action === 'delete') return undefined;
  const [named] = list.named(doubt.name);
  if (named !== undefined) return named;
  const fresh = list.items.filter(isFreshFor(doubt, taken));
  if (fresh.length === 0) return undefined;
  // A new entry that is near the name of another doubtful create is the result of that one.
  const others = new Set([...open].flatMap(({ kind, name }) => (kind === doubt.kind ? nearKey(name) : [])));
  return fresh.find(({ name }) => !others.has(nearKey(name)));
}

interface EarlierDoubt extends Doubt {
  readonly operation: UnsettledOperation;
}

/**
 * Before planning: settles what earlier runs left open, so that no create is sent twice. Resolves with true when there was
 * something, so that the lists must be read again.
 */
export async function settleEarlierOperations(
  { reader, runId, request, deps }: ReadingRun<DryRunDeps>,
  { remoteAccountId, observed }: Pick<Observation, 'remoteAccountId' | 'observed'>,
): Promise<boolean> {
  const { settings, signals } = request;
  const { journal, clock } = deps;
  const operations = await journal.unsettledOperations(settings.name, remoteAccountId);
  if (operations.length === 0) return false;
  const known = new Map<string, ReadonlySet<EntryKey>>();
  for (const id of new Set(operations.map((operation) => operation.runId))) {
    known.set(id, await journal.knownIds(settings.name, remoteAccountId, id));
  }
  const doubts = operations.map((operation): EarlierDoubt => {
    const ageMs = Math.max(0, clock.nowMs() - operation.sinceMs);
    return {
      ...operation,
      operation,
      sinceMs: clock.steadyMs() - ageMs,
      isKnown: (key) => known.get(operation.runId)?.has(key) === true,
    };
  });
  const deleted = new Set(operations.map(({ kind, remoteId }) => entryKey(kind, remoteId ?? '')));
  const own = guardAccount(reader, () => remoteAccountId);
  const isStopped = (): boolean => signals.stop.aborted;
  await settle(
    doubts,
    {
      request,
      clock,
      read: (kinds) => readKinds(own, kinds, () => !isStopped()),
      isStopped,
      isComplete(kind, list) {
        const ids = new Set(list.map(({ id }) => id));
        return observed[kind].every(({ id }) => ids.has(id) || deleted.has(entryKey(kind, id)));
      },
      onWait: (wait) => request.progress?.({ type: 'earlier', ...wait }),
    },
    ({ doubt, hasHappened, entry }) => {
      const outcome = { hasHappened, entry: hasHappened ? (entry ?? null) : null };
      return journal.settleOperation(doubt.operation, outcome, runId, clock.nowMs());
    },
  );
  return true;
}
