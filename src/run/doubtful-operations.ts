// Finds the results of operations whose answer was lost, of this run and of earlier ones: only a list can show them.
import { type DesiredCatalog, type Entry, type Kind, KINDS } from '../core/catalog.ts';
import { groupBy, nameKey, nearKey } from '../core/names.ts';
import { type EntryKey, entryKey, keysOf } from '../core/usage.ts';
import type { Observation } from './observe.ts';
import type { ReadingRun } from './request.ts';

/** A create whose outcome is unknown. */
export interface DoubtfulCreate {
  readonly kind: Kind;
  readonly name: string;
  /** Whether `settle` has passed since its answer was lost. */
  readonly isDue: boolean;
  /** Whether an id existed before it was sent, or belongs to another create. */
  readonly isKnown: (key: EntryKey) => boolean;
}

/**
 * The new entries that doubtful creates made: each one of exactly its name. When a create is due and has none, an entry of a
 * near name that the file does not ask for, since a service may change names. No two creates share an entry.
 */
export function findCreated<D extends DoubtfulCreate>(
  doubts: readonly D[],
  lists: Readonly<Record<Kind, readonly Entry[]>>,
  desired: DesiredCatalog,
): Map<D, Entry> {
  const created = new Map<D, Entry>();
  const taken = new Set<EntryKey>();
  // Exact names first: a near one may be the exact name of another create.
  for (const keyOf of [nameKey, nearKey]) {
    for (const kind of KINDS) {
      const open = doubts.filter((doubt) => doubt.kind === kind && !created.has(doubt));
      if (open.length === 0) continue;
      const named = groupBy(lists[kind], ({ name }) => keyOf(name));
      const wanted = new Set(keyOf === nearKey ? desired[kind]?.map(({ name }) => nameKey(name)) : []);
      for (const doubt of open) {
        if (keyOf === nearKey && !doubt.isDue) continue;
        const entry = named.get(keyOf(doubt.name))?.find(({ id, name }) => {
          const key = entryKey(kind, id);
          return !taken.has(key) && !doubt.isKnown(key) && !wanted.has(nameKey(name));
        });
        if (entry === undefined) continue;
        created.set(doubt, entry);
        taken.add(entryKey(kind, entry.id));
      }
    }
  }
  return created;
}

/**
 * Before planning: settles by lists that were read at `readAtMs` (epoch; Infinity: after `settle`) what earlier runs left
 * open. What they do not show has not happened, once `settle` has passed. Resolves with how many operations are still open,
 * and how long at most; null when there was nothing to settle.
 */
export async function settleEarlierOperations(
  { runId, request: { api, settings }, deps: { journal, clock } }: ReadingRun,
  { remoteAccountId, observed, implausible, journaled: { unsettled: earlier } }: Observation,
  readAtMs: number,
): Promise<{ readonly operations: number; readonly forMs: number } | null> {
  if (earlier.length === 0) return null;
  const known = new Map<string, ReadonlySet<EntryKey>>();
  for (const id of new Set(earlier.map((operation) => operation.runId))) {
    known.set(id, await journal.knownIds(settings.name, remoteAccountId, id));
  }
  let [open, forMs] = [0, 0];
  const doubts = earlier.map((operation) => {
    // A time in the future counts as now.
    const restMs = api.settleMs - Math.max(0, readAtMs - operation.sinceMs);
    const isKnown = (key: EntryKey): boolean => known.get(operation.runId)?.has(key) === true;
    return { ...operation, operation, restMs, isDue: restMs <= 0, isKnown };
  });
  const created = findCreated(
    doubts.filter(({ action }) => action === 'create'),
    observed,
    settings.desired,
  );
  const listed = keysOf(observed);
  for (const doubt of doubts) {
    const { operation, action, kind, remoteId, isDue, restMs } = doubt;
    const entry = created.get(doubt) ?? null;
    const isGone = action === 'delete' && remoteId !== null && !listed.has(entryKey(kind, remoteId));
    const hasHappened = entry !== null || isGone;
    if (!hasHappened && !isDue) {
      open += 1;
      forMs = Math.max(forMs, restMs);
      // What lists lack that an operator has not accepted yet proves nothing.
    } else if (entry !== null || implausible === null) {
      await journal.settleOperation(operation, { hasHappened, entry }, runId, clock.nowMs());
    }
  }
  return { operations: open, forMs };
}
