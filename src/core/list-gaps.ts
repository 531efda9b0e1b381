// Finds entries that the lists of an account may lack: people refer to them, or earlier lists contained them.
import type { ObservedCatalog } from './catalog.ts';
import type { LastGood } from './ports.ts';
import { type EntryKey, entryKey, holdingsOf, keysOf, namesByKey } from './usage.ts';

/** Entries that no list contains, without those that rolecall deleted. */
export interface ListGaps {
  /** Those that people refer to. */
  readonly referred: readonly EntryKey[];
  /** Those of the last good lists, and those that rolecall created since then: their names, or ids without a known name. */
  readonly lost: ReadonlyMap<EntryKey, string>;
}

/** The entries that these lists lack. Without earlier lists only people show what is missing. */
export function listGaps(observed: ObservedCatalog, lastGood: LastGood | null): ListGaps {
  const listed = keysOf(observed);
  const isMissing = (key: EntryKey): boolean => !listed.has(key) && lastGood?.deletedSince.has(key) !== true;
  const referred = observed.resources
    .flatMap(holdingsOf)
    .map(({ kind, remoteId }) => entryKey(kind, remoteId));
  const created = [...(lastGood?.createdSince ?? [])].map((key) => [key, key.replace(/^\w+:/, '')] as const);
  const earlier = lastGood === null ? [] : namesByKey(lastGood.observed);
  return {
    referred: [...new Set(referred)].filter(isMissing),
    lost: new Map([...created, ...earlier].filter(([key]) => isMissing(key))),
  };
}
