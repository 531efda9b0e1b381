// Settles doubtful creates: a create whose answer was lost may have happened, and only a list can show it. Sends only
// reads.
import type { DesiredCatalog, Entry, Kind } from '../core/catalog.ts';
import { ServiceError } from '../core/errors.ts';
import { nameKey, nearKey } from '../core/names.ts';
import type { Clock, ServiceReader } from '../core/ports.ts';
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

export interface SettleOptions extends Pick<ApiSettings, 'settleMs'> {
  /** An entry with another name that the file asks for cannot be the result of a create. */
  readonly desired: DesiredCatalog;
  readonly clock: Clock;
  readonly stop: AbortSignal;
  /** Called before each wait for another reading. */
  readonly onWait?: ((wait: { readonly operations: number; readonly forMs: number }) => void) | undefined;
}

/**
 * `found`: the entry that the create made. `absent`: it made none; `existing` is an older entry of exactly that name, and
 * without one the create may be sent again. `open`: the outcome is still unknown.
 */
export type Settlement<D> =
  | { readonly doubt: D; readonly type: 'found'; readonly entry: Entry }
  | { readonly doubt: D; readonly type: 'absent'; readonly existing: Entry | undefined }
  | { readonly doubt: D; readonly type: 'open' };

const FIRST_WAIT_MS = 100;
const LAST_WAIT_MS = 2000;

/**
 * Reads the lists until every doubt is found, or its `settle` has passed and a list read after that does not show it.
 * Rejects (ServiceError `identity`) when a list belongs to another account.
 */
export async function settle<D extends Doubt>(
  doubts: readonly D[],
  reader: ServiceReader,
  options: SettleOptions,
): Promise<Settlement<D>[]> {
  const { clock, stop } = options;
  const settled: Settlement<D>[] = [];
  const taken = new Set<EntryKey>();
  let open = [...doubts];
  for (const waitMs of waits()) {
    const readAtMs = clock.steadyMs();
    const lists = await readKinds(reader, open);
    const remaining: D[] = [];
    for (const doubt of open) {
      const list = lists.get(doubt.kind);
      const due = readAtMs - doubt.sinceMs >= options.settleMs;
      const entry =
        list === undefined ? undefined : entryOf(doubt, list, { due, taken, desired: options.desired });
      if (entry !== undefined) {
        taken.add(entryKey(doubt.kind, entry.id));
        settled.push({ doubt, type: 'found', entry });
      } else if (!due) remaining.push(doubt);
      else if (list === undefined) settled.push({ doubt, type: 'open' });
      else {
        const existing = list.find(({ name }) => nameKey(name) === nameKey(doubt.name));
        settled.push({ doubt, type: 'absent', existing });
      }
    }
    open = remaining;
    if (open.length === 0 || stop.aborted) break;
    const dueInMs = open.map((doubt) => doubt.sinceMs + options.settleMs - clock.steadyMs());
    options.onWait?.({ operations: open.length, forMs: Math.max(0, ...dueInMs) });
    await clock.sleep(Math.max(1, Math.min(waitMs, ...dueInMs)), stop);
  }
  return [...settled, ...open.map((doubt) => ({ doubt, type: 'open' as const }))];
}

/** Increasing waits between two readings, in milliseconds. */
export function* waits(): Generator<number, void> {
  for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(LAST_WAIT_MS, waitMs * 2)) yield waitMs;
}

/** The lists of the kinds in question; a kind whose list could not be read is absent. */
async function readKinds(
  reader: ServiceReader,
  doubts: readonly Doubt[],
): Promise<Map<Kind, readonly Entry[]>> {
  const lists = new Map<Kind, readonly Entry[]>();
  for (const kind of new Set(doubts.map((doubt) => doubt.kind))) {
    try {
      lists.set(kind, (await reader.listEntries(kind)).items);
    } catch (error) {
      if (!(error instanceof ServiceError) || error.kind === 'identity') throw error;
      // A failed reading settles nothing: a later reading may succeed, otherwise the doubt stays open.
    }
  }
  return lists;
}

/**
 * The new entry that a doubtful create made: one of exactly that name. When `settle` has passed without one, an entry of a
 * near name that the file does not ask for, since a service may change names.
 */
function entryOf(
  doubt: Doubt,
  list: readonly Entry[],
  {
    due,
    taken,
    desired,
  }: Pick<SettleOptions, 'desired'> & { readonly due: boolean; readonly taken: ReadonlySet<EntryKey> },
): Entry | undefined {
  const fresh = list.filter((entry) => {
    const key = entryKey(doubt.kind, entry.id);
    return !taken.has(key) && !doubt.isKnown(key);
  });
  const exact = fresh.find((entry) => nameKey(entry.name) === nameKey(doubt.name));
  if (exact !== undefined || !due) return exact;
  const isDesired = (key: string): boolean =>
    desired[doubt.kind]?.some(({ name }) => nameKey(name) === key) === true;
  return fresh.find(({ name }) => nearKey(name) === nearKey(doubt.name) && !isDesired(nameKey(name)));
}
