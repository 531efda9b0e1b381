// Settles doubtful creates: a create whose answer was lost may have happened, and only a list can show it. Sends only
// reads.
import { groupBy } from '../core/grouping.ts';
import type { DesiredCatalog, Entry, Kind } from '../core/catalog.ts';
import { ServiceError } from '../core/errors.ts';
import { nameKey, nearKey } from '../core/names.ts';
import type { Clock } from '../core/ports/clock.ts';
import type { ServiceReader } from '../core/ports/service.ts';
import type { ApiSettings } from '../core/settings.ts';
import { type EntryKey, entryKey } from '../core/usage.ts';

/** A create whose outcome is unknown. */
export interface Doubt {
  readonly kind: Kind;
  readonly name: string;
  /** When its answer arrived or timed out, on the steady clock, so that a change of the system clock has no effect. */
  readonly sinceMs: number;
  /** Whether an id existed before the create was sent, or belongs to another create. */
  readonly isKnown: (key: EntryKey) => boolean;
}

export interface SettleOptions extends Pick<ApiSettings, 'settleMs' | 'recheckMs'> {
  /** An entry with another name that the file asks for cannot be the result of a create. */
  readonly desired: DesiredCatalog;
  readonly clock: Clock;
  readonly stop: AbortSignal;
  /** Whether nothing more is read or settled. */
  readonly isStopped: () => boolean;
  /** Ends a reading and a wait; `isStopped` then. */
  readonly halted?: Promise<void>;
  /** Whether a list shows everything that it should. What another list lacks may exist nevertheless. */
  readonly isComplete?: (kind: Kind, list: readonly Entry[]) => boolean;
  /** Waits for the answers to the creates that are in flight: an entry in the list may be theirs. */
  readonly answered?: () => Promise<unknown>;
  /** Called before each wait for another reading. */
  readonly onWait?: ((wait: { readonly operations: number; readonly forMs: number }) => void) | undefined;
}

/**
 * `found`: the entry that the create made. `absent`: no list shows one. The create may be sent again without a `candidate`:
 * an older entry of exactly that name, or a new entry that no create explains.
 */
export type Settlement<D> =
  | { readonly doubt: D; readonly type: 'found'; readonly entry: Entry }
  | { readonly doubt: D; readonly type: 'absent'; readonly candidate: Entry | undefined };

const FIRST_WAIT_MS = 100;
const LAST_WAIT_MS = 2000;

/**
 * Reads the lists until each doubt is found, or its `settle` has passed and a list read after that does not show it. If
 * that list is not complete, another one after `recheck` decides. Removes each settled doubt from `doubts`, to which others
 * may be added meanwhile. If no list could be read in time, the doubt is removed without a settlement. When `isStopped`, the
 * open ones remain. Throws a ServiceError (`identity`) when a list belongs to another account.
 */
export async function* settle<D extends Doubt>(
  doubts: Set<D>,
  reader: ServiceReader,
  options: SettleOptions,
): AsyncGenerator<Settlement<D>, void> {
  const { clock, desired, settleMs } = options;
  const taken = new Set<EntryKey>();
  /** The doubts that an incomplete list lacked, with the time from which another list decides. */
  const recheckedAtMs = new Map<D, number>();
  const dueAtMs = (doubt: D): number => recheckedAtMs.get(doubt) ?? doubt.sinceMs + settleMs;
  const unlessHalted = (work: Promise<unknown>): Promise<unknown> =>
    Promise.race([work, ...(options.halted === undefined ? [] : [options.halted])]);
  for (const waitMs of waits()) {
    const readAtMs = clock.steadyMs();
    const open = [...doubts];
    const lists = new Map<Kind, NamedList>();
    await unlessHalted(readKinds(lists, reader, open, options));
    await options.answered?.();
    if (options.isStopped()) return;
    const absent: { doubt: D; list: NamedList }[] = [];
    for (const doubt of open) {
      const list = lists.get(doubt.kind);
      const isDue = readAtMs >= dueAtMs(doubt);
      const entry = list && entryOf(doubt, list, { isDue, taken, desired });
      if (entry === undefined && !isDue) continue;
      if (entry === undefined && list?.isComplete === false && !recheckedAtMs.has(doubt)) {
        recheckedAtMs.set(doubt, clock.steadyMs() + options.recheckMs);
        continue;
      }
      doubts.delete(doubt);
      if (entry !== undefined) {
        taken.add(entryKey(doubt.kind, entry.id));
        yield { doubt, type: 'found', entry };
      } else if (list !== undefined) {
        absent.push({ doubt, list });
      }
    }
    // Last, since a found entry may show that nothing more may be sent, and is the result of its own create.
    for (const { doubt, list } of absent) {
      const candidate = list.named(doubt.name)[0] ?? unclaimedEntry(doubt, list, { taken, doubts });
      yield { doubt, type: 'absent', candidate };
    }
    if (doubts.size === 0) return;
    const dueInMs = [...doubts].map((doubt) => dueAtMs(doubt) - clock.steadyMs());
    options.onWait?.({ operations: doubts.size, forMs: largest(dueInMs) });
    // One reading serves all that are due within this wait.
    const soonMs = dueInMs.filter((ms) => ms <= waitMs);
    await unlessHalted(
      clock.sleep(soonMs.length === 0 ? waitMs : Math.max(1, largest(soonMs)), options.stop),
    );
    if (options.isStopped()) return;
  }
}

/** Zero without a positive number. There may be more numbers than a call can have arguments. */
function largest(numbers: readonly number[]): number {
  let most = 0;
  for (const number of numbers) most = Math.max(most, number);
  return most;
}

/** Increasing waits between two readings, in milliseconds. */
export function* waits(): Generator<number, void> {
  for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(LAST_WAIT_MS, waitMs * 2)) yield waitMs;
}

/** A list by names, since there may be thousands of doubts. */
interface NamedList {
  readonly items: readonly Entry[];
  readonly isComplete: boolean;
  /** The entries of exactly this name. */
  named(name: string): readonly Entry[];
  /** The entries of a near name: a service may change the names that it gets. */
  near(name: string): readonly Entry[];
}

/** Adds the lists of the kinds in question to `lists`, except for those that could not be read. */
async function readKinds(
  lists: Map<Kind, NamedList>,
  reader: ServiceReader,
  doubts: readonly Doubt[],
  { isStopped, isComplete = () => true }: SettleOptions,
): Promise<void> {
  for (const kind of new Set(doubts.map((doubt) => doubt.kind))) {
    try {
      const { items } = await reader.listEntries(kind, () => !isStopped());
      lists.set(kind, {
        items,
        named: lookup(items, nameKey),
        near: lookup(items, nearKey),
        isComplete: isComplete(kind, items),
      });
    } catch (error) {
      if (!(error instanceof ServiceError) || error.kind === 'identity') throw error;
      // A failed reading settles nothing: a later reading may succeed, otherwise the doubt stays open.
    }
  }
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

/** A new entry that no other create explains, settled or open: a service may change any name. */
function unclaimedEntry(
  { kind, isKnown }: Doubt,
  { items }: NamedList,
  of: { readonly taken: ReadonlySet<EntryKey>; readonly doubts: ReadonlySet<Doubt> },
): Entry | undefined {
  const fresh = items.filter(({ id }) => !of.taken.has(entryKey(kind, id)) && !isKnown(entryKey(kind, id)));
  if (fresh.length === 0) return undefined;
  const open = new Set([...of.doubts].flatMap((doubt) => (doubt.kind === kind ? nearKey(doubt.name) : [])));
  return fresh.find(({ name }) => !open.has(nearKey(name)));
}

/**
 * The new entry that a doubtful create made: one of exactly that name. When `settle` has passed without one, an entry of a
 * near name that the file does not ask for, since a service may change names.
 */
function entryOf(
  { kind, name, isKnown }: Doubt,
  list: NamedList,
  of: { readonly isDue: boolean; readonly taken: ReadonlySet<EntryKey>; readonly desired: DesiredCatalog },
): Entry | undefined {
  const isFresh = ({ id }: Entry): boolean =>
    !of.taken.has(entryKey(kind, id)) && !isKnown(entryKey(kind, id));
  const exact = list.named(name).find(isFresh);
  if (exact !== undefined || !of.isDue) return exact;
  const isDesired = (key: string): boolean =>
    of.desired[kind]?.some((each) => nameKey(each.name) === key) === true;
  return list.near(name).find((entry) => isFresh(entry) && !isDesired(nameKey(entry.name)));
}
