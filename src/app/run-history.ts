// What existed before a run, and what the run has created, to compare lists that are read during the run.
import { KINDS, type ObservedCatalog } from '../core/catalog.ts';
import { type AwaitedEntry, type History, isStillRequested } from '../core/history.ts';
import { type EntryKey, entryKey, namesByKey } from '../core/usage.ts';
import type { ApplyContext } from './apply-context.ts';

/**
 * The plan's history with the entries that the run created: found by their ids, or awaited while no list shows them. An
 * entry that somebody has renamed since no longer counts as the requested one.
 */
export function runHistory(
  { history, planned, operations, statuses }: ApplyContext,
  observed: ObservedCatalog,
): History {
  const names = namesByKey(observed);
  const before = namesByKey(planned);
  const requestedNames = new Map(
    [...history.requestedNames].filter(([key]) => names.get(key) === before.get(key)),
  );
  const awaited: AwaitedEntry[] = [...history.awaited];
  for (const { seq, kind, name: requested } of operations) {
    const entry = statuses.get(seq)?.entry;
    if (entry === undefined) continue;
    const key = entryKey(kind, entry.remoteId);
    const now = names.get(key);
    if (now === undefined) {
      awaited.push({ kind, name: requested, remoteId: entry.remoteId });
    } else if (isStillRequested({ requested, name: entry.name, listed: false }, now)) {
      requestedNames.set(key, requested);
    }
  }
  return { ...history, requestedNames, awaited };
}

/** Every id that existed before: listed when the run was planned, or known to the journal. */
export async function knownEntries({
  planned,
  request,
  deps,
  remoteAccountId,
}: ApplyContext): Promise<Set<EntryKey>> {
  const listed = KINDS.flatMap((kind) => planned[kind].map((entry) => entryKey(kind, entry.id)));
  const known = await deps.journal.knownIds(request.settings.name, remoteAccountId, '~');
  return new Set([...listed, ...known]);
}
