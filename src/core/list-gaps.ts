// Finds entries that people refer to and that no list contains: the lists may be incomplete.
import type { ObservedCatalog } from './catalog.ts';
import { type EntryKey, entryKey, holdingsOf, keysOf } from './usage.ts';

/** The entries that people refer to and that the lists lack, each once. */
export function unlistedReferences(observed: ObservedCatalog): readonly EntryKey[] {
  const listed = keysOf(observed);
  const referred = observed.resources
    .flatMap(holdingsOf)
    .map(({ kind, remoteId }) => entryKey(kind, remoteId));
  return [...new Set(referred)].filter((key) => !listed.has(key));
}
